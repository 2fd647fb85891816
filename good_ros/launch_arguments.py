"""The arguments of the launch files: name, default and description, and where each goes.

Plain data, so that they can be checked without the launch system.
"""

from __future__ import annotations

TASK = "interact with the objects in the room so that it ends up as the person wants it"

ARGUMENTS = (
    ("namespace", "", "Namespace of every node; two stacks in two namespaces do not meet."),
    ("params_file", "{config}", "ROS 2 parameter file for the nodes."),
    ("log_level", "info", "Lowest level that is logged: debug, info, warn, error or fatal."),
    ("world", "household", "World to act on."),
    ("scene", "FloorPlan1", "Scene of the world; store where the world is grocery."),
    ("task", TASK, "What the robot is there for, as prompts say it."),
    (
        "model",
        "default",
        "Language model of every node: a name that `good model list` prints, a path to a .gguf "
        "file, or the URL of an OpenAI-compatible server.",
    ),
    (
        "scoring_model",
        "{model}",
        "Language model of goal_belief, which must score: where `model` is a URL, set it to a "
        "name or a path.",
    ),
    ("person", "", "Whose taught goal and behaviours count: a name; empty for nobody's."),
    (
        "web_port",
        "-1",
        "Port of the page that shows the session: -1 for no page, 0 for any free port, which is "
        "logged.",
    ),
    ("speech_in", "false", "Whether to hear a microphone (speech_in)."),
    ("speech_out", "false", "Whether to speak the questions (speech_out)."),
    ("speech_adapters", "false", "Whether to hear other packages' speech (speech_adapters)."),
)
"""``{config}`` stands for config/good.yaml of the installed package, ``{model}`` for the
argument of that name."""

PROFILE_ARGUMENT = (
    "profile",
    "put_away_food",
    "Whom the simulated human plays: a name in config/profiles or a path.",
)

TAKERS = {
    "dialog": {"model": "model", "world": "world", "task": "task"},
    "goal_belief": {"model": "scoring_model"},
    "goal_manager": {"model": "model", "world": "world", "task": "task", "person": "person"},
    "executor": {
        "model": "model",
        "world": "world",
        "scene": "scene",
        "task": "task",
        "person": "person",
    },
    "monitor": {"web_port": "web_port", "world": "world", "scene": "scene"},
    "simulated_human": {"model": "model", "profile": "profile", "task": "task"},
    "teacher": {"model": "model", "world": "world", "scene": "scene"},
    "speech_in": {},
    "speech_out": {},
    "speech_adapters": {},
}
"""By node, its parameters that come from a launch argument, and from which."""
