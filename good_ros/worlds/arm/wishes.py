"""What a wish takes, as steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from good_ros.core.plan import Step
from good_ros.worlds.arm.world import PICKUP, PUT, ArmWorld
from good_ros.worlds.predicates import holds


def steps_for(conditions: Sequence[Mapping[str, Any]], world: ArmWorld) -> list[Step]:
    """The picks and places that make those conditions true that say where a thing is to be."""
    steps = []
    for condition in conditions:
        kind, value = next(iter(condition.items()))
        if kind in ("in", "on", True) and not holds(condition, world.observe()):
            thing, place = value
            words = f"put {thing} {world.config.places[place].preposition} {place}"
            steps += [Step(PICKUP, thing, label=f"pick up {thing}"), Step(PUT, thing, place, words)]
    return steps
