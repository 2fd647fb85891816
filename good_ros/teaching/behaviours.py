"""Behaviours: the robot's own, and those that a person composes of known ones (ProVox)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from good_ros.core.errors import InputError

OBJECT, PLACE, ITEM = "object", "place", "item"
TYPES = (OBJECT, PLACE, ITEM)
"""``object``: what can be picked up; ``place``: what something can be put in or on; ``item``:
either, or any other thing of the room."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
CALL = re.compile(r"\s*(?P<do>[A-Za-z]\w*)\s*\(\s*(?P<args>[^()]*)\)\s*")
MAX_STEPS = 12
"""Steps that one behaviour is made of."""
MAX_PRIMITIVES = 40
"""Steps of the robot's own that it may come to in all."""
MAX_ARGUMENTS = 4


@dataclass(frozen=True)
class Argument:
    """What a behaviour is told; ``type`` is one of TYPES."""

    name: str
    type: str


@dataclass(frozen=True)
class Call:
    """A behaviour with what it is told: names of the room's things, or, within a behaviour,
    names of its own arguments."""

    do: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.do}({', '.join(self.args)})"

    @property
    def words(self) -> str:
        """As people read it: pack Carrots."""
        return " ".join((self.do.replace("_", " "), *self.args))


@dataclass(frozen=True)
class Behaviour:
    """Something that the robot can be told to do.

    ``examples`` are phrases for it with its arguments in braces: ``pop {thing} in``. One of the
    robot's own has a world's ``action`` and no ``steps``; a taught one is made of ``steps``.
    """

    name: str
    arguments: tuple[Argument, ...] = ()
    steps: tuple[Call, ...] = ()
    examples: tuple[str, ...] = ()
    action: str = ""

    @property
    def is_taught(self) -> bool:
        return not self.action

    @property
    def signature(self) -> str:
        """As people read it: pack(thing: object)."""
        return f"{self.name}({', '.join(f'{a.name}: {a.type}' for a in self.arguments)})"


def _own(action: str, name: str, types: Mapping[str, str], *examples: str) -> Behaviour:
    return Behaviour(
        name, tuple(Argument(*a) for a in types.items()), examples=examples, action=action
    )


PRIMITIVES = (
    _own(
        "GoTo",
        "goto",
        {"item": ITEM},
        *("go to {item}", "move to {item}", "go over to {item}", "go above {item}"),
    ),
    _own("Grasp", "grasp", {}, "grasp", "grasp it", "close the gripper", "close your hand"),
    _own(
        "Release",
        "release",
        {},
        *("release", "release it", "let go", "let it go", "drop it", "open the gripper"),
        "open your hand",
    ),
    _own(
        "PickupObject",
        "pickup",
        {"object": OBJECT},
        *("pick up {object}", "pick {object} up", "grab {object}", "take {object}"),
        *("get {object}", "lift {object}", "grasp {object}"),
    ),
    _own(
        "PutObject",
        "put",
        {"object": OBJECT, "place": PLACE},
        *("put {object} in {place}", "place {object} in {place}", "throw {object} in {place}"),
        *("drop {object} in {place}", "toss {object} in {place}", "move {object} in {place}"),
    ),
    _own("GoHome", "go_home", {}, "go home", "go away", "go back home", "move away"),
    _own("OpenObject", "open", {"item": ITEM}, "open {item}"),
    _own("CloseObject", "close", {"item": ITEM}, "close {item}", "shut {item}"),
    _own("ToggleObjectOn", "switch_on", {"item": ITEM}, "switch on {item}", "turn on {item}"),
    _own("ToggleObjectOff", "switch_off", {"item": ITEM}, "switch off {item}", "turn off {item}"),
)
"""The robot's own behaviours with the phrases that everybody may say for them (ProVox's base
API, and what a household adds to it)."""


def parse_call(text: str) -> Call:
    """``pickup(thing)`` as a call. Raises InputError where it is none."""
    match = CALL.fullmatch(text)
    if match is None:
        raise InputError(f"a step has the form name(argument, …); this is {text!r}")
    args = [arg.strip() for arg in match["args"].split(",")] if match["args"].strip() else []
    if not all(args):
        raise InputError(f"the step {text!r} has an empty argument")
    return Call(match["do"], tuple(args))


class Vocabulary:
    """The behaviours that one person may ask for: the robot's own and those that they taught.

    A taught one of the same name stands in front of the robot's own. ``actions`` are those that
    the world has; None for all. Nothing of it is shared between people.
    """

    def __init__(self, taught: Iterable[Behaviour] = (), actions: Iterable[str] | None = None):
        having = None if actions is None else set(actions)
        own = [b for b in PRIMITIVES if having is None or b.action in having]
        self._known = {b.name: b for b in (*own, *taught)}

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def __getitem__(self, name: str) -> Behaviour:
        return self._known[name]

    @property
    def behaviours(self) -> list[Behaviour]:
        """Taught ones first."""
        return sorted(self._known.values(), key=lambda b: not b.is_taught)

    @property
    def names(self) -> list[str]:
        return list(self._known)

    def validate(self, objects: Mapping[str, str] | None = None) -> None:
        """Whether every taught behaviour can be carried out.

        ``objects`` gives the type (``object``, ``place`` or ``item``) of each thing of the room
        by name; None where no room is known, in which case such names pass. Raises InputError
        with the reason: an unknown part, a loop, a wrong number or type of arguments.
        """
        for behaviour in self._known.values():
            if behaviour.is_taught:
                self._check_form(behaviour)
                for step in behaviour.steps:
                    self._check_step(behaviour, step, objects)
        # Loops last: what is called is there by now.
        for behaviour in self._known.values():
            if behaviour.is_taught:
                self._check_size(behaviour)

    def _check_form(self, behaviour: Behaviour) -> None:
        name = behaviour.name
        if not NAME.fullmatch(name):
            raise InputError(f"{name!r} is no name: take small letters, digits and _")
        if not 1 <= len(behaviour.steps) <= MAX_STEPS:
            raise InputError(f"{name} must be made of 1 to {MAX_STEPS} steps")
        names = [argument.name for argument in behaviour.arguments]
        if len(names) > MAX_ARGUMENTS or len(set(names)) != len(names):
            raise InputError(
                f"{name} takes {', '.join(names)}: take {MAX_ARGUMENTS} at most, each once"
            )
        for argument in behaviour.arguments:
            if not NAME.fullmatch(argument.name):
                raise InputError(f"{name}: {argument.name!r} is no name for an argument")
            if argument.type not in TYPES:
                raise InputError(
                    f"{name}: {argument.name} is of the type {argument.type!r}; there are "
                    + ", ".join(TYPES)
                )
        used = {arg for step in behaviour.steps for arg in step.args}
        if unused := [n for n in names if n not in used]:
            raise InputError(f"{name} is told {', '.join(unused)} and does nothing with it")
        for example in behaviour.examples:
            slots = re.findall(r"\{(\w*)\}", example)
            if sorted(slots) != sorted(names) or not re.search(r"[a-z]", _outside(example)):
                raise InputError(
                    f"{name}: the example {example!r} must have words and, in braces, each of "
                    f"its arguments once ({', '.join(names) or 'it has none'})"
                )

    def _check_step(
        self, behaviour: Behaviour, step: Call, objects: Mapping[str, str] | None
    ) -> None:
        if step.do not in self._known:
            raise InputError(
                f"{behaviour.name} uses {step.do!r}, which I do not know; I know "
                + ", ".join(self._known)
            )
        called = self._known[step.do]
        if len(step.args) != len(called.arguments):
            raise InputError(
                f"{behaviour.name}: {called.signature} needs {len(called.arguments)} "
                f"argument(s), and {step} has {len(step.args)}"
            )
        own = {a.name: a.type for a in behaviour.arguments}
        for value, wanted in zip(step.args, called.arguments, strict=True):
            if value in own:
                kind = own[value]
            elif objects is None:
                continue
            elif value in objects:
                kind = objects[value]
            else:
                raise InputError(f"{behaviour.name}: in {step} there is no {value!r} here")
            if wanted.type not in (kind, ITEM):
                raise InputError(
                    f"{behaviour.name}: {called.signature} needs a value of type {wanted.type} "
                    f"for {wanted.name}; {value} is of type {kind}"
                )

    def _check_size(self, behaviour: Behaviour) -> None:
        sizes: dict[str, int] = {}

        def size(name: str, path: tuple[str, ...]) -> int:
            if name in path:
                raise InputError(f"{name} would run for ever: {' → '.join((*path, name))}")
            if name not in sizes:
                steps = self._known[name].steps
                sizes[name] = sum(size(s.do, (*path, name)) for s in steps) if steps else 1
            return sizes[name]

        total = size(behaviour.name, ())
        if total > MAX_PRIMITIVES:
            raise InputError(
                f"{behaviour.name} comes to {total} steps, the limit is {MAX_PRIMITIVES}"
            )

    def words(self, call: Call) -> str:
        """A call as people say it: by the behaviour's first phrase."""
        behaviour = self._known.get(call.do)
        if behaviour is None or not behaviour.examples:
            return call.words
        values = dict(zip((a.name for a in behaviour.arguments), call.args, strict=False))
        return re.sub(r"\{(\w*)\}", lambda m: values.get(m[1], m[1]), behaviour.examples[0])

    def expand(self, call: Call) -> list[Call]:
        """The robot's own behaviours that a call comes to. Raises InputError where the number
        of arguments is wrong or it is not known."""
        if call.do not in self._known:
            raise InputError(f"I do not know {call.do!r}; I know {', '.join(self._known)}")
        behaviour = self._known[call.do]
        if len(call.args) != len(behaviour.arguments):
            raise InputError(
                f"{behaviour.signature} needs {len(behaviour.arguments)} argument(s), and "
                f"{call} has {len(call.args)}"
            )
        if not behaviour.is_taught:
            return [call]
        values = dict(zip((a.name for a in behaviour.arguments), call.args, strict=True))
        return [
            part
            for step in behaviour.steps
            for part in self.expand(Call(step.do, tuple(values.get(a, a) for a in step.args)))
        ]


def say(behaviour: Behaviour, vocabulary: Vocabulary) -> str:
    """A taught behaviour in words, as it is said back to the person."""
    told = Call(behaviour.name, tuple(a.name for a in behaviour.arguments))
    steps = ", then ".join(vocabulary.words(step) for step in behaviour.steps)
    return f"'{vocabulary.words(told)}' means {steps}"


def _outside(example: str) -> str:
    return re.sub(r"\{\w*\}", " ", example.lower())
