"""The whole stack, a process a node: ros2 launch good_ros good.launch.py"""

from good_ros.launch_arguments import FILES
from good_ros.nodes.launching import at_launch, declared, stack
from launch import LaunchDescription

TAKEN = FILES["good"]


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(TAKEN), at_launch(stack, TAKEN)])
