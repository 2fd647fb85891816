"""The whole stack, a process a node: ros2 launch good_ros good.launch.py"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from good_ros.launch_arguments import ARGUMENTS, TAKERS
from good_ros.node_names import NODES, SPEECH_NODES
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    defaults = Path(get_package_share_directory("good_ros")) / "config" / "good.yaml"
    stands_for = {"{config}": str(defaults), "{model}": LaunchConfiguration("model")}
    declared = [
        DeclareLaunchArgument(
            name, default_value=stands_for.get(default, default), description=description
        )
        for name, default, description in ARGUMENTS
    ]
    nodes = [
        Node(
            package="good_ros",
            executable=name,
            name=name,
            namespace=LaunchConfiguration("namespace"),
            parameters=[
                LaunchConfiguration("params_file"),
                {key: LaunchConfiguration(argument) for key, argument in TAKERS[name].items()},
            ],
            arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
            output="screen",
            # The argument of a speech node's own name says whether it is wanted.
            condition=IfCondition(LaunchConfiguration(name)) if name in SPEECH_NODES else None,
        )
        for name in (*NODES, *SPEECH_NODES)
    ]
    return LaunchDescription([*declared, *nodes])
