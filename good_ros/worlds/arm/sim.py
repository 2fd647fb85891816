"""The arm in MuJoCo's physics, moved by set points once a control period."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from good_ros.worlds.arm.body import ArmState, Ended, Trajectory
from good_ros.worlds.arm.config import ArmConfig
from good_ros.worlds.arm.kinematics import Joints
from good_ros.worlds.arm.scene import (
    CLOSED_ANGLE,
    GRIPPER,
    PADS,
    Pose,
    Thing,
    engine,
    scene_model,
    set_fingers,
)

OFF_PATH_RAD = 0.2
"""As far off its set point the arm is taken to be stopped by something."""
AT_REST_RAD_S = 0.01
SETTLE_S = 0.6
"""Longest time that the arm is given to come to rest after a motion."""
GRIP_S = 1.2
FINGERS_RANGE = 255.0
DAMPING_OVER_STIFFNESS_S = 0.2
"""Of the arm's position servos: with the speed fed forward by it they follow without a lag."""


@dataclass(frozen=True)
class Saved:
    """The physics' whole state, and the set point in force."""

    physics: npt.NDArray[np.float64]
    setpoint: Joints


class SimBody:
    """Implements ``body.Body``; deterministic: the same state and the same calls give the same
    result to the last bit.

    ``on_tick`` is called after every control period with the set point (6, rad) that was in
    force in it.
    """

    def __init__(self, config: ArmConfig, things: Sequence[Thing]) -> None:
        self.config = config
        self.things = {thing.name: thing for thing in things}
        self._mujoco = engine()
        self.model = scene_model(tuple(things), tuple(config.places.values()))
        self.data = self._mujoco.MjData(self.model)
        self._arm = [int(self.model.joint(name).qposadr[0]) for name in config.joints]
        self._arm_speed = [int(self.model.joint(name).dofadr[0]) for name in config.joints]
        self._servos = [self._servo(name) for name in config.joints]
        self._fingers = self.model.actuator(f"{GRIPPER}fingers_actuator").id
        self._driver = int(self.model.joint(f"{GRIPPER}right_driver_joint").qposadr[0])
        self._driver_speed = int(self.model.joint(f"{GRIPPER}right_driver_joint").dofadr[0])
        self._pads = [frozenset(self.model.geom(name).id for name in names) for names in PADS]
        self._steps = max(round(config.control_period_s / self.model.opt.timestep), 1)
        self.period_s = self._steps * self.model.opt.timestep
        self._halt = threading.Event()
        self._lock = threading.RLock()
        """Held for one control period at most, so that any thread can look meanwhile."""
        self.setpoint: Joints = np.zeros(len(config.joints))
        self.mistakes: dict[str, tuple[float, float]] = {}
        """By thing, how far off (m) the arm takes it to be: a fault that is put in."""
        self.on_tick: Callable[[Joints], None] = lambda setpoint: None

    def _servo(self, joint: str) -> int:
        number = self.model.joint(joint).id
        for i in range(self.model.nu):
            if self.model.actuator_trnid[i, 0] == number:
                return i
        raise ValueError(f"the joint {joint} has no servo")

    # Setting up.

    def start(
        self, q: Joints, poses: Mapping[str, Pose], opening: float | None = None, held: str = ""
    ) -> None:
        """The arm at rest at ``q`` and the things where they are said to be, once all has come
        to rest; the fingers open, or at ``opening`` (m) around what they hold."""
        with self._lock:
            self._mujoco.mj_resetData(self.model, self.data)
            self.data.qpos[self._arm] = q
            for name, pose in poses.items():
                self.put(name, pose)
            self.setpoint = np.array(q, dtype=np.float64)
            self.data.ctrl[self._servos] = self.setpoint
            if opening is not None:
                set_fingers(self.model, self.data.qpos, opening / self.config.gripper.opening)
                self.command_fingers(0.0 if held else opening)
            self._mujoco.mj_forward(self.model, self.data)
        self._rest(SETTLE_S)
        self.data.time = 0.0

    def put(self, name: str, pose: Pose) -> None:
        """A thing somewhere else, as by a hand that is not the arm's."""
        address = int(self.model.joint(name).qposadr[0])
        self.data.qpos[address : address + 7] = (*pose.position, *pose.turn)
        speed = int(self.model.joint(name).dofadr[0])
        self.data.qvel[speed : speed + 6] = 0.0

    def save(self) -> Saved:
        """The whole state, for ``load``."""
        kind = self._mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.zeros(self._mujoco.mj_stateSize(self.model, kind))
        self._mujoco.mj_getState(self.model, self.data, state, kind)
        state.setflags(write=False)
        return Saved(state, self.setpoint.copy())

    def load(self, saved: Saved) -> None:
        """Back to what ``save`` gave, to the last bit."""
        kind = self._mujoco.mjtState.mjSTATE_INTEGRATION
        with self._lock:
            self._mujoco.mj_setState(self.model, self.data, saved.physics, kind)
            self.setpoint = saved.setpoint.copy()
            self._mujoco.mj_forward(self.model, self.data)

    # Looking.

    def state(self) -> ArmState:
        with self._lock:
            return ArmState(self.q, self.opening, self.poses(), self.held())

    @property
    def q(self) -> Joints:
        return np.array(self.data.qpos[self._arm])

    @property
    def speed(self) -> Joints:
        return np.array(self.data.qvel[self._arm_speed])

    @property
    def opening(self) -> float:
        share = 1.0 - float(self.data.qpos[self._driver]) / CLOSED_ANGLE
        return min(max(share, 0.0), 1.0) * self.config.gripper.opening

    def poses(self) -> dict[str, Pose]:
        """The things where they are taken to be."""
        result = {}
        for name in self.things:
            address = int(self.model.joint(name).qposadr[0])
            x, y, z, *turn = (float(v) for v in self.data.qpos[address : address + 7])
            by_x, by_y = self.mistakes.get(name, (0.0, 0.0))
            result[name] = Pose((x + by_x, y + by_y, z), (turn[0], turn[1], turn[2], turn[3]))
        return result

    def held(self) -> str | None:
        """What both fingers touch."""
        touched: list[set[str]] = [set(), set()]
        contacts = self.data.contact
        for i in range(self.data.ncon):
            pair = [int(g) for g in contacts.geom[i]]
            for side, pads in enumerate(self._pads):
                for one, other in (pair, pair[::-1]):
                    if one in pads:
                        name = self.model.geom(other).name
                        if name in self.things:
                            touched[side].add(name)
        both = sorted(touched[0] & touched[1])
        return both[0] if both else None

    # Moving.

    @property
    def halted(self) -> bool:
        return self._halt.is_set()

    def halt(self) -> None:
        self._halt.set()

    def go_on(self) -> None:
        self._halt.clear()

    def follow(self, trajectory: Trajectory) -> Ended:
        time = 0.0
        while time < trajectory.duration:
            if self._halt.is_set():
                self._hold()
                return Ended.HALTED
            time += self.period_s
            self.tick(*trajectory.at(time))
            if np.abs(self.q - self.setpoint).max() > OFF_PATH_RAD:
                self._hold()
                return Ended.BLOCKED
        self._rest(SETTLE_S)
        return Ended.HALTED if self._halt.is_set() else Ended.DONE

    def tick(self, position: Joints, velocity: Joints) -> None:
        """One control period towards a set point (rad, rad/s)."""
        with self._lock:
            self.setpoint = np.array(position)
            self.data.ctrl[self._servos] = position + DAMPING_OVER_STIFFNESS_S * velocity
            for _ in range(self._steps):
                self._mujoco.mj_step(self.model, self.data)
        self.on_tick(self.setpoint)

    def _hold(self) -> None:
        """Stay where the arm is: no set point beyond comes any more."""
        here = self.q
        for _ in range(round(SETTLE_S / self.period_s)):
            self.tick(here, np.zeros_like(here))
            if np.abs(self.speed).max() < AT_REST_RAD_S:
                break

    def _rest(self, longest_s: float) -> None:
        still = np.zeros_like(self.setpoint)
        for _ in range(round(longest_s / self.period_s)):
            self.tick(self.setpoint, still)
            if self._halt.is_set() or (
                np.abs(self.speed).max() < AT_REST_RAD_S
                and np.abs(self.q - self.setpoint).max() < AT_REST_RAD_S
            ):
                break

    def grip(self, opening: float) -> Ended:
        if self._halt.is_set():
            return Ended.HALTED
        self.command_fingers(opening)
        still, quiet = np.zeros_like(self.setpoint), 0
        for _ in range(round(GRIP_S / self.period_s)):
            self.tick(self.setpoint, still)
            if self._halt.is_set():
                return Ended.HALTED
            quiet = quiet + 1 if abs(self.data.qvel[self._driver_speed]) < 0.02 else 0
            if quiet > 12:
                break
        return Ended.DONE

    def command_fingers(self, opening: float) -> None:
        """Where the fingers are to go (m), from the next control period on."""
        share = 1.0 - min(max(opening / self.config.gripper.opening, 0.0), 1.0)
        self.data.ctrl[self._fingers] = FINGERS_RANGE * share

    def close(self) -> None:
        """Nothing is held outside of this process."""
