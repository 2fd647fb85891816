"""A real arm behind ros2_control or MoveIt, as the behaviours need it; and its dry run.

Each has a node of its own that is spun by a thread of its own, so that ``stop`` is heard whatever
the rest of the process does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from visualization_msgs.msg import MarkerArray

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode
from good_ros.nodes.arm_messages import (
    joint_state_msg,
    poses_from_msg,
    seconds_of,
    things_msg,
    time_msg,
)
from good_ros.nodes.arm_ways import make_grip, make_way
from good_ros.nodes.qos import COMMAND, SENSOR
from good_ros.nodes.topics import STOP_TOPIC
from good_ros.worlds.arm.body import ArmState, Ended, Trajectory
from good_ros.worlds.arm.config import ArmConfig
from good_ros.worlds.arm.kinematics import Joints, Kinematics
from good_ros.worlds.arm.motion import ArmFailed, Motion, Target, beyond_limits
from good_ros.worlds.arm.scene import Pose, Thing
from good_ros.worlds.arm.sim import SimBody

AT_GOAL_RAD = 0.02
AT_REST_RAD_S = 0.02
LATE_S = 3.0
"""After a motion's time, until an arm that is not where it should be counts as blocked."""
SLOWEST = 20.0
"""By how much a simulated arm may be slower than the clock."""
GRIP_STILL_M = 0.0004
GRIP_STILL_S = 0.15
GRIP_LONGEST_S = 3.0
GRASPED_M = 0.006
"""Fingers that were told to close and are wider apart than this have something between them."""
IN_HAND_M = 0.05


class SpunNode:
    """A node that is spun by its own thread until ``close``."""

    def __init__(self, name: str, context: Context, namespace: str = "") -> None:
        # A name that a launch file gives to the process is the node's that it starts, not this
        # one's: two nodes of one name answer each other's services.
        own_name = ["--ros-args", "-r", f"__node:={name}"]
        self.node = Node(name, context=context, namespace=namespace or None, cli_args=own_name)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name=name, daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def _spin(self) -> None:
        try:
            self.executor.spin()
        except ExternalShutdownException:
            pass
        except Exception:
            # A shutdown may come between rclpy's check and its wait.
            if self.node.context.ok():
                raise

    def close(self) -> None:
        self.executor.shutdown(timeout_sec=2.0)
        self._thread.join(2.0)
        self.node.destroy_node()


class RosBody:
    """Implements ``worlds.arm.body.Body`` over the interfaces that the arm's file names.

    ``stop`` (std_msgs/Bool, true) halts from the node's own thread; false allows motion again.
    Times are those of the joint states' stamps, so that a simulated arm may be faster or slower.
    """

    def __init__(
        self, config: ArmConfig, things: Sequence[Thing], context: Context, namespace: str = ""
    ) -> None:
        self.config = config
        self.things = {thing.name: thing for thing in things}
        self.kinematics = Kinematics(config)
        self._changed = threading.Condition()
        self._halt = threading.Event()
        self._joints: dict[str, float] = {}
        self._speeds: dict[str, float] = {}
        self._stamp = self._things_stamp = -1.0
        self._poses: dict[str, Pose] = {}
        self._settled = 0.0
        """Stamp from which on what is seen counts: the end of the last motion."""
        self._closing = False
        self._spun = SpunNode("arm_driver", context, namespace)
        node, ros = self._spun.node, config.ros
        try:
            self._way, self._gripper = make_way(node, config), make_grip(node, config)
        except WorldError:
            node.destroy_node()
            raise
        node.create_subscription(JointState, ros["joint_states"], self._on_joints, SENSOR)
        node.create_subscription(MarkerArray, ros["things_topic"], self._on_things, COMMAND)
        node.create_subscription(Bool, STOP_TOPIC, self._on_stop, COMMAND)
        self._spun.begin()

    # What comes in, in the node's thread.

    def _on_joints(self, message: JointState) -> None:
        with self._changed:
            self._joints.update(zip(message.name, message.position, strict=False))
            self._speeds.update(zip(message.name, message.velocity, strict=False))
            self._stamp = seconds_of(message.header.stamp)
            self._changed.notify_all()

    def _on_things(self, message: MarkerArray) -> None:
        with self._changed:
            self._poses.update(poses_from_msg(message))
            if message.markers:
                self._things_stamp = seconds_of(message.markers[0].header.stamp)
            self._changed.notify_all()

    def _on_stop(self, message: Bool) -> None:
        if message.data:
            self.halt()
        else:
            self.go_on()

    # Looking.

    def state(self) -> ArmState:
        self._wait(
            lambda: self._sees_all() and min(self._stamp, self._things_stamp) >= self._settled,
            "joint states and things",
        )
        with self._changed:
            q, opening, poses = self._q(), self._opening(), dict(self._poses)
        return ArmState(q, opening, poses, self._held(q, opening, poses))

    def look_anew(self) -> None:
        """Let nothing count that was seen until now; for when the table is set by hand."""
        with self._changed:
            self._stamp = self._things_stamp = -1.0
            self._settled, self._closing = 0.0, False

    def _sees_all(self) -> bool:
        names = (*self.config.joints, self.config.gripper.joint)
        return set(names) <= set(self._joints) and set(self.things) <= set(self._poses)

    def _q(self) -> Joints:
        return np.array([self._joints[name] for name in self.config.joints])

    def _opening(self) -> float:
        return self.config.gripper.width(self._joints[self.config.gripper.joint])

    def _held(self, q: Joints, opening: float, poses: dict[str, Pose]) -> str | None:
        if not self._closing or opening < GRASPED_M:
            return None
        hand = self.kinematics.point(q)
        distances = {
            name: float(np.linalg.norm(hand - np.array(poses[name].position)))
            for name in self.things
        }
        nearest = min(distances, key=lambda name: distances[name])
        return nearest if distances[nearest] < IN_HAND_M else None

    # Moving.

    @property
    def halted(self) -> bool:
        return self._halt.is_set()

    def halt(self) -> None:
        self._halt.set()
        with self._changed:
            q = self._q() if set(self.config.joints) <= set(self._joints) else None
            self._changed.notify_all()
        if q is not None:
            self._way.hold(q)

    def go_on(self) -> None:
        self._halt.clear()

    def follow(self, trajectory: Trajectory) -> Ended:
        if problem := beyond_limits(self.kinematics, trajectory):
            raise ArmFailed(ErrorCode.UNREACHABLE, f"{problem}: not sent")
        if self._halt.is_set():
            return Ended.HALTED
        self._wait(lambda: set(self.config.joints) <= set(self._joints), "joint states")
        begin = self._stamp
        self._way.send(trajectory)
        if self._halt.is_set():
            # It came while the motion was sent off.
            self.halt()
        goal = trajectory.positions[-1]

        def is_over() -> bool:
            after = self._stamp - begin
            still = all(abs(self._speeds.get(n, 0.0)) < AT_REST_RAD_S for n in self.config.joints)
            there = bool(np.abs(self._q() - goal).max() < AT_GOAL_RAD)
            said = self._way.ended()
            return (
                self._halt.is_set()
                or (still and there and (said is Ended.DONE or after > trajectory.duration))
                or said is Ended.BLOCKED
                or after > trajectory.duration + LATE_S
            )

        self._wait(is_over, "the end of a motion", SLOWEST * trajectory.duration)
        with self._changed:
            self._settled = self._stamp
            there = bool(np.abs(self._q() - goal).max() < AT_GOAL_RAD)
        if self._halt.is_set():
            return Ended.HALTED
        if there:
            return Ended.DONE
        self._way.hold(self._q())
        return Ended.BLOCKED

    def grip(self, opening: float) -> Ended:
        if self._halt.is_set():
            return Ended.HALTED
        gripper = self.config.gripper
        self._wait(lambda: gripper.joint in self._joints, "joint states")
        begin = self._stamp
        self._gripper.send(gripper.position(opening), gripper.max_effort)
        self._closing = opening < gripper.opening / 2
        last = (self._opening(), begin)

        def is_over() -> bool:
            nonlocal last
            if abs(self._opening() - last[0]) > GRIP_STILL_M:
                last = (self._opening(), self._stamp)
            still_s, after = self._stamp - last[1], self._stamp - begin
            # It takes a moment until it begins to move.
            done = still_s > GRIP_STILL_S and after > 2 * GRIP_STILL_S
            return self._halt.is_set() or done or after > GRIP_LONGEST_S

        self._wait(is_over, "the gripper")
        self._settled = self._stamp
        return Ended.HALTED if self._halt.is_set() else Ended.DONE

    def _wait(self, condition: Callable[[], bool], what: str, more_s: float = 0.0) -> None:
        """Until something holds, looked at with every message. Raises WorldError where it does not
        within ``timeout_s`` and ``more_s``."""
        longest_s = self.config.ros["timeout_s"] + more_s
        with self._changed:
            if not self._changed.wait_for(condition, longest_s):
                raise WorldError(
                    f"the arm waited {longest_s:g} s for {what}: are its controller and what sees "
                    f"the things running ({self.config.ros['joint_states']}, "
                    f"{self.config.ros['things_topic']})?"
                )

    def close(self) -> None:
        self._spun.close()


class DryRunBody(SimBody):
    """Shows on RViz what would be done, and commands nothing: the motions are done in physics,
    and published as ``dry_run/joint_states`` and ``dry_run/things``."""

    EVERY = 4
    """Control periods between two messages."""

    def __init__(
        self, config: ArmConfig, things: Sequence[Thing], context: Context, namespace: str = ""
    ) -> None:
        super().__init__(config, things)
        self._spun = SpunNode("arm_dry_run", context, namespace)
        node = self._spun.node
        self._joints_shown = node.create_publisher(JointState, "dry_run/joint_states", SENSOR)
        self._things_shown = node.create_publisher(MarkerArray, "dry_run/things", COMMAND)
        node.create_subscription(
            Bool, STOP_TOPIC, lambda m: self.halt() if m.data else self.go_on(), COMMAND
        )
        self._ticks = 0
        home = Motion(config, self.model).solve(Target(*config.home, config.travel_height, 0.0))
        self.start(home, {thing.name: thing.pose for thing in things})
        self.on_tick = self._show
        self._spun.begin()

    def _show(self, setpoint: Joints) -> None:
        self._ticks += 1
        if self._ticks % self.EVERY:
            return
        stamp = time_msg(self._ticks * self.period_s)
        gripper = self.config.gripper
        positions = dict(zip(self.config.joints, self.q, strict=True))
        positions[gripper.joint] = gripper.position(self.opening)
        speeds = dict(zip(self.config.joints, self.speed, strict=True))
        self._joints_shown.publish(joint_state_msg(stamp, positions, speeds))
        self._things_shown.publish(things_msg(stamp, self.things, self.poses()))

    def close(self) -> None:
        self._spun.close()
