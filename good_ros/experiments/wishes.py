"""Goal sets to tell apart: what a profile's person wants, beside what they might as well want.

The true goal is the profile's conditions in plain words. The others are made from it by rule:
one thing less, another thing, another place, one thing more, with things and places of the room
that are drawn by a seed. So each shares most of its words with the true one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import cycle

from good_ros.core.errors import InputError
from good_ros.core.goals import Goal, GoalOrigin
from good_ros.experiments.profiles import Profile
from good_ros.worlds.base import ObjectView

Wish = tuple[tuple[str, str], ...]
"""(thing, place) for each thing that is to be put somewhere, by type or short name."""

INSIDE = frozenset({"Fridge", "Cabinet", "Drawer", "Safe", "GarbageCan", "Sink", "Bathtub", "Box"})
PLACES = INSIDE | {
    "CounterTop", "DiningTable", "SideTable", "CoffeeTable", "Shelf", "Desk", "Dresser", "Bed",
    "Sofa", "ArmChair", "TVStand",
}  # fmt: skip
KINDS = ("less", "other thing", "other place", "more")
MAX_DRAWS = 200


def candidate_goals(
    profile: Profile, objects: Sequence[ObjectView], seed: int, count: int = 6
) -> tuple[list[Goal], str]:
    """``count`` goals in a random order, and the id of the true one.

    Raises InputError where the profile wants something else than things in places, or where the
    room has not enough to draw from.
    """
    true = wish_of(profile)
    draw = random.Random(f"{profile.name} {seed}")
    things = sorted({o.type for o in objects if "pickupable" in o.affordances})
    places = sorted({o.type for o in objects if o.type in PLACES})
    wishes = [true]
    for number, kind in enumerate(cycle(KINDS)):
        if len(wishes) == count:
            break
        if number == MAX_DRAWS:
            raise InputError(f"the room of {profile.name} has too little for {count} goals")
        other = _vary(true, kind, things, places, draw)
        if other and all(set(other) != set(wish) for wish in wishes):
            wishes.append(other)
    texts = [inwords_of(wish) for wish in wishes]
    order = draw.sample(range(count), count)
    goals = [Goal(f"g{i}", texts[index], GoalOrigin.CONFIG) for i, index in enumerate(order, 1)]
    return goals, f"g{order.index(0) + 1}"


def inwords_of(wish: Wish) -> str:
    """The wish as goals are worded: 'the bread put in the fridge, and the egg put on the …'."""
    return ", and ".join(f"the {words_of(thing)} put {written(place)}" for thing, place in wish)


def written(place: str) -> str:
    """'in the fridge', 'on the counter top 2'."""
    return f"{'in' if _type(place) in INSIDE else 'on'} the {words_of(place)}"


def wish_of(profile: Profile) -> Wish:
    """What a profile's conditions say of things in places. Raises InputError where they say
    anything else."""
    pairs = []
    for condition in profile.conditions:
        kind, value = next(iter(condition.items()))
        # YAML reads the word 'on' as true.
        if kind not in ("in", "on", True):
            raise InputError(
                f"profile {profile.name} has the condition {kind!r}: only things in places can "
                "be varied"
            )
        pairs.append((str(value[0]), str(value[1])))
    return tuple(pairs)


def _vary(
    wish: Wish, kind: str, things: Sequence[str], places: Sequence[str], draw: random.Random
) -> Wish | None:
    """Another wish; None where this kind of change cannot be made."""
    index = draw.randrange(len(wish))
    thing, place = wish[index]
    rest = (*wish[:index], *wish[index + 1 :])
    used = {_type(own) for own, _ in wish}
    if kind == "less":
        return rest or None
    if kind == "other place":
        others = [p for p in places if p != _type(place)]
        return (*rest, (thing, draw.choice(others))) if others else None
    others = [t for t in things if t not in used]
    if not others:
        return None
    added = (draw.choice(others), place)
    return (*rest, added) if kind == "other thing" else (*wish, added)


def _type(name: str) -> str:
    return re.sub(r"_\d+$", "", name)


def words_of(name: str) -> str:
    """'CounterTop_2' as 'counter top 2'."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " "))
    return spaced.lower()
