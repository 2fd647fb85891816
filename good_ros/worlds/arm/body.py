"""What the behaviours need of an arm, whether in physics or behind a controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from good_ros.worlds.arm.kinematics import Joints
from good_ros.worlds.arm.scene import Pose


@dataclass(frozen=True)
class Trajectory:
    """Joint positions (n×6, rad) and velocities (n×6, rad/s) at times (n, s) from its start.

    It begins and ends at rest.
    """

    times: npt.NDArray[np.float64]
    positions: npt.NDArray[np.float64]
    velocities: npt.NDArray[np.float64]
    straight: bool = False
    """Whether the hand has to keep to a line on the way."""

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    def at(self, time: float) -> tuple[Joints, Joints]:
        """Position and velocity at a time, by cubic splines between the points, as a joint
        trajectory controller does."""
        if time >= self.duration:
            return self.positions[-1], np.zeros_like(self.positions[-1])
        i = max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)
        step = self.times[i + 1] - self.times[i]
        s = (time - self.times[i]) / step
        p0, p1 = self.positions[i], self.positions[i + 1]
        v0, v1 = self.velocities[i] * step, self.velocities[i + 1] * step
        a, b = 2 * p0 - 2 * p1 + v0 + v1, -3 * p0 + 3 * p1 - 2 * v0 - v1
        return ((a * s + b) * s + v0) * s + p0, ((3 * a * s + 2 * b) * s + v0) / step


class Ended(Enum):
    """How a motion ended."""

    DONE = "done"
    HALTED = "halted"
    BLOCKED = "blocked"
    """The arm could not follow: something is in its way."""


@dataclass(frozen=True)
class ArmState:
    """The arm and the things now; ``opening`` of the gripper in metres."""

    q: Joints
    opening: float
    things: Mapping[str, Pose]
    held: str | None


class Body(Protocol):
    """An arm with a gripper, and eyes for the things. Raises WorldError where it is lost."""

    def state(self) -> ArmState:
        """What is so now."""

    def follow(self, trajectory: Trajectory) -> Ended:
        """Move, and come to rest."""

    def grip(self, opening: float) -> Ended:
        """Bring the fingers to an opening (m), or as near as what is between them allows."""

    def halt(self) -> None:
        """Stop within one control period, from any thread; no motion begins until ``go_on``."""

    def go_on(self) -> None:
        """Allow motion again; nothing moves by itself."""

    @property
    def halted(self) -> bool: ...

    def close(self) -> None: ...
