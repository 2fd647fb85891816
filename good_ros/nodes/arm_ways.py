"""The ways to a real arm's controller and gripper: a topic, an action, or MoveIt.

``control_msgs`` and ``moveit_msgs`` come from apt alone, so that they are imported only where the
arm's file chooses them.
"""

from __future__ import annotations

import importlib
import os
import threading
from typing import Any, Protocol

from rclpy.action import ActionClient
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from good_ros.core.errors import WorldError
from good_ros.nodes.arm_messages import duration_msg, hold_msg, trajectory_msg
from good_ros.nodes.qos import COMMAND
from good_ros.worlds.arm.body import Ended, Trajectory
from good_ros.worlds.arm.config import ArmConfig
from good_ros.worlds.arm.kinematics import Joints

GOAL_TOLERANCE_RAD = 0.001
SUCCEEDED = 4
"""``action_msgs/GoalStatus.STATUS_SUCCEEDED``."""
MOVEIT_SUCCESS = 1


class Way(Protocol):
    """How set points reach the arm."""

    def send(self, trajectory: Trajectory) -> None:
        """Begin to move."""

    def ended(self) -> Ended | None:
        """How the motion ended, as far as the controller says so; None where it says nothing."""

    def hold(self, q: Joints) -> None:
        """Stop at once; ``q`` is where the arm is."""


class Grip(Protocol):
    """How the gripper is told where to go."""

    def send(self, position: float, max_effort: float) -> None:
        """Bring the gripper's joint to a position."""


def make_way(node: Node, config: ArmConfig) -> Way:
    """The way that the arm's file names. Raises WorldError where its messages are not there."""
    if config.ros["motion"] == "action":
        return ActionWay(node, config)
    return MoveItWay(node, config) if config.ros["motion"] == "moveit" else TopicWay(node, config)


def make_grip(node: Node, config: ArmConfig) -> Grip:
    """The gripper's way that the arm's file names. Raises WorldError as ``make_way``."""
    if config.ros["gripper"] == "topic":
        return TopicGrip(node, config)
    return ActionGrip(node, config)


def from_apt(package: str, module: str, name: str) -> Any:
    """A type of messages that come from apt. Raises WorldError, which names the package."""
    try:
        return getattr(importlib.import_module(f"{package}.{module}"), name)
    except ImportError as error:
        distro = os.environ.get("ROS_DISTRO", "kilted")
        raise WorldError(
            f"the arm's file asks for {package}, which is not installed: sudo apt-get install "
            f"ros-{distro}-{package.replace('_', '-')}, or choose topic"
        ) from error


class TopicWay:
    """A joint trajectory controller's topic. It says nothing of how a motion ends."""

    def __init__(self, node: Node, config: ArmConfig) -> None:
        self.config = config
        self._topic = node.create_publisher(
            JointTrajectory, config.ros["trajectory_topic"], COMMAND
        )

    def send(self, trajectory: Trajectory) -> None:
        self._topic.publish(trajectory_msg(self.config.joints, trajectory))

    def ended(self) -> Ended | None:
        return None

    def hold(self, q: Joints) -> None:
        self._topic.publish(hold_msg(self.config.joints, q, self.config.control_period_s))


class _Goals:
    """One action's goals, one at a time, told from any thread while the node is spun."""

    def __init__(self, node: Node, kind: Any, name: str, timeout_s: float) -> None:
        self.name = name
        self.timeout_s = timeout_s
        self._client = ActionClient(node, kind, name)
        self._lock = threading.Lock()
        self._number = 0
        self._handle: Any = None
        self._result: Any = None
        self._cancelled = False

    def send(self, goal: Any) -> None:
        """Raises WorldError where the action's server is not there."""
        if not self._client.wait_for_server(timeout_sec=self.timeout_s):
            raise WorldError(f"the action {self.name} is not there: is its controller running?")
        with self._lock:
            self._number += 1
            self._handle, self._result, self._cancelled = None, None, False
            number = self._number
        future = self._client.send_goal_async(goal)
        future.add_done_callback(lambda done: self._accepted(number, done.result()))

    def _accepted(self, number: int, handle: Any) -> None:
        with self._lock:
            if number != self._number:
                return
            if not handle.accepted:
                self._result = False
                return
            self._handle, cancel = handle, self._cancelled
        handle.get_result_async().add_done_callback(
            lambda done: self._finished(number, done.result())
        )
        if cancel:
            handle.cancel_goal_async()

    def _finished(self, number: int, result: Any) -> None:
        with self._lock:
            if number == self._number:
                self._result = result

    def result(self) -> Any:
        """What the server answered: its result, False where the goal was rejected, None yet."""
        with self._lock:
            return self._result

    def cancel(self) -> None:
        with self._lock:
            self._cancelled, handle = True, self._handle
        if handle is not None:
            handle.cancel_goal_async()


class ActionWay:
    """A joint trajectory controller's action, ``follow_joint_trajectory``."""

    def __init__(self, node: Node, config: ArmConfig) -> None:
        self.config = config
        self._kind = from_apt("control_msgs", "action", "FollowJointTrajectory")
        name, timeout_s = config.ros["trajectory_action"], config.ros["timeout_s"]
        self._goals = _Goals(node, self._kind, name, timeout_s)

    def send(self, trajectory: Trajectory) -> None:
        goal = self._kind.Goal()
        goal.trajectory = trajectory_msg(self.config.joints, trajectory)
        self._goals.send(goal)

    def ended(self) -> Ended | None:
        result = self._goals.result()
        if result is None:
            return None
        fine = result and result.status == SUCCEEDED and result.result.error_code == 0
        return Ended.DONE if fine else Ended.BLOCKED

    def hold(self, q: Joints) -> None:
        # The controller holds its position once its goal is cancelled.
        self._goals.cancel()


class MoveItWay:
    """MoveIt: it plans the ways between places itself, and runs our straight lines."""

    def __init__(self, node: Node, config: ArmConfig) -> None:
        self.config = config
        self._move = from_apt("moveit_msgs", "action", "MoveGroup")
        self._execute = from_apt("moveit_msgs", "action", "ExecuteTrajectory")
        self._constraints = from_apt("moveit_msgs", "msg", "Constraints")
        self._joint = from_apt("moveit_msgs", "msg", "JointConstraint")
        timeout_s, name = config.ros["timeout_s"], config.ros["move_action"]
        beside = name.rpartition("/")[0]
        run = f"{beside}/execute_trajectory" if beside else "execute_trajectory"
        self._moves = _Goals(node, self._move, name, timeout_s)
        self._lines = _Goals(node, self._execute, run, timeout_s)
        self._last = self._moves

    def send(self, trajectory: Trajectory) -> None:
        if trajectory.straight:
            goal = self._execute.Goal()
            goal.trajectory.joint_trajectory = trajectory_msg(self.config.joints, trajectory)
            self._last = self._lines
        else:
            goal = self._move.Goal()
            request = goal.request
            request.group_name = self.config.ros["move_group"]
            request.num_planning_attempts = 3
            request.allowed_planning_time = 5.0
            request.max_velocity_scaling_factor = self.config.speed
            request.max_acceleration_scaling_factor = self.config.speed
            wanted = self._constraints()
            wanted.joint_constraints = [
                self._joint(
                    joint_name=name,
                    position=float(value),
                    tolerance_above=GOAL_TOLERANCE_RAD,
                    tolerance_below=GOAL_TOLERANCE_RAD,
                    weight=1.0,
                )
                for name, value in zip(self.config.joints, trajectory.positions[-1], strict=True)
            ]
            request.goal_constraints = [wanted]
            self._last = self._moves
        self._last.send(goal)

    def ended(self) -> Ended | None:
        result = self._last.result()
        if result is None:
            return None
        fine = result and result.result.error_code.val == MOVEIT_SUCCESS
        return Ended.DONE if fine else Ended.BLOCKED

    def hold(self, q: Joints) -> None:
        self._moves.cancel()
        self._lines.cancel()


class TopicGrip:
    """A gripper behind a joint trajectory controller's topic."""

    MOVES_IN_S = 0.3

    def __init__(self, node: Node, config: ArmConfig) -> None:
        self.config = config
        self._topic = node.create_publisher(JointTrajectory, config.ros["gripper_topic"], COMMAND)

    def send(self, position: float, max_effort: float) -> None:
        point = JointTrajectoryPoint(
            positions=[position], time_from_start=duration_msg(self.MOVES_IN_S)
        )
        self._topic.publish(
            JointTrajectory(joint_names=[self.config.gripper.joint], points=[point])
        )


class ActionGrip:
    """A gripper behind an action of either generation. How it ends is not asked for: a gripper
    that stalls may well have grasped, and where its joint stands says so."""

    def __init__(self, node: Node, config: ArmConfig) -> None:
        self.config = config
        self._parallel = config.ros["gripper"] == "parallel_gripper_command"
        name = "ParallelGripperCommand" if self._parallel else "GripperCommand"
        self._kind = from_apt("control_msgs", "action", name)
        action, timeout_s = config.ros["gripper_action"], config.ros["timeout_s"]
        self._goals = _Goals(node, self._kind, action, timeout_s)

    def send(self, position: float, max_effort: float) -> None:
        goal = self._kind.Goal()
        if self._parallel:
            goal.command.name = [self.config.gripper.joint]
            goal.command.position = [position]
            goal.command.effort = [max_effort]
        else:
            goal.command.position = position
            goal.command.max_effort = max_effort
        self._goals.send(goal)
