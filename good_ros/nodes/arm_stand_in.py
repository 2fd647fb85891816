"""A stand-in for a real arm's controllers: ros2_control's interfaces in front of MuJoCo.

It takes what a joint trajectory controller and a gripper's controller take, by topic, and
publishes joint states and what a camera would see. It shows that the arm's driver works; it is
not a robot.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Sequence

import numpy as np
import rclpy
from rclpy.context import Context
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from good_ros.nodes.arm_body import SpunNode
from good_ros.nodes.arm_messages import (
    joint_state_msg,
    things_msg,
    time_msg,
    trajectory_from_msg,
)
from good_ros.nodes.qos import COMMAND, SENSOR
from good_ros.worlds.arm.body import Trajectory
from good_ros.worlds.arm.config import ArmConfig, load_config
from good_ros.worlds.arm.kinematics import Joints
from good_ros.worlds.arm.motion import Motion, Target
from good_ros.worlds.arm.sim import OFF_PATH_RAD, SimBody
from good_ros.worlds.arm.world import ArmWorld

JOINTS_EVERY, THINGS_EVERY = 2, 12
"""Control periods between two messages."""


class StandInController:
    """The controllers and the table. ``tick`` is one control period; ``run`` does them until
    ``close``, ``rate`` times as fast as the clock (0: as fast as they go).

    ``ticks`` counts them, ``setpoints`` keeps the last ones (6, rad), newest last.
    """

    KEPT = 4000

    def __init__(
        self,
        config: ArmConfig,
        context: Context,
        namespace: str = "",
        scene: str = "lunch_bag",
        rate: float = 0.0,
    ) -> None:
        self.config = config
        self.rate = rate
        self._table = ArmWorld(config)
        self._table.reset(scene)
        body = self._table.body
        assert isinstance(body, SimBody)
        self.body: SimBody = body
        self._home = Motion(config, body.model).solve(
            Target(*config.home, config.travel_height, 0.0)
        )
        self._lock = threading.Lock()
        self._trajectory: Trajectory | None = None
        self._began = 0.0
        self.ticks = 0
        self.received = 0
        """Trajectories that were taken."""
        self.setpoints: list[Joints] = []
        self._paused = threading.Event()
        self._thread: threading.Thread | None = None
        self._spun = SpunNode("arm_stand_in", context, namespace)
        node, ros = self._spun.node, config.ros
        self.log = node.get_logger()
        self._joints = node.create_publisher(JointState, ros["joint_states"], SENSOR)
        self._things = node.create_publisher(MarkerArray, ros["things_topic"], COMMAND)
        node.create_subscription(
            JointTrajectory, ros["trajectory_topic"], self._on_trajectory, COMMAND
        )
        node.create_subscription(JointTrajectory, ros["gripper_topic"], self._on_gripper, COMMAND)
        self._spun.begin()

    @property
    def now(self) -> float:
        """Seconds of simulated time since the start."""
        return self.ticks * self.body.period_s

    def set_table(self, scene: str, seed: int = 0) -> None:
        """Set the things anew, with the arm at home: by a hand that is not the arm's."""
        with self._lock:
            self._trajectory = None
            self._table.reset(scene, seed)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        with self._lock:
            try:
                trajectory = trajectory_from_msg(message, self.config.joints, self.body.setpoint)
            except ValueError as error:
                self.log.error(f"a trajectory is refused: {error}")
                return
            # It replaces what was under way, from the next control period on.
            self._trajectory, self._began = trajectory, self.now
            self.received += 1

    def _on_gripper(self, message: JointTrajectory) -> None:
        if not message.points or list(message.joint_names) != [self.config.gripper.joint]:
            self.log.error("a trajectory of the gripper is refused: it needs one point, its joint")
            return
        with self._lock:
            position = float(message.points[-1].positions[0])
            self.body.command_fingers(self.config.gripper.width(position))

    def tick(self) -> None:
        """One control period."""
        with self._lock:
            self.ticks += 1
            if self._trajectory is None:
                self.body.tick(self.body.setpoint, np.zeros_like(self.body.setpoint))
            else:
                self.body.tick(*self._trajectory.at(self.now - self._began))
                if self.now - self._began >= self._trajectory.duration:
                    self._trajectory = None
                if np.abs(self.body.q - self.body.setpoint).max() > OFF_PATH_RAD:
                    self._trajectory = None
                    self.body.setpoint = self.body.q
            self.setpoints.append(self.body.setpoint.copy())
            del self.setpoints[: -self.KEPT]
            self._publish()

    def _publish(self) -> None:
        stamp = time_msg(self.now)
        if self.ticks % JOINTS_EVERY == 0:
            gripper = self.config.gripper
            positions = dict(zip(self.config.joints, self.body.q, strict=True))
            positions[gripper.joint] = gripper.position(self.body.opening)
            speeds = dict(zip(self.config.joints, self.body.speed, strict=True))
            self._joints.publish(joint_state_msg(stamp, positions, speeds))
        if self.ticks % THINGS_EVERY == 0:
            self._things.publish(things_msg(stamp, self.body.things, self.body.poses()))

    def run(self) -> None:
        """Do control periods in a thread of their own."""
        self._paused.clear()
        self._thread = threading.Thread(target=self._run, name="arm stand-in", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Do no more of them until ``run``."""
        self._paused.set()
        if self._thread:
            self._thread.join(5.0)

    def _run(self) -> None:
        begin, first = time.monotonic(), self.ticks
        while not self._paused.is_set():
            self.tick()
            if self.rate:
                due = begin + (self.ticks - first) * self.body.period_s / self.rate
                self._paused.wait(max(due - time.monotonic(), 0.0))
            elif self.ticks % JOINTS_EVERY == 0:
                # Let the thread that hears commands have its turn.
                self._paused.wait(0.0005)

    def close(self) -> None:
        self.pause()
        self._spun.close()


def main(args: Sequence[str] | None = None) -> int:
    """``python -m good_ros.nodes.arm_stand_in``: the stand-in in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arm-file", default="", help="the arm's YAML file")
    parser.add_argument("--scene", default="lunch_bag", help="the scene that is set")
    parser.add_argument("--rate", type=float, default=1.0, help="times as fast as the clock")
    options = parser.parse_args(args)
    return run(options.arm_file, options.scene, options.rate)


def run(arm_file: str, scene: str, rate: float) -> int:
    """The stand-in until Ctrl-C; the exit code."""
    context = Context()
    rclpy.init(context=context)
    controller = StandInController(load_config(arm_file), context, scene=scene, rate=rate)
    controller.run()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        controller.close()
        context.try_shutdown()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
