"""What may be offered to a person: their own behaviours first, the robot's own where no other
stands in front of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from good_ros.core.belief import Belief
from good_ros.core.errors import InputError
from good_ros.core.plan import Step
from good_ros.planning.conditions import Conditions
from good_ros.planning.proactive import Actions
from good_ros.planning.trial import Trials
from good_ros.planning.usefulness import lacking
from good_ros.teaching.behaviours import Call
from good_ros.teaching.expansion import actions_of, steps_of
from good_ros.teaching.planner import MAX_LABELS, taught_calls
from good_ros.teaching.profile import PersonProfile
from good_ros.teaching.room import Room
from good_ros.worlds.base import World

MAX_GROUPS = 12


def offers(
    world: World, profile: PersonProfile, belief: Belief, conditions: Conditions
) -> list[Actions]:
    """For each thing that the likeliest goal still lacks, the calls that may help with it."""
    needed = lacking(Trials(world), (), conditions.of(belief.top.goal))
    room = Room(world.observe())
    return [_calls_for(world, room, profile, step) for step in needed[:MAX_GROUPS]]


def all_offers(world: World, profile: PersonProfile, names: Sequence[str]) -> Actions:
    """Every call of the person's behaviours with these things, and putting each of them
    somewhere; for a model to choose from."""
    room = Room(world.observe())
    steps = world.possible_actions([room.ids[n] for n in names])
    puts = [s for s in steps if s.action == "PutObject"]
    found: dict[str, tuple[Step, ...]] = {}
    for step in puts:
        found |= _calls_for(world, room, profile, step)
    return found


def _calls_for(world: World, room: Room, profile: PersonProfile, step: Step) -> Actions:
    vocabulary = profile.vocabulary(actions_of(world))
    told = tuple(room.names[i] for i in (step.object_id, step.target_id) if i in room.names)
    calls = list(islice(taught_calls(profile.behaviours, room, set(told)), MAX_LABELS))
    calls += [
        Call(b.name, told)
        for b in vocabulary.behaviours
        if b.action == step.action and len(b.arguments) == len(told)
    ]
    found: dict[str, tuple[Step, ...]] = {}
    for call in calls:
        try:
            found.setdefault(vocabulary.words(call), steps_of(world, room, vocabulary, [call]))
        except InputError:
            # It is made of something that this world has not.
            continue
    # The richest first; going home in between enriches nothing.
    return dict(sorted(found.items(), key=lambda item: -_richness(item[1])))


def _richness(steps: Sequence[Step]) -> int:
    return sum(step.action != "GoHome" for step in steps)
