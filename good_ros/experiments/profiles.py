"""Profiles: whom the simulated human plays, and when that person is content (GOOD, IV-B1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.core.resources import config_folder
from good_ros.worlds.predicates import explain
from good_ros.worlds.registry import WORLDS, is_world

FIELDS = ("name", "domain", "scene", "task", "profile", "completion_phrase", "conditions")
OPTIONAL = ("world", "person")
SAME_SCENES = (frozenset({"household", "ai2thor"}), frozenset({"arm", "table"}))


@dataclass(frozen=True)
class Profile:
    """One person's wish.

    ``task`` is what the robot is told it is there for, ``profile`` what the person wants in
    their words, ``conditions`` predicates over the room that are all true once they have it.
    ``scene`` is one of ``world``.
    """

    name: str
    domain: str
    scene: str
    task: str
    profile: str
    completion_phrase: str
    conditions: tuple[Mapping[str, Any], ...]
    world: str = "household"
    person: str = ""
    """Whose taught goal and behaviours the robot knows (``config/people``); empty for nobody's."""

    def check_world(self, world: str) -> str:
        """The world to act in: ``world``, or the profile's where it is empty.

        Raises InputError where the profile's scene is of another kind of world.
        """
        if not world or world == self.world:
            return self.world
        if any({world, self.world} <= same for same in SAME_SCENES):
            return world
        raise InputError(
            f"the profile {self.name} is for the world {self.world}, not {world}: choose another "
            "profile, or no world"
        )


def profile_names() -> list[str]:
    """The profiles in ``config/profiles``."""
    return sorted(path.stem for path in (config_folder() / "profiles").glob("*.yaml"))


def load_profile(name: str) -> Profile:
    """The profile of a name in ``config/profiles``, or of a path to a YAML file.

    Raises InputError where there is none, a field is missing, unknown or not of its form, or a
    condition is no predicate.
    """
    path = Path(name).expanduser()
    if path.suffix not in (".yaml", ".yml"):
        path = config_folder() / "profiles" / f"{name}.yaml"
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"there is no profile {name!r}; there are {', '.join(profile_names())}"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, Mapping) or set(data) - set(OPTIONAL) != set(FIELDS):
        raise InputError(
            f"{path} must have the fields {', '.join(FIELDS)}, may have {', '.join(OPTIONAL)}, and "
            "no others"
        )
    for field in data:
        if field != "conditions" and not (isinstance(data[field], str) and data[field].strip()):
            raise InputError(f"{path}: {field} must be a text")
    if not isinstance(data["conditions"], list) or not data["conditions"]:
        raise InputError(f"{path}: conditions must be a list of predicates, at least one")
    if not is_world(data.get("world", WORLDS[0])):
        raise InputError(f"{path}: world must be one of {', '.join(WORLDS)}")
    for condition in data["conditions"]:
        try:
            explain(condition)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
    return Profile(**{**data, "conditions": tuple(data["conditions"])})
