"""Where the hand is for joint positions, and joint positions for where the hand is to be.

Inverse kinematics by mink (differential, with the joint limits as constraints), always begun from
the same bent posture turned towards the target, so that one target gives one posture.
"""

from __future__ import annotations

import math
import threading

import numpy as np
import numpy.typing as npt

from good_ros.worlds.arm.config import ArmConfig
from good_ros.worlds.arm.options import arm_packages
from good_ros.worlds.arm.scene import arm_spec, engine

Joints = npt.NDArray[np.float64]
"""Six joint positions in rad, in the order of the arm's file."""

BENT = (-1.45, 1.75, -1.87, -math.pi / 2)
"""Shoulder lift, elbow and the first two of the wrist, with the hand pointing down."""
SHOULDER_M = 0.134
"""How far the hand is beside the arm's plane."""
TOLERANCE_M, TOLERANCE_RAD = 0.001, 0.01
ITERATIONS = 40


class Kinematics:
    """The arm alone, with the point between the fingers as its end."""

    def __init__(self, config: ArmConfig) -> None:
        self.config = config
        mujoco = engine()
        with arm_packages("the arm"):
            import mink
        self._mink, self._mujoco = mink, mujoco
        self.model = arm_spec().compile()
        self.model.jnt_range[:, 0] = config.limits.lower
        self.model.jnt_range[:, 1] = config.limits.upper
        self._site = self.model.site("pinch").id
        self._data = mujoco.MjData(self.model)
        self._lock = threading.Lock()
        self._configuration = mink.Configuration(self.model)
        self._task = mink.FrameTask("pinch", "site", 1.0, 0.3, lm_damping=1e-6)
        self._limit = mink.ConfigurationLimit(self.model, gain=0.95)

    def forward(self, q: Joints) -> tuple[Joints, Joints]:
        """The point between the fingers (3, m) and the hand's axes (3×3, columns)."""
        with self._lock:
            self._data.qpos[:] = q
            self._mujoco.mj_kinematics(self.model, self._data)
            position = np.array(self._data.site_xpos[self._site])
            return position, np.array(self._data.site_xmat[self._site]).reshape(3, 3)

    def point(self, q: Joints) -> Joints:
        """The point between the fingers (3, m)."""
        return self.forward(q)[0]

    def yaw(self, q: Joints) -> float:
        """The turn of a hand that points down, as of ``inverse`` (rad)."""
        axes = self.forward(q)[1]
        return math.atan2(axes[1, 0], axes[0, 0])

    def inverse(
        self, point: tuple[float, float, float], yaw: float, start: Joints | None = None
    ) -> Joints | None:
        """Joint positions with the hand pointing down at ``point`` (m), the fingers closing along
        the direction ``yaw`` (rad from x); None where the arm does not get there.

        ``start`` is where the search begins: for a line, the positions just before.
        """
        q = self._begin(point, yaw) if start is None else np.array(start, dtype=np.float64)
        lower, upper = self.model.jnt_range.T
        mink, configuration = self._mink, self._configuration
        turn = np.array(
            [
                [math.cos(yaw), math.sin(yaw), 0.0],
                [math.sin(yaw), -math.cos(yaw), 0.0],
                [0.0, 0.0, -1.0],
            ]
        )
        target = np.eye(4)
        target[:3, :3], target[:3, 3] = turn, point
        self._task.set_target(mink.SE3.from_matrix(target))
        configuration.update(np.clip(q, lower + 1e-6, upper - 1e-6))
        for _ in range(ITERATIONS):
            error = self._task.compute_error(configuration)
            if (
                np.linalg.norm(error[:3]) < TOLERANCE_M
                and np.linalg.norm(error[3:]) < TOLERANCE_RAD
            ):
                return np.array(configuration.q)
            try:
                velocity = mink.solve_ik(
                    configuration, [self._task], 1.0, "daqp", 1e-6, limits=[self._limit]
                )
            except mink.NoSolutionFound:
                return None
            configuration.integrate_inplace(velocity, 1.0)
        return None

    def _begin(self, point: tuple[float, float, float], yaw: float) -> Joints:
        distance = max(math.hypot(point[0], point[1]), SHOULDER_M + 0.05)
        pan = math.atan2(point[1], point[0]) - math.asin(SHOULDER_M / distance)
        # With the hand down the last joint turns it the other way.
        last = _wrapped(pan - yaw - math.pi / 2)
        return np.array([_wrapped(pan), *BENT, last])


def _wrapped(angle: float) -> float:
    """The angle from -π to π."""
    return math.atan2(math.sin(angle), math.cos(angle))
