"""Prompts: data files with named slots, beside this module in ``prompts/``.

A world may have prompts of its own in a folder of its name; where it lacks one, that of this
folder is used. Each file has ``description`` (with the paper's section), ``slots``, and the texts
of the ``system`` and ``user`` messages, in which ``{slot}`` stands for a slot's value.

The environment variable GOOD_ROS_PROMPTS may name a folder whose files of the same names take the
place of these, such as ``config/prompts`` with what ``good optimize apply`` wrote; by default none
do.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from good_ros.core.errors import InputError
from good_ros.language.generator import Message

FOLDER = Path(__file__).parent / "prompts"
INSTEAD = "GOOD_ROS_PROMPTS"
"""The environment variable that names a folder of prompts to use instead of ours."""
SLOT = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt as read from its file."""

    name: str
    description: str
    slots: tuple[str, ...]
    system: str
    user: str

    def messages(self, **values: str) -> list[Message]:
        """The chat messages with every slot filled.

        Values are data: braces in them stay as they are. Raises InputError where a slot is
        missing or unknown.
        """
        missing = sorted(set(self.slots) - set(values))
        unknown = sorted(set(values) - set(self.slots))
        if missing or unknown:
            raise InputError(
                f"prompt {self.name}: "
                + "; ".join(
                    f"{word} slots: {', '.join(names)}"
                    for word, names in (("missing", missing), ("unknown", unknown))
                    if names
                )
            )

        def fill(text: str) -> str:
            return SLOT.sub(lambda match: values[match[1]], text).strip()

        return [
            Message(role, fill(text))
            for role, text in (("system", self.system), ("user", self.user))
            if text.strip()
        ]


@cache
def load(name: str, world: str = "", folder: Path | None = None) -> Prompt:
    """The prompt of a name, in the words of ``world`` where it has its own; of this package or of
    another ``folder``.

    Raises InputError where there is none or its file is wrong, or where a file that takes the
    place of one of ours has other slots.
    """
    # A world of a lab's own, module:Class, has no folder here.
    own = world if world.isidentifier() else ""
    prompt = _read(name, folder or FOLDER, own)
    chosen = os.environ.get(INSTEAD, "")
    if folder is None and chosen:
        instead = Path(chosen).expanduser()
        if (instead / own / f"{name}.yaml").is_file():
            other = _read(name, instead, own)
            if set(other.slots) != set(prompt.slots):
                raise InputError(
                    f"{instead / own / name}.yaml must have the slots {', '.join(prompt.slots)}"
                )
            return other
    return prompt


def _read(name: str, folder: Path, world: str = "") -> Prompt:
    path = folder / world / f"{name}.yaml"
    if not path.is_file():
        path = folder / f"{name}.yaml"
    try:
        data = yaml.safe_load(path.read_text())
    except OSError as error:
        known = ", ".join(sorted(p.stem for p in folder.glob("*.yaml")))
        raise InputError(f"there is no prompt {name!r}; there are {known}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict) or not {"description", "slots"} <= set(data):
        raise InputError(f"{path} must have description, slots, and system or user")
    prompt = Prompt(
        name,
        data["description"],
        tuple(data["slots"]),
        data.get("system") or "",
        data.get("user") or "",
    )
    used = set(SLOT.findall(prompt.system + prompt.user))
    if used != set(prompt.slots):
        raise InputError(f"{path}: its texts use {sorted(used)}, declared are {prompt.slots}")
    return prompt
