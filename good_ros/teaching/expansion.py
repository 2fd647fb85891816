"""From calls of behaviours to steps of a world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from good_ros.core.errors import InputError
from good_ros.core.plan import Step
from good_ros.teaching.behaviours import Call, Vocabulary
from good_ros.teaching.room import Room
from good_ros.worlds.base import World

SOMETHING = "something"


def actions_of(world: World) -> frozenset[str]:
    """The actions that a world has for the things in it."""
    ids = [item.id for item in world.observe()]
    return frozenset(step.action for step in world.possible_actions(ids))


def steps_of(
    world: World, room: Room, vocabulary: Vocabulary, calls: Sequence[Call]
) -> tuple[Step, ...]:
    """The world's steps for calls in a row, each labelled with the behaviour that it is part of.

    A put of what is not in hand begins with picking it up, and what is in hand is not picked up
    again. Raises InputError for a call, or a thing, that is not known.
    """
    held = room.held
    steps: list[Step] = []
    for call in calls:
        taught = call.do in vocabulary and vocabulary[call.do].is_taught
        prefix = f"{call.words}: " if taught else ""
        for part in vocabulary.expand(call):
            names = [_known(room, name) for name in part.args]
            action = vocabulary[part.do].action
            if action == "PutObject" and held not in (names[0], SOMETHING):
                steps.append(_step(world, room, "PickupObject", names[:1], prefix))
            if action == "PickupObject" and held == names[0]:
                continue
            steps.append(_step(world, room, action, names, prefix))
            held = {
                "PickupObject": names[0] if names else "",
                "PutObject": "",
                "Release": "",
                "Grasp": SOMETHING,
            }.get(action, held)
    return tuple(steps)


def _known(room: Room, name: str) -> str:
    if name not in room.ids:
        raise InputError(f"there is no {name!r} here")
    return name


def _step(world: World, room: Room, action: str, names: Sequence[str], prefix: str) -> Step:
    """The world's own step for it, with its label."""
    ids = [room.ids[name] for name in names]
    wanted = (action, *ids, "", "")[:3]
    for step in world.possible_actions(ids):
        if (step.action, step.object_id, step.target_id) == wanted:
            return replace(step, label=prefix + step.label)
    raise InputError(f"{action} cannot be done with {', '.join(names) or 'nothing'} here")
