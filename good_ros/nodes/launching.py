"""What the launch files share: arguments declared, and nodes made of those that are given.

Imports the launch system, which only launch files need.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from good_ros.launch_arguments import (
    ALL,
    CONFIG,
    Argument,
    completed,
    misspelt,
    node_parameters,
    wanted_nodes,
)

PACKAGE = "good_ros"


def share(*parts: str) -> Path:
    """A file or folder of the installed package's share folder."""
    return Path(get_package_share_directory(PACKAGE), *parts)


def declared(arguments: Sequence[Argument], **defaults: str) -> list[Any]:
    """An action that declares each argument, with other defaults for some of them."""
    actions = []
    for argument in arguments:
        default = defaults.get(argument.name, argument.default)
        if default == CONFIG:
            default = str(share("config", "good.yaml"))
        choices = {"choices": list(argument.choices)} if argument.choices else {}
        actions.append(
            DeclareLaunchArgument(
                argument.name,
                default_value=default,
                description=argument.description,
                **choices,
            )
        )
    return actions


def given(context: Any, arguments: Sequence[Argument]) -> dict[str, str]:
    """The text of every argument, as the launch file was called."""
    for line in misspelt(getattr(context, "launch_configurations", ()), arguments):
        print(f"{PACKAGE}: {line}", file=sys.stderr)
    return {a.name: str(LaunchConfiguration(a.name).perform(context)) for a in arguments}


def node(name: str, arguments: Mapping[str, str]) -> Any:
    """A process that is the node ``name``, for ``completed`` arguments."""
    parameters: list[Any] = [
        {
            # The launch system would read the text 'yes' or '12' as something else.
            key: ParameterValue(value, value_type=str) if isinstance(value, str) else value
            for key, value in node_parameters(name, arguments).items()
        }
    ]
    if "params_file" in arguments:
        parameters.insert(0, arguments["params_file"])
    options = ["--ros-args", "--log-level", arguments.get("log_level", "info")]
    if "enclave" in arguments:
        options += ["--enclave", f"{arguments['enclave'].rstrip('/')}/{name}"]
    return Node(
        package=PACKAGE,
        executable=name,
        name=name,
        namespace=arguments.get("namespace", ""),
        parameters=[p for p in parameters if p],
        arguments=options,
        output="screen",
        respawn=bool(ALL["respawn"].value(arguments.get("respawn", "false"))),
        respawn_delay=ALL["respawn_delay"].value(arguments.get("respawn_delay", "1.0")),
    )


def stack(arguments: Mapping[str, str], *others: str) -> list[Any]:
    """The processes of a whole stack, and of ``others`` beside it."""
    complete = completed(arguments)
    return [node(name, complete) for name in (*wanted_nodes(complete), *others)]


def at_launch(make: Any, arguments: Sequence[Argument]) -> Any:
    """An action that runs the actions of ``make(what was given)``."""
    return OpaqueFunction(function=lambda context: make(given(context, arguments)))
