"""How a simulated human talks: terse, chatty, changing their mind, distracted, not a native
speaker. What they want is the profile's business (GOOD, IV-B1)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.core.resources import config_folder

DEFAULT_TEMPERAMENT = "even"
DISTRACTED = ("Sorry, what did you say?", "Just a moment.", "Hm?", "Wait, my phone is ringing.")
CHANGED = "Actually, I changed my mind."


@dataclass(frozen=True)
class Temperament:
    """A way of talking; the fields are described in ``config/temperaments.yaml``."""

    name: str = DEFAULT_TEMPERAMENT
    manner: str = ""
    at_once: int = 2
    distraction: float = 0.0
    changes_mind: bool = False
    articles: bool = True

    def distracted_answer(self, seed: int, turn: int) -> str:
        """What is said in place of an answer in this turn; mostly empty, for an answer."""
        draw = random.Random(f"distraction {seed} {turn}")
        return draw.choice(DISTRACTED) if draw.random() < self.distraction else ""


def temperament_names() -> list[str]:
    """The names of config/temperaments.yaml."""
    return list(_data())


def load_temperament(name: str) -> Temperament:
    """The temperament of a name. Raises InputError where there is none."""
    data = _data()
    if name not in data:
        raise InputError(f"there is no temperament {name!r}; there are {', '.join(data)}")
    fields = data[name]
    return Temperament(
        name,
        " ".join(str(fields["manner"]).split()),
        int(fields["at_once"]),
        float(fields["distraction"]),
        bool(fields["changes_mind"]),
        bool(fields["articles"]),
    )


def _data() -> dict[str, dict[str, Any]]:
    path = config_folder() / "temperaments.yaml"
    data: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data
