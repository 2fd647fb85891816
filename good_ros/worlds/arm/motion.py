"""Paths for the hand that reach a point, keep to the limits and hit nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from good_ros.core.plan import ErrorCode
from good_ros.worlds.arm.body import ArmState, Trajectory
from good_ros.worlds.arm.config import ArmConfig
from good_ros.worlds.arm.kinematics import Joints, Kinematics
from good_ros.worlds.arm.scene import engine, set_fingers

LINE_STEP_M = 0.02
CHECK_STEP_RAD = 0.06
SAMPLE_S = 0.04
PEAK = 1.875
"""Highest speed of the quintic time law over its mean speed."""
TOUCH_M = 0.0015
"""Things that touch this deep are not said to collide: what stands on a table touches it."""
ROUNDING = 1e-6
SLACK_M = 0.002
"""Between two points that are checked the hand may be so far beyond the workspace."""
JUMP_RAD = 0.6
"""Between two points of a line, or the arm would have to turn over."""


class ArmFailed(Exception):
    """What was asked for was not done, with its code and a line for people."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Target:
    """Where the point between the fingers (m) is to be, with which turn of the hand (rad)."""

    x: float
    y: float
    z: float
    yaw: float

    @property
    def point(self) -> tuple[float, float, float]:
        return (self.x, self.y, self.z)


class Motion:
    """Plans from a state of the arm; ``model`` is the whole scene, for collisions."""

    def __init__(self, config: ArmConfig, model: Any) -> None:
        self.config = config
        self.kinematics = Kinematics(config)
        self.model = model
        self._mujoco = engine()
        self._data = self._mujoco.MjData(model)
        self._arm = [int(model.joint(name).qposadr[0]) for name in config.joints]
        root = model.body("shoulder_link").id
        self._robot = {i for i in range(model.nbody) if _descends(model, i, root)}

    # Targets.

    def solve(self, target: Target, near: Joints | None = None) -> Joints:
        """Joint positions for a target; the hand may be turned by half a turn, which closes the
        fingers just as well. Raises ArmFailed UNREACHABLE."""
        self._check_point(target.point)
        found = []
        for yaw in (target.yaw, target.yaw + np.pi):
            q = self.kinematics.inverse(target.point, yaw)
            if q is not None and self._within(q):
                found.append(q)
        if not found:
            raise ArmFailed(
                ErrorCode.UNREACHABLE,
                f"({target.x:.2f}, {target.y:.2f}, {target.z:.2f}) is out of the arm's reach",
            )
        centre = near if near is not None else found[0]
        return min(found, key=lambda q: float(np.abs(q - centre).max()))

    def line(self, start: Joints, target: Target) -> list[Joints]:
        """Joint positions along a straight line of the hand from ``start``, which it keeps its
        turn on. Raises ArmFailed UNREACHABLE."""
        self._check_point(target.point)
        begin, yaw = self.kinematics.point(start), self.kinematics.yaw(start)
        end = np.array(target.point)
        count = max(int(np.ceil(np.linalg.norm(end - begin) / LINE_STEP_M)), 1)
        path = [start]
        for i in range(1, count + 1):
            x, y, z = begin + (end - begin) * i / count
            q = self.kinematics.inverse((x, y, z), yaw, path[-1])
            if q is None or not self._within(q) or np.abs(q - path[-1]).max() > JUMP_RAD:
                raise ArmFailed(
                    ErrorCode.UNREACHABLE, f"the arm cannot go straight to {_words(target)}"
                )
            path.append(q)
        return path

    def _check_point(self, point: Sequence[float]) -> None:
        for axis, value in zip("xyz", point, strict=True):
            low, high = self.config.limits.workspace[axis]
            if not low <= value <= high:
                raise ArmFailed(
                    ErrorCode.UNREACHABLE,
                    f"{axis} = {value:.2f} m is outside of the workspace ({low:g} to {high:g})",
                )

    def _is_outside(self, point: Joints) -> bool:
        box = self.config.limits.workspace
        return any(
            not box[axis][0] <= value <= box[axis][1]
            for axis, value in zip("xyz", point, strict=True)
        )

    def _within(self, q: Joints) -> bool:
        limits = self.config.limits
        return bool(np.all(q >= limits.lower) and np.all(q <= limits.upper))

    # Collisions.

    def clear(self, state: ArmState, path: Sequence[Joints], ignored: str = "") -> str:
        """What the arm, or what it holds, would hit on a path; empty where nothing. ``ignored``
        may be touched."""
        self._place(state)
        held = state.held
        relative = self._grip(state) if held else None
        for q in _dense(path):
            if self._is_outside(self.kinematics.point(q)):
                return "the edge of the workspace"
            self._set_arm(q, state.opening)
            if held and relative is not None:
                self._carry(held, relative)
            self._mujoco.mj_kinematics(self.model, self._data)
            self._mujoco.mj_comPos(self.model, self._data)
            self._mujoco.mj_collision(self.model, self._data)
            if hit := self._hit(held or "", ignored):
                return hit
        return ""

    def _place(self, state: ArmState) -> None:
        for name, pose in state.things.items():
            address = int(self.model.joint(name).qposadr[0])
            self._data.qpos[address : address + 3] = pose.position
            self._data.qpos[address + 3 : address + 7] = pose.turn

    def _set_arm(self, q: Joints, opening: float) -> None:
        self._data.qpos[self._arm] = q
        set_fingers(self.model, self._data.qpos, opening / self.config.gripper.opening)

    def _grip(self, state: ArmState) -> tuple[Any, Any]:
        """Where the held thing is as the hand sees it: place and turn."""
        assert state.held is not None
        point, axes = self.kinematics.forward(state.q)
        pose = state.things[state.held]
        turn = np.zeros(9)
        self._mujoco.mju_quat2Mat(turn, np.array(pose.turn))
        return axes.T @ (np.array(pose.position) - point), axes.T @ turn.reshape(3, 3)

    def _carry(self, held: str, relative: tuple[Any, Any]) -> None:
        point, axes = self.kinematics.forward(self._data.qpos[self._arm])
        address = int(self.model.joint(held).qposadr[0])
        quaternion = np.zeros(4)
        self._mujoco.mju_mat2Quat(quaternion, (axes @ relative[1]).reshape(9))
        self._data.qpos[address : address + 3] = point + axes @ relative[0]
        self._data.qpos[address + 3 : address + 7] = quaternion

    def _hit(self, held: str, ignored: str) -> str:
        robot, model = self._robot, self.model
        contacts = self._data.contact
        for i in range(self._data.ncon):
            if contacts.dist[i] > -TOUCH_M:
                continue
            first, second = (int(model.geom_bodyid[g]) for g in contacts.geom[i])
            names = [self._name(int(g)) for g in contacts.geom[i]]
            moving = [b in robot or n == held for b, n in ((first, names[0]), (second, names[1]))]
            if all(moving) or not any(moving):
                continue
            other = names[moving.index(False)]
            if other != ignored:
                return other
        return ""

    def _name(self, geom: int) -> str:
        body = int(self.model.geom_bodyid[geom])
        return str(self.model.body(body).name) if body else str(self.model.geom(geom).name)

    # Time.

    def timed(self, path: Sequence[Joints], slower: float = 1.0) -> Trajectory:
        """The path with a quintic time law as fast as the joints' speeds allow, times ``speed``
        and ``slower``; it never leaves the limits."""
        points = np.array(path)
        steps = np.diff(points, axis=0)
        lengths = np.abs(steps).max(axis=1)
        keep = np.concatenate([[True], lengths > 1e-6])
        points = points[keep]
        if len(points) < 2:
            zero = np.zeros((2, len(self.config.joints)))
            both = np.array([path[0], path[0]])
            return Trajectory(np.array([0.0, SAMPLE_S]), both, zero)
        steps = np.diff(points, axis=0)
        lengths = np.abs(steps).max(axis=1)
        knots = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
        slopes = steps / np.diff(knots)[:, None]
        fastest = np.array(self.config.limits.velocity) * self.config.speed * slower
        duration = max(float((np.abs(slopes) / fastest).max()) * PEAK, 0.2)
        count = max(int(np.ceil(duration / SAMPLE_S)), 4)
        times = np.linspace(0.0, duration, count + 1)
        u = times / duration
        s = u**3 * (10 - 15 * u + 6 * u**2)
        ds = 30 * u**2 * (1 - u) ** 2 / duration
        segment = np.clip(np.searchsorted(knots, s, side="right") - 1, 0, len(steps) - 1)
        positions = points[segment] + slopes[segment] * (s - knots[segment])[:, None]
        return Trajectory(times, positions, slopes[segment] * ds[:, None], len(path) > 2)


def beyond_limits(kinematics: Kinematics, trajectory: Trajectory) -> str:
    """What a trajectory would exceed, in words; empty where it keeps to every limit.

    Looked at as the controller would follow it, every SAMPLE_S / 2 seconds.
    """
    config, limits = kinematics.config, kinematics.config.limits
    lower, upper = np.array(limits.lower) - ROUNDING, np.array(limits.upper) + ROUNDING
    fastest = np.array(limits.velocity) * config.speed + ROUNDING
    for time in np.arange(0.0, trajectory.duration + SAMPLE_S, SAMPLE_S / 2):
        q, speed = trajectory.at(float(time))
        if not np.isfinite(q).all():
            return "a joint's position is no number"
        for i in np.flatnonzero((q < lower) | (q > upper)):
            return f"{config.joints[i]} would go to {q[i]:.2f} rad"
        for i in np.flatnonzero(np.abs(speed) > fastest):
            return f"{config.joints[i]} would turn at {speed[i]:.2f} rad/s"
        for axis, value in zip("xyz", kinematics.point(q), strict=True):
            low, high = limits.workspace[axis]
            if not low - SLACK_M <= value <= high + SLACK_M:
                return f"the hand would go to {axis} = {value:.3f} m"
    return ""


def _dense(path: Sequence[Joints]) -> Iterator[Joints]:
    """Points along a path that are close enough to each other to be looked at one by one."""
    for start, end in pairwise(path):
        count = max(int(np.ceil(float(np.abs(end - start).max()) / CHECK_STEP_RAD)), 1)
        for i in range(1, count + 1):
            yield start + (end - start) * (i / count)


def _descends(model: Any, body: int, root: int) -> bool:
    while body:
        if body == root:
            return True
        body = int(model.body_parentid[body])
    return False


def _words(target: Target) -> str:
    return f"({target.x:.2f}, {target.y:.2f}, {target.z:.2f})"
