"""Declaring parameters with their description and range, from one table a node.

The same tables are the source of ``docs/parameters.md``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node

from good_ros import launch_arguments
from good_ros.core.errors import InputError
from good_ros.worlds.registry import WORLDS, is_world

KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number with a decimal point",
    str: "text",
}
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

    def wanted(self) -> str:
        """What a value of it is, in words."""
        if isinstance(self.default, list):
            return "a list of " + ("numbers" if isinstance(self.default[0], float) else "texts")
        kind = KINDS[type(self.default)]
        if self.minimum is None or self.maximum is None:
            return kind
        return f"{kind} from {self.minimum:.10g} to {self.maximum:.10g}"


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
    "Where sessions are recorded, and nodes keep what they need to go on after they were killed; "
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
    """Declare all of them on ``node``. Raises InputError where a value that was given for one is of
    another type or out of its range."""
    for parameter in parameters:
        try:
            node.declare_parameter(parameter.name, parameter.default, parameter.descriptor())
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            given = _given(node).get(parameter.name)
            raise InputError(
                f"{node.get_name()}: parameter {parameter.name} cannot be "
                f"{given.value if given else error!r}: it must be {parameter.wanted()}"
            ) from error


def unknown(node: Node) -> Iterator[str]:
    """A line on each parameter that was given to ``node`` and that no node of the stack has.

    ROS passes over them in silence. One that another node has may stand under ``/**``.
    """
    names = [
        name
        for name in sorted(_given(node))
        if not node.has_parameter(name) and not name.startswith("qos_overrides.")
    ]
    if not names:
        return
    everywhere = _names_of_all_nodes()
    for name in names:
        if name not in everywhere:
            near = difflib.get_close_matches(name, everywhere, 1)
            hint = f"is {near[0]} meant?" if near else "docs/parameters.md has all that there are"
            yield f"there is no parameter {name}, so it counts for nothing: {hint}"


def _given(node: Node) -> Mapping[str, Any]:
    # rclpy has no public way to what was given but not declared.
    return getattr(node, "_parameter_overrides", {})


@cache
def _names_of_all_nodes() -> frozenset[str]:
    from good_ros.node_names import EXTRA_NODES, NODES
    from good_ros.nodes.stack import node_type

    kinds = [node_type(name) for name in (*NODES, *EXTRA_NODES)]
    return frozenset(p.name for p in (*EVERY_NODE, *(p for k in kinds for p in k.PARAMETERS)))


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
