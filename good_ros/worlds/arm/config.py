"""What an arm is called, how far it may go and where its places are: ``config/arm.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.core.resources import config_folder

SECTIONS = (
    *("joints", "limits", "speed", "control_period_s", "travel_height", "home", "gripper"),
    *("places", "ros"),
)
ROS_NAMES = (
    *("trajectory_topic", "trajectory_action", "move_action", "move_group", "joint_states"),
    *("gripper_topic", "gripper_action", "things_topic"),
)
MOTIONS = ("topic", "action", "moveit")
GRIPPERS = ("topic", "gripper_command", "parallel_gripper_command")
BOX, SURFACE = "box", "surface"


@dataclass(frozen=True)
class Limits:
    """``lower`` and ``upper`` of each joint in rad, ``velocity`` in rad/s, and by axis the
    interval (m) that the point between the fingers stays in."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]
    workspace: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Gripper:
    """``opening`` is the widest in metres; positions are those of ``joint`` there and closed."""

    joint: str
    opening: float
    position_open: float
    position_closed: float
    max_effort: float

    def position(self, opening: float) -> float:
        """The joint's position at an opening in metres."""
        share = min(max(opening / self.opening, 0.0), 1.0)
        return self.position_closed + share * (self.position_open - self.position_closed)

    def width(self, position: float) -> float:
        """The opening in metres at a position of the joint."""
        share = (position - self.position_closed) / (self.position_open - self.position_closed)
        return min(max(share, 0.0), 1.0) * self.opening


@dataclass(frozen=True)
class Place:
    """Where things can be put: an open box, or a part of the table; metres, its middle."""

    name: str
    kind: str
    x: float
    y: float
    size: tuple[float, float]
    height: float

    @property
    def preposition(self) -> str:
        return "in" if self.kind == BOX else "on"

    def covers(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether a point lies over it, ``margin`` metres from its edge."""
        return (
            abs(x - self.x) <= self.size[0] / 2 - margin
            and abs(y - self.y) <= self.size[1] / 2 - margin
        )


@dataclass(frozen=True)
class ArmConfig:
    """The whole file; ``ros`` are the names of the controller's interfaces."""

    joints: tuple[str, ...]
    limits: Limits
    speed: float
    control_period_s: float
    travel_height: float
    home: tuple[float, float]
    gripper: Gripper
    places: Mapping[str, Place]
    ros: Mapping[str, Any]


def load_config(path: str = "") -> ArmConfig:
    """The arm of a YAML file; of ``config/arm.yaml`` where ``path`` is empty.

    Raises InputError where it cannot be read or something in it is not of its form.
    """
    file = Path(path).expanduser() if path else config_folder() / "arm.yaml"
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the arm's file {file} cannot be read: {error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, Mapping) or set(data) != set(SECTIONS):
        raise InputError(f"{file} must have {', '.join(SECTIONS)} and nothing else")
    try:
        return _read(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{file} is not of its form: {why}") from error


def _read(data: Mapping[str, Any]) -> ArmConfig:
    joints = tuple(str(name) for name in data["joints"])
    limits = data["limits"]
    lower, upper, velocity = (
        _numbers(limits[key], len(joints), key) for key in ("lower", "upper", "velocity")
    )
    if any(low >= high for low, high in zip(lower, upper, strict=True)) or min(velocity) <= 0:
        raise ValueError("each lower limit must be under the upper one, each velocity above 0")
    box = limits["workspace"]
    workspace = {axis: _interval(box[axis], f"workspace {axis}") for axis in "xyz"}
    speed, period = float(data["speed"]), float(data["control_period_s"])
    if not 0 < speed <= 1:
        raise ValueError(f"speed is {speed}; it must be above 0 and at most 1")
    if not 0.001 <= period <= 0.1:
        raise ValueError(f"control_period_s is {period}; it must be from 0.001 to 0.1")
    gripper = Gripper(
        str(data["gripper"]["joint"]),
        *(
            float(data["gripper"][key])
            for key in ("opening", "position_open", "position_closed", "max_effort")
        ),
    )
    if gripper.opening <= 0 or gripper.position_open == gripper.position_closed:
        raise ValueError("the gripper needs an opening above 0 and two different positions")
    ros = dict(data["ros"])
    if any(not (isinstance(ros[key], str) and ros[key]) for key in ROS_NAMES):
        raise ValueError(f"ros needs texts for {', '.join(ROS_NAMES)}")
    if ros["motion"] not in MOTIONS or ros["gripper"] not in GRIPPERS:
        raise ValueError(f"ros: motion is one of {MOTIONS}, gripper one of {GRIPPERS}")
    ros["timeout_s"] = float(ros["timeout_s"])
    return ArmConfig(
        joints,
        Limits(lower, upper, velocity, workspace),
        speed,
        period,
        float(data["travel_height"]),
        (float(data["home"]["x"]), float(data["home"]["y"])),
        gripper,
        {str(name): _place(str(name), fields) for name, fields in data["places"].items()},
        ros,
    )


def _place(name: str, fields: Mapping[str, Any]) -> Place:
    if fields["kind"] not in (BOX, SURFACE):
        raise ValueError(f"place {name}: kind is {BOX} or {SURFACE}")
    size = _numbers(fields["size"], 2, f"the size of {name}")
    x, y, height = (float(fields[key]) for key in ("x", "y", "height"))
    return Place(name, fields["kind"], x, y, (size[0], size[1]), height)


def _numbers(values: Any, count: int, what: str) -> tuple[float, ...]:
    numbers = tuple(float(value) for value in values)
    if len(numbers) != count:
        raise ValueError(f"{what} needs {count} numbers, not {len(numbers)}")
    return numbers


def _interval(values: Any, what: str) -> tuple[float, float]:
    low, high = _numbers(values, 2, what)
    if low >= high:
        raise ValueError(f"{what} must go from a lower to a higher number")
    return low, high
