"""Records and shows a stack that runs elsewhere: ros2 launch good_ros monitor.launch.py"""

from launch_ros.actions import Node

from good_ros.launch_arguments import ALL, FILES, completed
from good_ros.nodes.launching import at_launch, declared, node, share
from launch import LaunchDescription

TAKEN = FILES["monitor"]


def watching(given: dict[str, str]) -> list:
    """The monitor alone, with RViz beside it where it is wanted."""
    actions = [node("monitor", completed(given))]
    if ALL["rviz"].value(given["rviz"]):
        actions.append(
            Node(
                package="rviz2",
                executable="rviz2",
                namespace=given["namespace"],
                arguments=["-d", str(share("config", "good.rviz"))],
            )
        )
    return actions


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(TAKEN, web_port="0"), at_launch(watching, TAKEN)])
