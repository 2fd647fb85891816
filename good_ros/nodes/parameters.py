"""Declaring parameters with their description and range, from one table a node.

The same tables are the source of ``docs/parameters.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node

from good_ros import launch_arguments
from good_ros.core.errors import InputError
from good_ros.worlds.registry import WORLDS, is_world

Value = bool | int | float | str | list[str] | list[float]


@dataclass(frozen=True)
class Parameter:
    """One declared parameter; ``minimum`` and ``maximum`` are inclusive."""

    name: str
    default: Value
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    accepts: Callable[[str], bool] | None = None
    """What is accepted beside ``choices``."""

    def descriptor(self) -> ParameterDescriptor:
        """What ROS is told of the parameter: its description and its range or choices."""
        result = ParameterDescriptor(name=self.name, description=self.description)
        if self.choices:
            result.additional_constraints = "one of: " + ", ".join(self.choices)
        if self.minimum is None or self.maximum is None:
            return result
        if isinstance(self.default, float):
            result.floating_point_range = [
                FloatingPointRange(from_value=float(self.minimum), to_value=float(self.maximum))
            ]
        else:
            result.integer_range = [
                IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=1)
            ]
        return result


AUTOSTART = Parameter(
    "autostart",
    True,
    "Configure and activate at start; false where a life-cycle manager does it.",
)
DIAGNOSTICS_PERIOD = Parameter(
    "diagnostics_period_s",
    0.5,
    "Seconds between two reports on /diagnostics, the node's heartbeat; 0 for none. Read when the "
    "node is made.",
    0.0,
    60.0,
)
EVERY_NODE = (AUTOSTART, DIAGNOSTICS_PERIOD)
"""What each node of the stack has beside its own."""
MODEL = Parameter(
    "model",
    "default",
    "Language model: a name that `good model list` prints, a path to a .gguf file, or the base "
    "URL of an OpenAI-compatible server (generation only).",
)
SCORING_MODEL = Parameter(
    "model",
    "default",
    "Language model that scores: a name that `good model list` prints, a path to a .gguf file, "
    "a folder or hub name for transformers, or the URL of a vLLM server. Another server's URL is "
    "refused: it cannot give log-probabilities of given text.",
)
SERVED_MODEL = Parameter(
    "served_model",
    "",
    "The model's name on the server, where `model` is a URL; empty takes the first one served.",
)
DEADLINE = Parameter(
    "deadline_s",
    300.0,
    "Seconds after which one model call is given up.",
    0.1,
    3600.0,
)
MAX_SEED = 2**31 - 1
SEED = Parameter("seed", 0, "Seed of every random draw of this node.", 0, MAX_SEED)
WORLD_SEED = Parameter(
    "world_seed",
    0,
    "Seed of the scene's start: 0 leaves it as recorded, another one moves things.",
    0,
    MAX_SEED,
)
TASK = Parameter(
    "task",
    launch_arguments.TASK,
    "What the robot is there for, as prompts say it.",
)

PERSON = Parameter(
    "person",
    "",
    "Whose profile counts where the speaker has none: a name in people_folder or config/people; "
    "empty for nobody's.",
)
PEOPLE_FOLDER = Parameter(
    "people_folder",
    "",
    "Where people's profiles are kept; empty for good_ros/people under ROS_HOME.",
)


SESSIONS_FOLDER = Parameter(
    "sessions_folder",
    "",
    "Where sessions are recorded, and dialog keeps what it needs to go on after it was killed; "
    "empty for good_ros/sessions under ROS_HOME.",
)
WORLD = Parameter(
    "world",
    "household",
    "The executor's world, in whose words prompts are; module:Class for your own.",
    choices=WORLDS,
    accepts=is_world,
)


def declare(node: Node, parameters: Sequence[Parameter]) -> None:
    """Declare all of them on ``node``."""
    for parameter in parameters:
        node.declare_parameter(parameter.name, parameter.default, parameter.descriptor())


def read(node: Node, parameters: Sequence[Parameter]) -> SimpleNamespace:
    """The values as attributes. Raises InputError where a value is not one of its choices."""
    values: dict[str, Any] = {}
    for parameter in parameters:
        value = node.get_parameter(parameter.name).value
        known = value in parameter.choices or (parameter.accepts and parameter.accepts(value))
        if parameter.choices and not known:
            raise InputError(
                f"parameter {parameter.name} is {value!r}; it must be one of "
                + ", ".join(parameter.choices)
            )
        values[parameter.name] = value
    return SimpleNamespace(**values)


def sessions_folder(value: str) -> Path:
    """The folder of a ``sessions_folder`` parameter; by default beside ROS's own logs."""
    default = Path(os.environ.get("ROS_HOME", Path.home() / ".ros")) / "good_ros" / "sessions"
    return Path(value).expanduser() if value else default
