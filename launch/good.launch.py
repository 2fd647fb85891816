"""The whole stack, a process a node: ros2 launch good_ros good.launch.py"""

from good_ros.launch_arguments import ARGUMENTS
from good_ros.nodes.launching import at_launch, declared, stack
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(ARGUMENTS), at_launch(stack, ARGUMENTS)])
