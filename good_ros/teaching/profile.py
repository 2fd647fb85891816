"""A person's profile: their goal and the behaviours that they taught, in a YAML file of their own.

The file may be edited by hand; it is checked whenever it is read. Every change by the robot is a
new revision, and the older ones are kept, so that it can be undone.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.core.files import write_whole
from good_ros.core.goals import Goal, GoalOrigin
from good_ros.core.resources import config_folder
from good_ros.language.wording import control_character
from good_ros.teaching.behaviours import Argument, Behaviour, Call, Vocabulary, parse_call
from good_ros.worlds.predicates import explain

FORMAT = 1
FIELDS = {"format", "revision", "person", "goal", "behaviours", "new_objects"}
PERSON = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
MAX_GOAL_CHARS = 200
MAX_BEHAVIOURS = 50
OLDER = ".older"
TAUGHT_WEIGHT = 20.0
"""Weight of a taught goal in the belief, where each other goal has 1: strong, yet an utterance
that is e^3 times likelier under another goal outweighs it."""


@dataclass(frozen=True)
class TaughtGoal:
    """What a person wants, in their words, and the predicates over the room that are all true
    once they have it, as far as they were understood."""

    text: str
    conditions: tuple[Mapping[str, Any], ...] = ()

    def hypothesis(self, weight: float = TAUGHT_WEIGHT) -> Goal:
        """The goal as a hypothesis of the belief: a strong prior, not a certainty. It can be
        outweighed, and it is not pinned, so that it can be removed."""
        return Goal("taught", self.text, GoalOrigin.PERSON, prior=weight)


@dataclass(frozen=True)
class PersonProfile:
    """One revision of a person's profile."""

    person: str
    revision: int = 0
    goal: TaughtGoal | None = None
    behaviours: tuple[Behaviour, ...] = ()
    new_objects: tuple[str, ...] = ()
    """What the person named that the robot did not know."""

    def vocabulary(self, actions: frozenset[str] | None = None) -> Vocabulary:
        """All that this person may ask for, in a world that has these actions."""
        return Vocabulary(self.behaviours, actions)

    def with_behaviour(self, behaviour: Behaviour) -> PersonProfile:
        """With a behaviour added, or put in place of the one of its name."""
        others = tuple(b for b in self.behaviours if b.name != behaviour.name)
        if len(others) >= MAX_BEHAVIOURS:
            raise InputError(f"{self.person} has {MAX_BEHAVIOURS} behaviours: forget one first")
        return replace(self, behaviours=(*others, behaviour))


def check_person(person: str) -> str:
    """The name as a profile's file has it. Raises InputError where it can be none."""
    name = person.strip().lower()
    if not PERSON.fullmatch(name):
        raise InputError(
            f"{person!r} is no name of a person: take 1 to 40 small letters, digits, - and _"
        )
    return name


def default_people_folder() -> Path:
    """Where profiles are kept unless a parameter says otherwise: beside the sessions."""
    return Path(os.environ.get("ROS_HOME", Path.home() / ".ros")) / "good_ros" / "people"


class ProfileStore:
    """Profiles as files of a folder; ``folder`` empty for the default one.

    People who are not in it are looked for in ``config/people``, whose profiles are examples: a
    change of one is kept in the folder. Reading is cheap where nothing changed; any thread may.
    """

    def __init__(self, folder: str | Path = "") -> None:
        self.folder = Path(folder).expanduser() if folder else default_people_folder()
        self._known: dict[Path, tuple[tuple[int, int], PersonProfile]] = {}
        self._use = threading.Lock()

    def people(self) -> list[str]:
        """Everybody who has a profile."""
        return sorted({p.stem for f in (self.folder, _examples()) for p in f.glob("*.yaml")})

    def path(self, person: str) -> Path:
        return self.folder / f"{check_person(person)}.yaml"

    def load(self, person: str) -> PersonProfile:
        """The profile as it is now; an empty one (revision 0) for somebody new.

        Raises InputError where the file cannot be read or is not of its form.
        """
        name = check_person(person)
        for path in (self.path(name), _examples() / f"{name}.yaml"):
            try:
                found = path.stat()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise InputError(
                    f"the profile {path} cannot be read ({error}): set people_folder"
                ) from error
            stamp = (found.st_mtime_ns, found.st_size)
            with self._use:
                known = self._known.get(path)
                if known is None or known[0] != stamp:
                    self._known[path] = known = (stamp, _read(path, name))
            return known[1]
        return PersonProfile(name)

    def save(self, profile: PersonProfile) -> PersonProfile:
        """Keep a profile as the next revision. Raises InputError where it cannot be written."""
        path = self.path(profile.person)
        before = self.load(profile.person)
        saved = replace(profile, revision=before.revision + 1)
        try:
            older = self.folder / OLDER
            older.mkdir(parents=True, exist_ok=True)
            write_whole(older / f"{before.person}.{before.revision}.yaml", to_text(before))
            write_whole(path, to_text(saved))
        except OSError as error:
            raise InputError(
                f"the profile {path} cannot be written ({error}): set people_folder"
            ) from error
        return saved

    def undo(self, person: str) -> PersonProfile:
        """The last revision again, as a new one. Raises InputError where there is none."""
        now = self.load(person)
        path = self.folder / OLDER / f"{now.person}.{now.revision - 1}.yaml"
        if not path.exists():
            raise InputError(f"there is nothing to undo for {now.person}")
        return self.save(_read(path, now.person))


def to_text(profile: PersonProfile) -> str:
    """The profile as the YAML text of its file."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "revision": profile.revision,
        "person": profile.person,
    }
    if profile.goal:
        data["goal"] = {
            "text": profile.goal.text,
            "conditions": [dict(c) for c in profile.goal.conditions],
        }
    data["behaviours"] = [
        {
            "name": b.name,
            "arguments": {a.name: a.type for a in b.arguments},
            "steps": [str(step) for step in b.steps],
            "examples": list(b.examples),
        }
        for b in profile.behaviours
    ]
    if profile.new_objects:
        data["new_objects"] = list(profile.new_objects)
    head = f"# What {profile.person} taught the robot. It may be edited; see docs/teaching.md.\n"
    return head + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)


def from_text(text: str, person: str, where: str = "the profile") -> PersonProfile:
    """Read a profile. Raises InputError where it is not of its form or cannot be carried out."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{where} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, Mapping) or not set(data) <= FIELDS:
        raise InputError(f"{where} must have the fields {', '.join(sorted(FIELDS))} alone")
    if data.get("format") != FORMAT:
        raise InputError(f"{where} must have format: {FORMAT}")
    revision = data.get("revision", 0)
    if isinstance(revision, bool) or not isinstance(revision, int) or revision < 0:
        raise InputError(f"{where}: revision must be a number from 0")
    if data.get("person", person) != person:
        raise InputError(f"{where} is that of {data['person']!r}, not of {person!r}")
    try:
        goal = _goal(data.get("goal"))
        behaviours = tuple(_behaviour(entry) for entry in _list(data, "behaviours"))
        new_objects = tuple(_text(o) for o in _list(data, "new_objects"))
        names = [b.name for b in behaviours]
        if len(set(names)) != len(names):
            raise InputError("a behaviour is there twice")
        profile = PersonProfile(person, revision, goal, behaviours, new_objects)
        profile.vocabulary().validate()
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    return profile


def check_goal_text(text: str) -> str:
    """A goal's words with white space folded. Raises InputError where it can be none."""
    folded = " ".join(text.split()).strip(" .!")
    if found := control_character(folded):
        raise InputError(f"a goal cannot have the control character {found}")
    if not any(c.isalnum() for c in folded) or len(folded) > MAX_GOAL_CHARS:
        raise InputError(f"a goal has 1 to {MAX_GOAL_CHARS} characters, some of them letters")
    return folded


def _examples() -> Path:
    return config_folder() / "people"


def _read(path: Path, person: str) -> PersonProfile:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    return from_text(text, person, str(path))


def _goal(entry: Any) -> TaughtGoal | None:
    if entry is None:
        return None
    if not isinstance(entry, Mapping) or not set(entry) <= {"text", "conditions"}:
        raise InputError("goal must have text and conditions")
    conditions = _list(entry, "conditions")
    for condition in conditions:
        explain(condition)
    return TaughtGoal(check_goal_text(_text(entry.get("text"))), tuple(conditions))


def _behaviour(entry: Any) -> Behaviour:
    fields = {"name", "arguments", "steps", "examples"}
    if not isinstance(entry, Mapping) or not {"name", "steps"} <= set(entry) <= fields:
        raise InputError(f"a behaviour has {', '.join(sorted(fields))}; this: {entry!r}")
    arguments = entry.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise InputError(f"arguments of {entry['name']} must be names with their types")
    return Behaviour(
        _text(entry["name"]),
        tuple(Argument(_text(n), _text(t)) for n, t in arguments.items()),
        tuple(_call(step) for step in _list(entry, "steps")),
        tuple(_text(e) for e in _list(entry, "examples")),
    )


def _call(entry: Any) -> Call:
    return parse_call(_text(entry))


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name) or []
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{value!r} must be a text")
    return value
