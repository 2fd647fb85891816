"""Cancelled at any step, the world is as the history says, to the last bit."""

import random
import threading
from functools import cache

import pytest

from good_ros.core.plan import ErrorCode
from good_ros.planning import execution
from good_ros.worlds.household.world import HouseholdWorld

SCENES = ("FloorPlan1", "FloorPlan219", "FloorPlan301", "FloorPlan402")
PAST_STEPS, PLAN_STEPS = 4, 6


@cache
def start(scene: str):
    """A scene as it is at first; reading it from disk 400 times would take minutes."""
    world = HouseholdWorld()
    world.reset(scene)
    return world.snapshot()


def walk(world: HouseholdWorld, length: int, generator: random.Random):
    """Random steps that can be done one after the other, and are then done."""
    relevant = [item.id for item in world.observe()]
    steps = []
    while len(steps) < length:
        step = generator.choice(world.possible_actions(relevant))
        if world.act(step).success:
            steps.append(step)
    return steps


@pytest.mark.parametrize("seed", range(200))
def test_cancelled_at_a_random_step_the_history_matches_the_world(seed):
    generator = random.Random(seed)
    scene = SCENES[seed % len(SCENES)]
    world = HouseholdWorld()
    world.restore(start(scene))
    past = execution.run(world, _plan(world, PAST_STEPS, generator), 1)
    assert past.error_code is ErrorCode.NONE
    before = world.snapshot()
    plan = _plan(world, PLAN_STEPS, generator)
    cancel, at, seen = threading.Event(), generator.randrange(PLAN_STEPS + 1), []

    def on_step(result):
        seen.append(result)
        if len(seen) == at:
            cancel.set()

    if at == 0:
        cancel.set()
    outcome = execution.run(world, plan, 2, on_step, cancel)
    assert outcome.error_code is ErrorCode.CANCELLED
    assert [r.step for r in outcome.results] == plan[:at]
    assert not any(r.success for r in outcome.results)
    assert world.snapshot() == before
    again = HouseholdWorld()
    again.restore(start(scene))
    execution.replay(again, (*past.results, *outcome.results))
    assert again.snapshot() == world.snapshot()


def _plan(world: HouseholdWorld, length: int, generator: random.Random):
    """Steps that can be done from here; the world is left as it is."""
    before = world.snapshot()
    steps = walk(world, length, generator)
    world.restore(before)
    return steps
