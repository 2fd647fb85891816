"""The arguments of the launch files, what each is, and where it goes.

Plain data and plain functions, so that they can be checked without the launch system.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from good_ros.core.errors import InputError
from good_ros.node_names import NODES, SPEECH_NODES

TASK = "interact with the objects in the room so that it ends up as the person wants it"
WITHOUT_PROFILE = {
    "grocery": ("fill a shopping cart with what the person wants, and buy it", "store")
}
"""By world, task and scene where no profile gives them and the parameters' own do not fit."""
TABLES = {"arm": "lunch_bag", "table": "lunch_bag"}
"""By world the scene that stands where none is named; the nodes' own default is a kitchen."""

LOG_LEVELS = ("debug", "info", "warn", "error", "fatal")
Value = str | bool | int | float


@dataclass(frozen=True)
class Argument:
    """One argument; ``kind`` is the type of the value that its text stands for.

    An argument that is empty is not given: the parameter file, or else the node's own default,
    says what holds.
    """

    name: str
    description: str
    default: str = ""
    kind: type = str
    choices: tuple[str, ...] = ()

    def value(self, text: str) -> Value:
        """Raises InputError where ``text`` stands for no such value."""
        if self.kind is bool:
            if text.lower() in ("true", "false", "1", "0"):
                return text.lower() in ("true", "1")
            raise InputError(f"{self.name}:={text}: true or false")
        try:
            value: Value = self.kind(text)
        except ValueError as error:
            raise InputError(f"{self.name}:={text}: not of type {self.kind.__name__}") from error
        return value


CONFIG = "{config}"
"""Stands for config/good.yaml of the installed package."""

PROCESS = (
    Argument("namespace", "Namespace of every node; two stacks in two namespaces do not meet."),
    Argument(
        "params_file",
        "ROS 2 parameter file for the nodes; an argument that is given counts more.",
        CONFIG,
    ),
    Argument(
        "log_level",
        "Lowest level that is logged: debug, info, warn, error or fatal.",
        "info",
        choices=LOG_LEVELS,
    ),
    Argument(
        "enclave",
        "SROS2 enclave of the nodes, such as /good_ros: each has <this>/<its name>.",
    ),
    Argument("use_sim_time", "Go by the clock on /clock, not by this machine's.", "false", bool),
    Argument("respawn", "Start a node again whose process ended.", "false", bool),
    Argument("respawn_delay", "Seconds before it is started again.", "1.0", kind=float),
    Argument(
        "autostart",
        "Configure and activate the nodes at start; false where a life-cycle manager does it.",
        kind=bool,
    ),
)
"""How a process is run."""

ROOM = (
    Argument("world", "World to act on: household, grocery, arm, ai2thor, or module:Class."),
    Argument("scene", "Scene of the world, such as FloorPlan1, store or lunch_bag."),
)
WATCHING = (
    Argument("sessions_folder", "Where sessions are recorded; empty for ~/.ros/good_ros/sessions."),
    Argument(
        "web_port",
        "Port of the page that shows the session: -1 for no page, 0 for any free port, which is "
        "logged.",
        kind=int,
    ),
)
MINDS = (
    Argument("task", "What the robot is there for, as prompts say it."),
    Argument(
        "model",
        "Language model of every node: a name that `good model list` prints, a path to a .gguf "
        "file, or the URL of an OpenAI-compatible server.",
    ),
    Argument(
        "served_model",
        "The model's name on the server of `model`, where that serves several.",
    ),
    Argument(
        "served_scoring_model",
        "The same on the server of `scoring_model`; `served_model` where both are one.",
    ),
    Argument(
        "scoring_model",
        "Language model of goal_belief, which must score: default, small, a .gguf file or a vLLM "
        "server; empty for `model`.",
    ),
    Argument(
        "backend",
        "What runs the scoring model: auto, llama_cpp, transformers or vllm.",
        choices=("", "auto", "llama_cpp", "transformers", "vllm"),
    ),
    Argument("device", "Device of the transformers back end, such as cpu or cuda:0."),
    Argument("seed", "Seed of every random draw.", kind=int),
    Argument(
        "person",
        "Whose taught goal and behaviours count: a name; then teacher is started, too.",
    ),
    Argument("proactive", "Offer one helpful next action after a turn.", kind=bool),
)
PARTS = (
    Argument("monitor", "Whether sessions are recorded and shown (monitor).", "true", bool),
    Argument("speech", "Whether to hear a microphone and speak the questions.", "false", bool),
    Argument("speech_in", "Whether to hear a microphone; empty for `speech`.", kind=bool),
    Argument("speech_out", "Whether to speak the questions; empty for `speech`.", kind=bool),
    Argument("speech_adapters", "Whether to hear other packages' speech.", "false", bool),
)
"""Which nodes are started."""

ARGUMENTS = (*PROCESS, *ROOM, *MINDS, *WATCHING, *PARTS)
"""Those of good.launch.py."""
PROFILE = Argument(
    "profile",
    "Whom the simulated human plays: a name in config/profiles or a path. World, scene, task and "
    "person are the profile's where they are not given.",
    "put_away_food",
)
ARM = (
    Argument(
        "arm_path",
        "sim moves an arm in physics, dry_run shows it in RViz, ros2_control moves a real arm.",
        choices=("", "sim", "dry_run", "ros2_control"),
    ),
    Argument("arm_file", "The arm's YAML file; empty for config/arm.yaml."),
    Argument(
        "arm_approval",
        "Nothing moves on the path ros2_control before a person has approved the plan.",
        kind=bool,
    ),
    Argument(
        "stand_in",
        "Start a controller without an arm, for arm_path:=ros2_control.",
        "false",
        bool,
    ),
)
"""What arm.launch.py takes besides."""
WATCHERS = (*PROCESS, *ROOM, *WATCHING)
"""Those of monitor.launch.py, with ``RVIZ``."""
RVIZ = Argument("rviz", "Start RViz with the belief as bars (config/good.rviz).", "false", bool)

FILES = {
    "good": ARGUMENTS,
    "simulated": (PROFILE, *ARGUMENTS),
    "arm": (*ARM, *ARGUMENTS),
    "monitor": (RVIZ, *WATCHERS),
}
"""By launch file, all that it takes."""

ALL = {a.name: a for a in (*ARGUMENTS, PROFILE, *ARM, RVIZ)}

_EVERY = {"use_sim_time": "use_sim_time", "autostart": "autostart"}
_SPOKEN = {"model": "model", "served_model": "served_model", "seed": "seed"}
TAKERS = {
    "dialog": {**_EVERY, **_SPOKEN, "world": "world", "task": "task"},
    "goal_belief": {
        **_EVERY,
        "model": "scoring_model",
        "served_model": "served_scoring_model",
        "backend": "backend",
        "device": "device",
    },
    "goal_manager": {
        **_EVERY,
        **_SPOKEN,
        "world": "world",
        "task": "task",
        "person": "person",
    },
    "executor": {
        **_EVERY,
        **_SPOKEN,
        "world": "world",
        "scene": "scene",
        "task": "task",
        "person": "person",
        "proactive": "proactive",
        "arm_path": "arm_path",
        "arm_file": "arm_file",
        "arm_approval": "arm_approval",
    },
    "monitor": {
        **_EVERY,
        "web_port": "web_port",
        "sessions_folder": "sessions_folder",
        "world": "world",
        "scene": "scene",
    },
    "simulated_human": {**_EVERY, **_SPOKEN, "profile": "profile", "task": "task"},
    "teacher": {**_EVERY, **_SPOKEN, "world": "world", "scene": "scene"},
    "speech_in": _EVERY,
    "speech_out": _EVERY,
    "speech_adapters": _EVERY,
}
"""By node, its parameters that come from a launch argument, and from which."""


def misspelt(names: Iterable[str], taken: Sequence[Argument]) -> Iterator[str]:
    """A line on each of the launch system's ``names`` that is nearly one that is ``taken``.

    The launch system passes over an argument that no file has. Others may be of a launch file that
    includes this one.
    """
    known = [argument.name for argument in taken]
    for name in names:
        near = [] if name in known else difflib.get_close_matches(name, known, 1, 0.8)
        if near and name not in ALL:
            yield f"there is no argument {name}, so it counts for nothing: is {near[0]} meant?"


def completed(given: Mapping[str, str]) -> dict[str, str]:
    """The arguments that are given, with what follows from them: the scoring model from the
    model, task and scene from the world, speech nodes from `speech`."""
    result = {name: text for name, text in given.items() if text.strip()}
    if "model" in result:
        result.setdefault("scoring_model", result["model"])
    if "served_model" in result and result.get("scoring_model") == result.get("model"):
        result.setdefault("served_scoring_model", result["served_model"])
    world = result.get("world", "")
    if world in WITHOUT_PROFILE:
        task, scene = WITHOUT_PROFILE[world]
        result.setdefault("task", task)
        result.setdefault("scene", scene)
    elif world in TABLES:
        result.setdefault("scene", TABLES[world])
    if "speech" in result:
        for name in ("speech_in", "speech_out"):
            result.setdefault(name, result["speech"])
    return result


def wanted_nodes(given: Mapping[str, str]) -> Iterator[str]:
    """The nodes to start, in the order of ``node_names``, for ``completed`` arguments."""
    for name in (*NODES, "teacher", *SPEECH_NODES):
        if name == "teacher":
            wanted = "person" in given
        elif name in ALL:
            wanted = bool(ALL[name].value(given.get(name) or ALL[name].default or "false"))
        else:
            wanted = True
        if wanted:
            yield name


def node_parameters(node: str, given: Mapping[str, str]) -> dict[str, Value]:
    """The parameters of ``node`` that ``completed`` arguments set, each of its type."""
    return {
        parameter: ALL[argument].value(given[argument])
        for parameter, argument in TAKERS[node].items()
        if argument in given
    }
