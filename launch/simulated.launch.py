"""The whole stack with a simulated human: ros2 launch good_ros simulated.launch.py"""

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node

from good_ros.launch_arguments import PROFILE_ARGUMENT
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    name, default, description = PROFILE_ARGUMENT
    share = get_package_share_directory("good_ros")
    return LaunchDescription(
        [
            DeclareLaunchArgument(name, default_value=default, description=description),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(
                    PathJoinSubstitution([share, "launch", "good.launch.py"])
                )
            ),
            Node(
                package="good_ros",
                executable="simulated_human",
                name="simulated_human",
                namespace=LaunchConfiguration("namespace"),
                parameters=[
                    {"model": LaunchConfiguration("model")},
                    {"profile": LaunchConfiguration("profile")},
                ],
                arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
                output="screen",
            ),
        ]
    )
