"""The executor's world: the parameters of each kind of it, and making it from them."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

from rclpy.node import Node

from good_ros.nodes.parameters import Parameter
from good_ros.worlds.ai2thor.options import PLAYERS, SERVERS, Ai2thorOptions
from good_ros.worlds.arm.options import PATHS, ROS2_CONTROL, SIM, ArmOptions, arm_packages
from good_ros.worlds.base import World
from good_ros.worlds.grocery.search import AUTO, SEARCHES
from good_ros.worlds.registry import make_world

STANDARD = Ai2thorOptions()
AI2THOR = (
    Parameter(
        "ai2thor_build",
        STANDARD.build,
        "World ai2thor: the Unity player's executable; empty takes the newest one that ai2thor "
        "has downloaded.",
    ),
    Parameter(
        "ai2thor_player",
        STANDARD.player,
        "World ai2thor: what is started; stand-in is a program of ours without physics and "
        "pictures, to try things out.",
        choices=PLAYERS,
    ),
    Parameter(
        "ai2thor_headless",
        STANDARD.headless,
        "World ai2thor: draw nothing; false needs an X display with GLX, or Vulkan.",
    ),
    Parameter(
        "ai2thor_display",
        STANDARD.display,
        "World ai2thor: X display of the player, such as :0; empty takes that of the environment.",
    ),
    Parameter(
        "ai2thor_server",
        STANDARD.server,
        "World ai2thor: protocol between the client and the player.",
        choices=SERVERS,
    ),
    Parameter(
        "ai2thor_start_timeout_s",
        STANDARD.start_timeout_s,
        "World ai2thor: seconds that the player may take to start or to load a scene.",
        1.0,
        3600.0,
    ),
    Parameter(
        "ai2thor_step_timeout_s",
        STANDARD.step_timeout_s,
        "World ai2thor: seconds that the player may take for one action; then it is started "
        "again and the room rebuilt.",
        0.1,
        3600.0,
    ),
)
GROCERY = (
    Parameter(
        "store_search",
        AUTO,
        "World grocery: search by the similarity of embeddings or by words; auto takes "
        "embeddings where they are installed.",
        choices=SEARCHES,
    ),
    Parameter(
        "store_results",
        1,
        "World grocery: items that are looked at for each search term.",
        1,
        20,
    ),
)
ARM = (
    Parameter(
        "arm_path",
        SIM,
        "World arm: sim moves an arm in physics; dry_run does so too, publishes it for RViz under "
        "dry_run/ and treats it as a physical one; ros2_control moves a real arm.",
        choices=PATHS,
    ),
    Parameter("arm_file", "", "World arm: the arm's YAML file; empty for config/arm.yaml."),
    Parameter(
        "arm_approval",
        True,
        "World arm: nothing moves on the path ros2_control before a person has approved the plan.",
    ),
)
PARAMETERS = (*GROCERY, *AI2THOR, *ARM)


def make(node: Node, values: SimpleNamespace) -> World:
    """The world of the executor's parameters; a moving arm is driven in ``node``'s context and
    namespace. Raises WorldError and InputError."""
    arm = arm_options(node, values)
    return make_world(values.world, ai2thor_options(values), arm, values.store_search)


def ai2thor_options(values: SimpleNamespace) -> Ai2thorOptions:
    """The parameters of the ai2thor world. Raises InputError where they cannot be."""
    return Ai2thorOptions(
        build=values.ai2thor_build,
        player=values.ai2thor_player,
        display=values.ai2thor_display,
        headless=values.ai2thor_headless,
        server=values.ai2thor_server,
        start_timeout_s=values.ai2thor_start_timeout_s,
        step_timeout_s=values.ai2thor_step_timeout_s,
    )


def arm_options(node: Node, values: SimpleNamespace) -> ArmOptions:
    """The parameters of the arm world. Raises WorldError where a package that it needs is not
    there."""
    if values.world != "arm" or values.arm_path == SIM:
        return ArmOptions(values.arm_file)
    with arm_packages(f"arm_path {values.arm_path}"):
        from good_ros.nodes.arm_body import DryRunBody, RosBody

    kind = RosBody if values.arm_path == ROS2_CONTROL else DryRunBody
    where = {"context": node.context, "namespace": node.get_namespace()}
    return ArmOptions(values.arm_file, partial(kind, **where))
