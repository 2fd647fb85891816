"""Failures of physics that are put in, and receptacles that are full, in both worlds."""

import json

import pytest

from good_ros.core.errors import InputError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.ai2thor.world import Ai2thorWorld
from good_ros.worlds.household.faults import Faults
from good_ros.worlds.household.world import HouseholdWorld

from .conftest import BOTH


@pytest.fixture(params=BOTH)
def faulty(request):
    """Makes FloorPlan1 with faults in each world."""
    made = []

    def make(**fields):
        faults = Faults(**fields)
        if request.param == "household":
            made.append(HouseholdWorld(faults))
        else:
            arguments = ("--faults", faults.as_json())
            made.append(
                Ai2thorWorld(Ai2thorOptions(player="stand-in", stand_in_arguments=arguments))
            )
        made[-1].reset("FloorPlan1")
        return made[-1]

    yield make
    for world in made:
        world.close()


def step(world, action, name="", target="", argument=""):
    ids = {o.name: o.id for o in world.state.objects.values()}
    return Step(action, ids.get(name, name), ids.get(target, target), action, argument)


def test_no_valid_position_by_its_receptacle(faulty):
    world = faulty(objects={"no_valid_position": ["Fridge"]})
    assert world.act(step(world, "PickupObject", "Bread")).success
    before = world.state
    outcome = world.act(step(world, "PutObject", "Bread", "Fridge"))
    assert outcome.error_code is ErrorCode.FULL
    assert outcome.error_msg == "there is no free place for Bread in Fridge"
    assert "No valid positions" in outcome.detail
    assert world.state == before, "the fridge that was opened for it is closed again"
    assert world.act(step(world, "PutObject", "Bread", "CounterTop_1")).success


def test_no_valid_position_by_the_thing_in_hand(faulty):
    world = faulty(objects={"no_valid_position": ["Bread"]})
    assert world.act(step(world, "PickupObject", "Bread")).success
    outcome = world.act(step(world, "PutObject", "Bread", "CounterTop_1"))
    assert outcome.error_code is ErrorCode.FULL


def test_a_pickup_that_clips(faulty):
    world = faulty(objects={"clipping_pickup": ["Egg"]})
    before = world.state
    outcome = world.act(step(world, "PickupObject", "Egg"))
    assert outcome.error_code is ErrorCode.BLOCKED
    assert outcome.error_msg == "Egg cannot be picked up: something is in the way"
    assert world.state == before
    assert world.act(step(world, "PickupObject", "Bread")).success


def test_teleports_that_collide_with_what_is_in_hand(faulty):
    world = faulty(objects={"colliding_teleport": ["Bread"]})
    assert world.act(step(world, "PickupObject", "Bread")).success
    before = world.state
    outcome = world.act(step(world, "PutObject", "Bread", "Fridge"))
    assert outcome.error_code is ErrorCode.BLOCKED
    assert "places near it were tried" in outcome.error_msg
    assert world.state == before
    pose = json.dumps({"x": 1, "y": 0.9, "z": 0, "rotation": 0, "horizon": 0, "standing": True})
    outcome = world.act(step(world, "TeleportFull", argument=pose))
    assert outcome.error_code is ErrorCode.BLOCKED
    assert world.state == before


def test_the_next_pose_is_taken_where_one_collides(faulty):
    """Half of the teleports collide: the robot gets there all the same, elsewhere."""
    world = faulty(rates={"colliding_teleport": 0.5}, seed=2)
    bread = step(world, "PickupObject", "Bread").object_id
    assert world.act(Step("PickupObject", bread)).success
    reached = set()
    for name in ("CounterTop_1", "CounterTop_2", "CounterTop_3", "GarbageCan"):
        target = step(world, "PutObject", "Bread", name)
        best = world.interactable_poses(target.target_id)[0]
        assert world.act(target).success
        x, _, z = world.state.agent
        reached.add((x, z) == (best["x"], best["z"]))
        world.act(Step("PickupObject", bread))
    assert False in reached


def test_a_burner_holds_one_thing(faulty):
    world = faulty()
    burner = next(o for o in world.observe() if o.type == "StoveBurner" and not holds(world, o.id))
    assert world.act(step(world, "PickupObject", "Pan")).success
    assert world.act(step(world, "PutObject", "Pan", burner.id)).success
    assert world.act(step(world, "PickupObject", "Pot")).success
    outcome = world.act(step(world, "PutObject", "Pot", burner.id))
    assert outcome.error_code is ErrorCode.FULL
    assert outcome.error_msg == f"{burner.name} is full: take off what is on it first"


def holds(world, receptacle):
    return any(receptacle in item.inside for item in world.observe())


class TestRates:
    def tries(self, faults):
        world = HouseholdWorld(faults)
        world.reset("FloorPlan1")
        results = []
        for _ in range(200):
            start = world.snapshot()
            results.append(world.act(step(world, "PickupObject", "Bread")).success)
            world.restore(start)
        return results

    @pytest.mark.parametrize(("rate", "least", "most"), [(0.0, 0, 0), (1.0, 200, 200)])
    def test_never_and_always(self, rate, least, most):
        failures = self.tries(Faults(rates={"clipping_pickup": rate})).count(False)
        assert least <= failures <= most

    def test_about_its_share(self):
        assert 20 < self.tries(Faults(rates={"clipping_pickup": 0.25}, seed=1)).count(False) < 80

    def test_a_seed_draws_the_same_and_another_one_does_not(self):
        first = self.tries(Faults(rates={"clipping_pickup": 0.5}, seed=4))
        assert self.tries(Faults(rates={"clipping_pickup": 0.5}, seed=4)) == first
        assert self.tries(Faults(rates={"clipping_pickup": 0.5}, seed=5)) != first

    def test_a_reset_draws_from_the_seed_again(self):
        world = HouseholdWorld(Faults(rates={"clipping_pickup": 0.5}, seed=4))
        drawn = []
        for _ in range(2):
            world.reset("FloorPlan1")
            start = world.snapshot()
            drawn.append([])
            for _ in range(20):
                drawn[-1].append(world.act(step(world, "PickupObject", "Bread")).success)
                world.restore(start)
        assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "fields",
    [
        {"rates": {"earthquake": 0.5}},
        {"objects": {"earthquake": ["Bread"]}},
        {"rates": {"clipping_pickup": 1.5}},
        {"rates": {"clipping_pickup": -0.1}},
    ],
)
def test_what_is_no_fault_is_named(fields):
    with pytest.raises(InputError, match=r"fault|rate"):
        Faults(**fields)


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"rates": 1}', '{"seed": "x"}'])
def test_what_is_no_json_of_faults_is_named(text):
    with pytest.raises(InputError, match="no faults"):
        Faults.from_json(text)
