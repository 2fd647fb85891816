"""From where a thing can be reached."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.household import rules
from good_ros.worlds.household.poses import REACH_M, is_within_reach
from good_ros.worlds.household.scenes import scene_names
from good_ros.worlds.household.world import HouseholdWorld


def test_poses_are_those_of_teleport_and_within_reach(world):
    world.reset("FloorPlan1")
    fridge = next(o for o in world.observe() if o.name == "Fridge")
    poses = world.interactable_poses(fridge.id)
    assert poses
    for pose in poses:
        assert set(pose) == {"x", "y", "z", "rotation", "horizon", "standing"}
        place = (pose["x"], pose["y"], pose["z"])
        assert is_within_reach(place, world.state.objects[fridge.id])


def test_an_unknown_id(world):
    world.reset("FloorPlan1")
    with pytest.raises(WorldError, match="Nothing"):
        world.interactable_poses("Nothing|1")
    assert world.act(Step("GetInteractablePoses", "Nothing|1")).error_code is ErrorCode.NOT_FOUND


def test_as_an_action_it_changes_nothing(world):
    world.reset("FloorPlan1")
    before = world.state
    fridge = next(o for o in world.observe() if o.name == "Fridge")
    outcome = world.act(Step("GetInteractablePoses", fridge.id))
    assert outcome.effect.startswith("Fridge can be reached from ")
    assert world.state == before


def test_the_robot_goes_where_it_can_reach_what_it_acts_on(world):
    world.reset("FloorPlan1")
    fridge = next(o for o in world.observe() if o.name == "Fridge")
    assert world.act(Step("OpenObject", fridge.id)).success
    best = world.interactable_poses(fridge.id)[0]
    assert world.state.agent == (best["x"], best["y"], best["z"])
    assert world.state.rotation == best["rotation"]


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(scene_names()), st.integers(0, 10_000))
def test_everything_can_be_reached_from_free_floor_or_over_furniture(scene, choice):
    world = HouseholdWorld()
    world.reset(scene)
    items = list(world.state.objects.values())
    item = items[choice % len(items)]
    poses = rules.poses_for(world.state, item.id)
    assert poses
    assert all(is_within_reach((p.x, p.y, p.z), item) for p in poses)
    x, _, z = item.position
    far = (x + 50 * REACH_M, 0.9, z)
    assert not is_within_reach(far, item)
