"""Actions that push, fill, slice, cook, break and clean, and what follows from a room's state."""

import json

import pytest

from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.household.changing import PIECES
from good_ros.worlds.household.scenes import load_objects
from good_ros.worlds.household.world import HouseholdWorld
from good_ros.worlds.predicates import holds

BREAD_IN_FRIDGE = {"in": ["Bread", "Fridge"]}
POSE = {"x": 1.0, "y": 0.9, "z": -1.5, "rotation": 90, "horizon": 0, "standing": True}


class Room:
    """A scene in which things are named by their short names."""

    def __init__(self, world, scene: str) -> None:
        self.world = world
        self.world.reset(scene)

    def step(self, action: str, name: str = "", target: str = "", argument: str = "") -> Step:
        ids = {o.name: o.id for o in self.world.state.objects.values()}
        return Step(action, ids.get(name, name), ids.get(target, target), action, argument)

    def do(self, *step: str) -> str:
        wanted = self.step(*step)
        outcome = self.world.act(wanted)
        assert outcome.success, outcome.error_msg
        assert self.world.verify(wanted) is None
        return outcome.effect

    def fails(self, *step: str) -> ErrorCode:
        before = self.world.state
        outcome = self.world.act(self.step(*step))
        assert not outcome.success
        assert self.world.state == before
        if isinstance(self.world, HouseholdWorld):
            assert self.world.state is before
        return outcome.error_code

    def put(self, name: str, target: str) -> None:
        self.do("PickupObject", name)
        self.do("PutObject", name, target)

    def state(self, name: str) -> dict:
        return dict(next(o.state for o in self.world.observe() if o.name == name))

    def names(self) -> list[str]:
        return [o.name for o in self.world.observe()]


@pytest.fixture
def kitchen(world) -> Room:
    return Room(world, "FloorPlan1")


class TestPushAndPull:
    def test_a_thing_moves(self, kitchen):
        before = kitchen.world.state.objects
        for action in ("PushObject", "PullObject"):
            kitchen.do(action, "Toaster")
            after = kitchen.world.state.objects
            toaster = kitchen.step(action, "Toaster").object_id
            assert after[toaster].position != before[toaster].position
            before = after

    def test_what_is_fixed_does_not(self, kitchen):
        assert kitchen.fails("PushObject", "CounterTop_1") is ErrorCode.INCOMPATIBLE

    def test_what_is_in_hand_cannot_be(self, kitchen):
        kitchen.do("PickupObject", "Apple")
        assert kitchen.fails("PullObject", "Apple") is ErrorCode.WRONG_STATE


class TestFillAndEmpty:
    def test_effects(self, kitchen):
        assert kitchen.do("FillObjectWithLiquid", "Mug", "", "water") == "Mug is full of water"
        assert kitchen.state("Mug")["liquid"] == "water"
        kitchen.do("EmptyLiquidFromObject", "Mug")
        assert kitchen.state("Mug")["liquid"] == ""

    def test_coffee_is_hot(self, kitchen):
        kitchen.do("FillObjectWithLiquid", "Mug", "", "coffee")
        assert kitchen.state("Mug")["temperature"] == "Hot"

    def test_failures(self, kitchen):
        assert kitchen.fails("FillObjectWithLiquid", "Mug") is ErrorCode.INVALID_ACTION
        assert kitchen.fails("FillObjectWithLiquid", "Mug", "", "tar") is ErrorCode.INVALID_ACTION
        water = ("FillObjectWithLiquid", "Bread", "", "water")
        assert kitchen.fails(*water) is ErrorCode.INCOMPATIBLE
        assert kitchen.fails("EmptyLiquidFromObject", "Mug") is ErrorCode.WRONG_STATE
        kitchen.do("FillObjectWithLiquid", "Mug", "", "wine")
        full = ("FillObjectWithLiquid", "Mug", "", "water")
        assert kitchen.fails(*full) is ErrorCode.WRONG_STATE


class TestSlice:
    def test_the_whole_gives_way_to_pieces_where_it_was(self, kitchen):
        kitchen.do("SliceObject", "Bread")
        names = kitchen.names()
        assert "Bread" not in names
        assert sum(name.startswith("BreadSliced_") for name in names) == PIECES
        views = {o.name: o for o in kitchen.world.observe()}
        piece = views["BreadSliced_1"]
        assert piece.id.endswith("|BreadSliced_1")
        assert piece.inside[0] == views["CounterTop_2"].id
        assert {"pickupable", "cookable"} <= piece.affordances
        assert "receptacle" not in piece.affordances
        kitchen.put("BreadSliced_1", "Toaster")

    def test_an_egg_gives_one_cracked_egg(self, kitchen):
        kitchen.put("Egg", "CounterTop_2")
        kitchen.do("SliceObject", "Egg")
        assert [n for n in kitchen.names() if "Egg" in n] == ["EggCracked_1"]

    def test_failures(self, kitchen):
        assert kitchen.fails("SliceObject", "Mug") is ErrorCode.INCOMPATIBLE
        kitchen.do("PickupObject", "Apple")
        assert kitchen.fails("SliceObject", "Apple") is ErrorCode.WRONG_STATE
        kitchen.do("SliceObject", "Bread")
        assert kitchen.fails("SliceObject", "Bread") is ErrorCode.NOT_INTERACTABLE
        assert kitchen.fails("PickupObject", "Bread") is ErrorCode.NOT_INTERACTABLE

    def test_hidden(self, kitchen):
        assert kitchen.fails("SliceObject", "Egg") is ErrorCode.NOT_VISIBLE


class TestCook:
    def test_effect_is_one_way(self, kitchen):
        kitchen.do("CookObject", "Potato")
        assert kitchen.state("Potato")["cooked"]
        assert kitchen.fails("CookObject", "Potato") is ErrorCode.WRONG_STATE

    def test_not_cookable(self, kitchen):
        assert kitchen.fails("CookObject", "Mug") is ErrorCode.INCOMPATIBLE


class TestBreak:
    def test_contents_drop(self, kitchen):
        kitchen.put("Apple", "Bowl")
        kitchen.do("BreakObject", "Bowl")
        views = {o.name: o for o in kitchen.world.observe()}
        assert views["Apple"].inside[0] == views["CounterTop_2"].id
        assert kitchen.fails("BreakObject", "Bowl") is ErrorCode.WRONG_STATE

    def test_an_egg(self, kitchen):
        kitchen.put("Egg", "CounterTop_2")
        kitchen.do("BreakObject", "Egg")
        assert "EggCracked_1" in kitchen.names()
        assert "Egg" not in kitchen.names()

    def test_what_is_in_hand_drops_its_contents_to_the_floor(self, kitchen):
        kitchen.put("Apple", "Bowl")
        kitchen.do("PickupObject", "Bowl")
        kitchen.do("BreakObject", "Bowl")
        views = {o.name: o for o in kitchen.world.observe()}
        assert views["Apple"].inside == (views["Floor"].id,)
        assert "on the floor: Apple" in kitchen.world.describe()

    def test_an_egg_in_hand_leaves_the_hand(self, kitchen):
        kitchen.do("PickupObject", "Egg")
        kitchen.do("BreakObject", "Egg")
        assert kitchen.world.state.held is None
        assert "on the floor: EggCracked_1" in kitchen.world.describe()
        kitchen.do("PickupObject", "Apple")

    def test_what_is_on_goes_off_and_stays_off(self, world):
        scene = next(
            f"FloorPlan{n}"
            for n in range(201, 231)
            if any(o["toggleable"] and o["breakable"] for o in load_objects(f"FloorPlan{n}"))
        )
        room = Room(world, scene)
        name = next(
            o.name for o in room.world.observe() if {"toggleable", "breakable"} <= o.affordances
        )
        if not room.state(name)["toggled"]:
            room.do("ToggleObjectOn", name)
        room.do("BreakObject", name)
        assert not room.state(name)["toggled"]
        assert room.fails("ToggleObjectOn", name) is ErrorCode.WRONG_STATE

    def test_not_breakable(self, kitchen):
        assert kitchen.fails("BreakObject", "Bread") is ErrorCode.INCOMPATIBLE


class TestDirtyAndClean:
    def test_effects_and_failures(self, kitchen):
        assert kitchen.fails("CleanObject", "Plate") is ErrorCode.NOT_VISIBLE
        assert kitchen.fails("CleanObject", "Mug") is ErrorCode.WRONG_STATE
        kitchen.do("DirtyObject", "Mug")
        assert kitchen.fails("DirtyObject", "Mug") is ErrorCode.WRONG_STATE
        kitchen.do("CleanObject", "Mug")
        assert not kitchen.state("Mug")["dirty"]
        assert kitchen.fails("DirtyObject", "Apple") is ErrorCode.INCOMPATIBLE


class TestDrop:
    def test_what_is_in_hand_falls(self, kitchen):
        kitchen.do("PickupObject", "Apple")
        assert kitchen.do("DropHandObject") == "Apple is on the floor"
        assert kitchen.world.state.held is None
        assert "on the floor: Apple" in kitchen.world.describe()

    def test_a_scene_without_a_floor_still_shows_it(self, world):
        room = Room(world, "FloorPlan_Train1_1")
        name = next(o.name for o in room.world.observe() if "pickupable" in o.affordances)
        room.do("PickupObject", name)
        room.do("DropHandObject")
        assert name in room.world.describe()

    def test_an_empty_hand(self, kitchen):
        assert kitchen.fails("DropHandObject") is ErrorCode.HAND_EMPTY


class TestTeleport:
    def test_effect(self, kitchen):
        kitchen.do("TeleportFull", "", "", json.dumps(POSE))
        assert kitchen.world.state.agent == (1.0, 0.9, -1.5)

    @pytest.mark.parametrize("missing", POSE)
    def test_an_incomplete_pose_changes_nothing(self, kitchen, missing):
        pose = {k: v for k, v in POSE.items() if k != missing}
        before = kitchen.world.state.agent
        code = kitchen.fails("TeleportFull", "", "", json.dumps(pose))
        assert code is ErrorCode.INVALID_ACTION
        assert kitchen.world.state.agent == before

    @pytest.mark.parametrize("text", ["over there", "[1]", "3", "null", '"x y z"', ""])
    def test_what_is_no_pose(self, kitchen, text):
        assert kitchen.fails("TeleportFull", "", "", text) is ErrorCode.INVALID_ACTION

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "far", None, []])
    def test_a_place_that_is_no_number(self, kitchen, value):
        code = kitchen.fails("TeleportFull", "", "", json.dumps({**POSE, "x": value}))
        assert code is ErrorCode.INVALID_ACTION


class TestWhatFollows:
    def test_running_water_fills_and_cleans(self, kitchen):
        kitchen.do("DirtyObject", "Mug")
        kitchen.put("Mug", "SinkBasin")
        kitchen.do("ToggleObjectOn", "Faucet")
        assert kitchen.state("Mug")["liquid"] == "water"
        assert not kitchen.state("Mug")["dirty"]

    def test_water_that_does_not_run_does_nothing(self, kitchen):
        kitchen.do("DirtyObject", "Mug")
        kitchen.put("Mug", "SinkBasin")
        assert kitchen.state("Mug")["dirty"]

    def test_a_burner_cooks_what_is_in_the_pan_on_it(self, kitchen):
        kitchen.put("Pan", "StoveBurner_1")
        kitchen.put("Potato", "Pan")
        kitchen.do("ToggleObjectOn", "StoveBurner_1")
        assert kitchen.state("Potato")["cooked"]
        assert kitchen.state("Potato")["temperature"] == "Hot"

    def test_the_microwave_cooks_but_does_not_toast_bread(self, kitchen):
        kitchen.do("SliceObject", "Bread")
        for thing in ("Potato", "BreadSliced_1"):
            kitchen.put(thing, "Microwave")
        kitchen.do("CloseObject", "Microwave")
        kitchen.do("ToggleObjectOn", "Microwave")
        assert kitchen.state("Potato")["cooked"]
        assert not kitchen.state("BreadSliced_1")["cooked"]
        assert kitchen.state("BreadSliced_1")["temperature"] == "Hot"

    def test_the_toaster_toasts(self, kitchen):
        kitchen.do("SliceObject", "Bread")
        kitchen.put("BreadSliced_2", "Toaster")
        kitchen.do("ToggleObjectOn", "Toaster")
        assert kitchen.state("BreadSliced_2")["cooked"]

    def test_the_fridge_cools(self, kitchen):
        kitchen.put("Apple", "Fridge")
        assert kitchen.state("Apple")["temperature"] == "Cold"

    def test_the_coffee_machine_fills_a_mug(self, kitchen):
        kitchen.put("Mug", "CoffeeMachine")
        kitchen.do("ToggleObjectOn", "CoffeeMachine")
        assert kitchen.state("Mug")["liquid"] == "coffee"
        assert kitchen.state("Mug")["temperature"] == "Hot"


class TestPiecesStandForTheWhole:
    """A condition on bread still means something once the bread is sliced."""

    def test_some_pieces_are_not_all_of_it(self, kitchen):
        kitchen.do("SliceObject", "Bread")
        assert not holds(BREAD_IN_FRIDGE, kitchen.world.observe())
        for number in range(1, PIECES):
            kitchen.put(f"BreadSliced_{number}", "Fridge")
            assert not holds(BREAD_IN_FRIDGE, kitchen.world.observe())
        kitchen.put(f"BreadSliced_{PIECES}", "Fridge")
        assert holds(BREAD_IN_FRIDGE, kitchen.world.observe())

    def test_a_broken_egg(self, kitchen):
        kitchen.put("Egg", "CounterTop_2")
        kitchen.do("BreakObject", "Egg")
        assert holds({"on": ["Egg", "CounterTop_2"]}, kitchen.world.observe())


def test_what_changed_is_in_the_metadata(kitchen):
    kitchen.do("FillObjectWithLiquid", "Mug", "", "water")
    kitchen.do("SliceObject", "Tomato")
    by_name = {m["objectId"].split("|")[0]: m for m in kitchen.world.metadata()}
    assert by_name["Mug"]["isFilledWithLiquid"] is True
    assert by_name["Mug"]["fillLiquid"] == "water"
    assert any(m["objectType"] == "TomatoSliced" for m in kitchen.world.metadata())
