"""The AI2-THOR world: the real client against a stand-in player."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import sys
from pathlib import Path

import pytest

pytest.importorskip("ai2thor")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from good_ros.core.errors import InputError, WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.ai2thor import world as bridge
from good_ros.worlds.ai2thor.driver import Driver, OwnFault, PlayerLost
from good_ros.worlds.ai2thor.failures import code_of
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.ai2thor.standin import trouble
from good_ros.worlds.ai2thor.world import Ai2thorWorld
from good_ros.worlds.checks import check_world
from good_ros.worlds.household.faults import Faults
from good_ros.worlds.household.world import HouseholdWorld
from good_ros.worlds.registry import make_world

from .test_household import SEQUENCES, THINGS, ids

pytestmark = pytest.mark.timeout(180)

STEP_S = 3.0
"""Seconds that a hanging player is waited for."""


def children() -> set[int]:
    """The processes below this one, the dead that nobody has waited for among them."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            found.add((int(path.parent.name), int(fields[1])))
    below, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, parent in found if parent in below} - below
        below |= more
        grown = bool(more)
    return below - {os.getpid()}


@pytest.fixture
def play():
    """Makes AI2-THOR worlds with a stand-in that has trouble; sees that no process is left."""
    before = children()
    made = []

    def make(*arguments, **fields):
        standard = {"player": "stand-in", "step_timeout_s": STEP_S, "start_timeout_s": 60.0}
        options = Ai2thorOptions(**{**standard, **fields, "stand_in_arguments": arguments})
        made.append(Ai2thorWorld(options))
        return made[-1]

    yield make
    for world in made:
        world.close()
    assert children() <= before


def step(world, action, name="", target="", argument=""):
    known = {o.name: o.id for o in world.state.objects.values()}
    return Step(action, known.get(name, name), known.get(target, target), action, argument)


FAULTS = Faults(
    objects={
        "no_valid_position": ["Microwave", "Pan"],
        "clipping_pickup": ["Egg", "Bowl"],
        "colliding_teleport": ["Bread", "Mug"],
    }
)


@pytest.fixture(scope="module")
def faulty_stand_in():
    """A world whose player puts in the same faults as a household."""
    arguments = ("--faults", FAULTS.as_json())
    world = Ai2thorWorld(Ai2thorOptions(player="stand-in", stand_in_arguments=arguments))
    yield world
    world.close()


class TestSameAsTheHousehold:
    """Any difference between the two worlds is a fault."""

    @settings(
        max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(sequence=SEQUENCES)
    def test_any_sequence(self, stand_in, sequence):
        self.check_sequence(HouseholdWorld(), stand_in, sequence)

    @settings(
        max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(sequence=SEQUENCES)
    def test_any_sequence_with_faults(self, faulty_stand_in, sequence):
        self.check_sequence(HouseholdWorld(FAULTS), faulty_stand_in, sequence)

    def check_sequence(self, household, stand_in, sequence):
        household.reset("FloorPlan1")
        stand_in.reset("FloorPlan1")
        self.check_same(household, stand_in)
        start = stand_in.snapshot(), household.snapshot()
        for choice in sequence:
            known = ids(household)
            if isinstance(choice, int):
                chosen = [known[t] for t in THINGS if t in known]
                possible = household.possible_actions(chosen)
                assert stand_in.possible_actions(chosen) == possible
                wanted = possible[choice % len(possible)]
            else:
                action, name, target, argument = choice
                wanted = Step(
                    action, known.get(name, name), known.get(target, target), action, argument
                )
            expected = household.act(wanted)
            assert stand_in.act(wanted) == expected
            assert stand_in.verify(wanted) == household.verify(wanted)
            self.check_same(household, stand_in)
        stand_in.restore(start[0])
        household.restore(start[1])
        self.check_same(household, stand_in)

    @settings(
        max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(
        st.sampled_from(["FloorPlan5", "FloorPlan203", "FloorPlan_Val1_2", "FloorPlan401"]),
        st.integers(0, 1000),
        st.lists(st.integers(0, 10_000), max_size=6),
    )
    def test_any_room_and_seed(self, stand_in, scene, seed, choices):
        household = HouseholdWorld()
        for world in (household, stand_in):
            world.reset(scene, seed)
        for choice in choices:
            self.check_same(household, stand_in)
            possible = household.possible_actions([o.id for o in household.observe()])
            wanted = possible[choice % len(possible)]
            assert stand_in.act(wanted) == household.act(wanted)
        self.check_same(household, stand_in)

    @staticmethod
    def check_same(household, ai2thor):
        assert ai2thor.metadata() == household.metadata()
        assert ai2thor.observe() == household.observe()
        assert ai2thor.describe() == household.describe()
        assert ai2thor.state.pose == household.state.pose


class TestBareEngine:
    """What the engine itself refuses, which the world's preparations keep from it."""

    @pytest.fixture
    def driver(self, stand_in):
        stand_in.reset("FloorPlan1")
        return stand_in, stand_in._running()

    def refused(self, driver, action, name, **arguments):
        world, player = driver
        answer = player.step(action, objectId=ids(world)[name], **arguments)
        assert not answer.success
        return answer.message

    def go_to(self, driver, name):
        world, player = driver
        pose = world.interactable_poses(ids(world)[name])[0]
        assert player.step("TeleportFull", **pose).success

    def test_too_far(self, driver):
        assert (
            driver[1]
            .step("TeleportFull", x=50, y=0.9, z=50, rotation=0, horizon=0, standing=True)
            .success
        )
        message = self.refused(driver, "OpenObject", "Fridge")
        assert code_of(message) is ErrorCode.NOT_VISIBLE

    def test_a_closed_receptacle(self, driver):
        world, player = driver
        self.go_to(driver, "Bread")
        assert player.step("PickupObject", objectId=ids(world)["Bread"]).success
        self.go_to(driver, "Fridge")
        message = self.refused(driver, "PutObject", "Fridge")
        assert "CLOSED" in message
        assert code_of(message) is ErrorCode.WRONG_STATE

    def test_a_burner_is_not_turned_itself(self, driver):
        self.go_to(driver, "StoveBurner_1")
        message = self.refused(driver, "ToggleObjectOn", "StoveBurner_1")
        assert "controlled by another" in message

    @pytest.mark.parametrize(
        ("action", "arguments"), [("FlyObject", {}), ("OpenObject", {}), ("TeleportFull", {"x": 1})]
    )
    def test_a_wrongly_told_action_is_our_own_fault(self, driver, action, arguments):
        with pytest.raises(OwnFault, match=action):
            driver[1].step(action, **arguments)
        assert driver[1].step("Pass").success, "the player goes on"


def test_our_own_fault_is_told_apart(stand_in, monkeypatch):
    stand_in.reset("FloorPlan1")
    before = stand_in.state
    monkeypatch.setattr(bridge, "_arguments", lambda step, pose: {"thing": step.object_id})
    outcome = stand_in.act(step(stand_in, "OpenObject", "Fridge"))
    assert outcome.error_code is ErrorCode.INVALID_ACTION
    assert "fault of the AI2-THOR bridge" in outcome.error_msg
    monkeypatch.undo()
    assert stand_in.state.objects == before.objects
    assert stand_in.act(step(stand_in, "OpenObject", "Fridge")).success


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("Object ID Mug|1 appears to be invalid.", ErrorCode.NOT_FOUND),
        ("Target object not found within the specified visibility.", ErrorCode.NOT_VISIBLE),
        ("Mug|1 is visible but not interactable", ErrorCode.NOT_INTERACTABLE),
        ("Agent hand has something in it already!", ErrorCode.HAND_FULL),
        (
            "Can't place an object if Agent isn't holding anything.",
            ErrorCode.HAND_EMPTY,
        ),
        ("No valid positions to place object found", ErrorCode.FULL),
        ("StoveBurner|1 is full right now!", ErrorCode.FULL),
        (
            "Picking up object would cause it to collide and clip into something!",
            ErrorCode.BLOCKED,
        ),
        ("object failed to open: it is in the way of the agent", ErrorCode.BLOCKED),
        ("Target must be off to open!", ErrorCode.WRONG_STATE),
        ("Mug cannot be placed in Sofa", ErrorCode.INCOMPATIBLE),
        ("This target object is NOT a receptacle!", ErrorCode.INCOMPATIBLE),
        ("something never seen before", ErrorCode.NOT_INTERACTABLE),
    ],
)
def test_messages_are_typed_by_their_parts(message, code):
    assert code_of(f"2024: {message} (release 5)") is code


class TestStart:
    def test_a_player_that_dies_before_it_opens_its_pipe(self, play):
        world = play("--trouble", "dead")
        with pytest.raises(WorldError, match=r"ended \(exit status 1\) in 'start'"):
            world.reset("FloorPlan1")

    def test_a_player_that_says_hello_and_dies(self, play):
        world = play("--trouble", "dead-after-hello")
        with pytest.raises(WorldError, match="ended"):
            world.reset("FloorPlan1")

    @pytest.mark.faults("ai2thor #1080, #1273")
    def test_a_player_that_never_opens_its_pipe(self, play):
        world = play("--trouble", "mute", start_timeout_s=2.0)
        with pytest.raises(WorldError, match="did not answer within 2 s in 'start'"):
            world.reset("FloorPlan1")

    @pytest.mark.parametrize("kind", ["dead", "dead-after-hello", "mute"])
    def test_over_http(self, play, kind):
        world = play("--trouble", kind, server="wsgi", start_timeout_s=3.0)
        with pytest.raises(WorldError, match=r"ended|did not answer"):
            world.reset("FloorPlan1")

    def test_after_one_that_failed_another_one_starts(self, play, tmp_path):
        world = play("--trouble", "dead", "--once", str(tmp_path / "once"))
        with pytest.raises(WorldError, match="ended"):
            world.reset("FloorPlan1")
        outcome = world.act(Step("TaskCompleted"))
        assert outcome.error_code is ErrorCode.WORLD_LOST
        world.reset("FloorPlan1")
        assert len(world.observe()) == 77

    def test_an_unknown_scene(self, play):
        world = play()
        with pytest.raises(WorldError, match="FloorPlan31"):
            world.reset("FloorPlan31")
        world.reset("FloorPlan1")
        with pytest.raises(WorldError, match="FloorPlan31"):
            world.reset("FloorPlan31")
        world.reset("FloorPlan2")

    def test_without_a_display(self, play, monkeypatch):
        monkeypatch.delenv("DISPLAY", raising=False)
        play().reset("FloorPlan1")

    def test_with_a_chosen_graphics_card_that_is_not_needed(self, play, monkeypatch, tmp_path):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        monkeypatch.setenv("PATH", str(tmp_path))
        play().reset("FloorPlan1")


class TestMidStep:
    """The player fails at the second pick-up; the session goes on with a new one."""

    def session(self, world):
        world.reset("FloorPlan1")
        for wanted in (
            ("PickupObject", "Bread"),
            ("PutObject", "Bread", "Fridge"),
            ("SliceObject", "Tomato"),
        ):
            assert world.act(step(world, *wanted)).success
        before, seen, first = world.state, world.metadata(), world._driver.pid
        outcome = world.act(step(world, "PickupObject", "Apple"))
        assert not outcome.success
        assert outcome.error_code is ErrorCode.BLOCKED
        assert "started again and the room is as it was before" in outcome.error_msg
        assert world.state == before
        assert world.metadata() == seen
        assert world._driver.pid != first
        assert not Path(f"/proc/{first}").exists()
        again = world.act(step(world, "PickupObject", "Apple"))
        assert again.effect == "Apple is in hand"
        return outcome.error_msg

    @pytest.mark.parametrize("server", ["fifo", "wsgi"])
    @pytest.mark.parametrize(
        ("kind", "words"),
        [
            (trouble.CRASH, r"ended \(signal 9\) in 'PickupObject'"),
            (trouble.CUT, r"ended \(signal 9\) in 'PickupObject'"),
            (trouble.HANG, "did not answer within 3 s in 'PickupObject'"),
            (trouble.WRONG_NUMBER, "."),
            (trouble.GARBAGE, "."),
        ],
    )
    def test_trouble(self, play, tmp_path, kind, words, server):
        once = str(tmp_path / "once")
        world = play(
            *("--trouble", kind, "--at", "PickupObject", "--number", "2", "--once", once),
            server=server,
        )
        message = self.session(world)
        assert re.search(words, message), message
        assert "\n" not in message

    def test_an_answer_that_is_later_than_the_time_out(self, play, tmp_path):
        once = str(tmp_path / "once")
        late = ("--trouble", "late", "--delay", "30", "--at", "PickupObject", "--number", "2")
        assert "did not answer" in self.session(play(*late, "--once", once))

    def test_an_answer_that_is_a_little_late(self, play):
        world = play("--trouble", "late", "--delay", "0.5", "--at", "PickupObject")
        world.reset("FloorPlan1")
        assert world.act(step(world, "PickupObject", "Apple")).success

    def test_an_answer_that_is_not_true(self, play):
        """The engine says that it worked: the effect is looked for in what it shows."""
        world = play("--trouble", "lie", "--at", "OpenObject")
        world.reset("FloorPlan1")
        wanted = step(world, "OpenObject", "Fridge")
        world.act(wanted)
        assert world.verify(wanted) is not None

    def test_a_crash_while_undoing(self, play, tmp_path):
        once = str(tmp_path / "once")
        world = play("--trouble", "crash", "--at", "Reset", "--number", "2", "--once", once)
        world.reset("FloorPlan1")
        before, seen = world.snapshot(), world.metadata()
        assert world.act(step(world, "PickupObject", "Apple")).success
        world.restore(before)
        assert world.metadata() == seen

    def test_a_room_that_cannot_be_rebuilt_is_lost(self, play, tmp_path):
        """The build is gone when it is started again; what a script started ends with it."""
        build = tmp_path / "player.sh"
        build.write_text(
            f"#!/bin/sh\n{sys.executable} -m good_ros.worlds.ai2thor.standin "
            '--trouble hang --at PickupObject "$@"\n'
        )
        build.chmod(build.stat().st_mode | stat.S_IXUSR)
        world = play(player="unity", build=str(build))
        world.reset("FloorPlan1")
        text = build.read_text()
        build.unlink()
        outcome = world.act(step(world, "PickupObject", "Apple"))
        assert outcome.error_code is ErrorCode.WORLD_LOST
        assert str(build) in outcome.error_msg
        assert world.act(step(world, "OpenObject", "Fridge")).error_code is ErrorCode.WORLD_LOST
        build.write_text(text)
        build.chmod(0o755)
        world.reset("FloorPlan1")
        assert world.act(step(world, "OpenObject", "Fridge")).success


class TestUndo:
    def test_reset_and_replay(self, stand_in):
        stand_in.reset("FloorPlan1")
        assert stand_in.act(step(stand_in, "PickupObject", "Egg")).success
        before, seen = stand_in.snapshot(), stand_in.metadata()
        assert stand_in.act(step(stand_in, "PutObject", "Egg", "Microwave")).success
        assert stand_in.act(step(stand_in, "SliceObject", "Bread")).success
        stand_in.restore(before)
        assert stand_in.metadata() == seen
        assert stand_in.act(step(stand_in, "DropHandObject")).effect == "Egg is on the floor"

    def test_of_a_room_that_was_arranged(self, stand_in):
        stand_in.reset("FloorPlan1")
        stand_in.arrange([], [{"objectType": "Faucet", "isOn": True}], dirty_and_empty=True)
        before, seen = stand_in.snapshot(), stand_in.metadata()
        assert stand_in.act(step(stand_in, "ToggleObjectOff", "Faucet")).success
        stand_in.restore(before)
        assert stand_in.metadata() == seen

    def test_of_another_scene(self, stand_in):
        stand_in.reset("FloorPlan1", seed=3)
        before, seen = stand_in.snapshot(), stand_in.metadata()
        stand_in.reset("FloorPlan201")
        stand_in.restore(before)
        assert stand_in.scene == "FloorPlan1"
        assert stand_in.metadata() == seen

    def test_a_replay_that_leads_elsewhere_is_told(self, play):
        """From its second start on the player only says that it opens things."""
        world = play("--trouble", "lie", "--at", "OpenObject", "--number", "2")
        world.reset("FloorPlan1")
        assert world.act(step(world, "OpenObject", "Fridge")).success
        before = world.snapshot()
        assert world.act(step(world, "PickupObject", "Apple")).success
        with pytest.raises(WorldError, match="did not lead to the same room: Fridge"):
            world.restore(before)
        assert world.act(Step("TaskCompleted")).error_code is ErrorCode.WORLD_LOST
        world.reset("FloorPlan1")
        assert world.act(Step("TaskCompleted")).success


HOUSE = {
    "rooms": [
        {
            "id": "room|2",
            "roomType": "Kitchen",
            "floorPolygon": [{"x": x, "y": 0, "z": z} for x, z in [(0, 0), (0, 5), (5, 5), (5, 0)]],
        }
    ],
    "objects": [
        {
            "id": "Fridge|2|1",
            "assetId": "Fridge_1",
            "position": {"x": 0.6, "y": 1.0, "z": 4.5},
            "rotation": {"x": 0, "y": 90, "z": 0},
            "kinematic": True,
            "children": [
                {
                    "id": "Apple|surface|2|0",
                    "assetId": "Apple_1",
                    "position": {"x": 0.6, "y": 1.2, "z": 4.5},
                }
            ],
        },
        {
            "id": "DiningTable|2|2",
            "assetId": "Dining_Table_16_1",
            "position": {"x": 3.0, "y": 0.4, "z": 2.0},
        },
    ],
}


class TestHouses:
    @pytest.fixture
    def house(self, tmp_path):
        path = tmp_path / "house.json"
        path.write_text(json.dumps(HOUSE))
        return str(path)

    def test_both_worlds_load_a_procedural_house(self, stand_in, house):
        household = HouseholdWorld()
        for world in (household, stand_in):
            world.reset(house)
            assert [o.name for o in world.observe()] == ["Apple", "DiningTable", "Fridge", "Floor"]
            outcome = world.act(step(world, "PickupObject", "Apple"))
            assert outcome.effect == "opened Fridge; Apple is in hand"
            assert world.act(step(world, "PutObject", "Apple", "DiningTable")).success
        TestSameAsTheHousehold.check_same(household, stand_in)

    def test_as_the_first_scene(self, play, house):
        world = play()
        world.reset(house)
        before, seen = world.snapshot(), world.metadata()
        assert world.act(step(world, "PickupObject", "Apple")).success
        world.restore(before)
        assert world.metadata() == seen

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            (None, "cannot be read"),
            ("{", "not JSON"),
            ("[]", "is no house"),
            ('{"objects": [{"id": "x"}]}', "no house"),
            (
                '{"objects": [{"id": "x", "assetId": "Anvil_1", "position": {}}]}',
                "Anvil_1",
            ),
        ],
    )
    def test_what_is_no_house_is_named(self, stand_in, tmp_path, text, match):
        path = tmp_path / "house.json"
        if text is not None:
            path.write_text(text)
        for world in (HouseholdWorld(), stand_in):
            with pytest.raises(WorldError, match=match):
                world.reset(str(path))


class TestOverHttp:
    def test_the_same_steps(self, play):
        world, household = play(server="wsgi"), HouseholdWorld()
        for each in (household, world):
            each.reset("FloorPlan1")
            assert each.act(step(each, "PickupObject", "Egg")).success
            assert not each.act(step(each, "PickupObject", "Apple")).success
        TestSameAsTheHousehold.check_same(household, world)


class TestOptions:
    def test_the_stand_in_is_never_the_default(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path))
        assert Ai2thorOptions().player == "unity"
        with pytest.raises(WorldError, match="Unity build is not on this machine"):
            make_world("ai2thor").reset("FloorPlan1")

    def test_a_build_that_ai2thor_downloaded_is_found(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path))
        folder = tmp_path / ".ai2thor" / "releases" / "thor-Linux64-abc"
        folder.mkdir(parents=True)
        (folder / folder.name).write_text("")
        with pytest.raises(WorldError, match="not executable"):
            Ai2thorOptions().command()
        (folder / folder.name).chmod(0o755)
        assert Ai2thorOptions().command() == str(folder / folder.name)

    @pytest.mark.parametrize(
        "fields",
        [{"player": "moon"}, {"server": "smtp"}, {"step_timeout_s": 0}, {"start_timeout_s": -1}],
    )
    def test_what_cannot_be_is_refused(self, fields):
        with pytest.raises(InputError):
            Ai2thorOptions(**fields)

    def test_a_closed_driver_says_so(self):
        driver = Driver(Ai2thorOptions(player="stand-in"), "FloorPlan1")
        driver.close()
        driver.close()
        with pytest.raises(PlayerLost, match="closed"):
            driver.step("Pass")


class TestCheck:
    def findings(self, **fields):
        return {f.what: f for f in check_world("ai2thor", Ai2thorOptions(**fields))}

    def test_without_a_build_it_says_how_to_get_one(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        found = self.findings()
        assert not found["Unity build"].fine
        assert "download_only" in found["Unity build"].remedy
        assert found["package"].fine
        assert found["display"].fine
        assert "start" not in found

    def test_a_window_needs_a_display_and_vulkan_its_library(self, monkeypatch, tmp_path):
        monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
        monkeypatch.delenv("DISPLAY", raising=False)
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        found = self.findings(headless=False)
        assert not found["display"].fine
        assert "Xvfb" in found["display"].remedy
        assert not found["Vulkan"].fine
        assert "libvulkan1" in found["Vulkan"].remedy
        assert not self.findings(headless=False, display=":9731")["display"].fine

    def test_a_chosen_graphics_card_needs_vulkaninfo(self, monkeypatch):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
        monkeypatch.setattr("shutil.which", lambda name: None)
        assert "vulkaninfo" in self.findings(headless=False)["Vulkan"].words
        assert "vulkaninfo" not in self.findings()["Vulkan"].words

    def test_without_the_package(self, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert "pip install ai2thor" in self.findings()["package"].remedy

    def test_a_build_that_does_not_start(self, tmp_path, monkeypatch):
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        build = tmp_path / "player"
        build.write_text("#!/bin/sh\nexit 7\n")
        build.chmod(0o755)
        found = self.findings(build=str(build))
        assert not found["start"].fine
        assert "exit status 7" in found["start"].words

    def test_with_the_stand_in_all_is_there(self):
        assert all(f.fine for f in check_world("ai2thor", Ai2thorOptions(player="stand-in")))
        assert all(f.fine for f in check_world("household", Ai2thorOptions()))
