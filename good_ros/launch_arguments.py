"""The arguments of the launch files: name, default and description, and where each goes.

Plain data, so that they can be checked without the launch system.
"""

from __future__ import annotations

ARGUMENTS = (
    ("namespace", "", "Namespace of every node; two stacks in two namespaces do not meet."),
    ("params_file", "{config}", "ROS 2 parameter file for the nodes."),
    ("log_level", "info", "Lowest level that is logged: debug, info, warn, error or fatal."),
    ("world", "household", "World to act on."),
    ("scene", "FloorPlan1", "Scene of the world."),
    (
        "model",
        "default",
        "Language model of every node: a name that `good model list` prints, a path to a .gguf "
        "file, or a server's URL (not for goal_belief, which must score).",
    ),
)
"""The default ``{config}`` stands for config/good.yaml of the installed package."""

PROFILE_ARGUMENT = (
    "profile",
    "put_away_food",
    "Whom the simulated human plays: a name in config/profiles or a path.",
)

TAKERS = {
    "model": ("dialog", "goal_belief", "goal_manager", "executor", "simulated_human"),
    "world": ("executor",),
    "scene": ("executor",),
}
"""The nodes that take an argument as a parameter of the same name."""


def node_parameters(node: str) -> list[tuple[str, str]]:
    """For a node, the (parameter, launch argument) pairs that it takes."""
    return [(argument, argument) for argument, takers in TAKERS.items() if node in takers]
