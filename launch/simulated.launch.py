"""The whole stack with a simulated human: ros2 launch good_ros simulated.launch.py"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from good_ros.experiments.profiles import load_profile
from good_ros.launch_arguments import PROFILE_ARGUMENT, TAKERS
from launch import LaunchContext, LaunchDescription

NAME = "simulated_human"


def in_the_profiles_scene(context: LaunchContext) -> list[IncludeLaunchDescription]:
    """The stack, acting in the world and scene that the profile's wish is about."""
    profile = load_profile(LaunchConfiguration("profile").perform(context))
    chosen = {
        "world": profile.check_world(context.launch_configurations.get("world", "")),
        "scene": profile.scene,
        "task": profile.task,
        "person": context.launch_configurations.get("person", "") or profile.person,
    }
    launch_file = Path(get_package_share_directory("good_ros")) / "launch" / "good.launch.py"
    return [
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(launch_file)),
            launch_arguments=chosen.items(),
        )
    ]


def generate_launch_description() -> LaunchDescription:
    name, default, description = PROFILE_ARGUMENT
    return LaunchDescription(
        [
            DeclareLaunchArgument(name, default_value=default, description=description),
            OpaqueFunction(function=in_the_profiles_scene),
            Node(
                package="good_ros",
                executable=NAME,
                name=NAME,
                namespace=LaunchConfiguration("namespace"),
                parameters=[
                    {key: LaunchConfiguration(argument) for key, argument in TAKERS[NAME].items()}
                ],
                arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
                output="screen",
            ),
        ]
    )
