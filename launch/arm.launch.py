"""The stack with an arm, in physics or a real one: ros2 launch good_ros arm.launch.py"""

from launch.actions import ExecuteProcess
from launch_ros.substitutions import ExecutableInPackage

from good_ros.core.errors import InputError
from good_ros.launch_arguments import ALL, FILES
from good_ros.nodes.launching import PACKAGE, at_launch, declared, stack
from launch import LaunchDescription

TAKEN = FILES["arm"]


def with_arm(given: dict[str, str]) -> list:
    """The stack in world arm, with the controller that is named a stand-in where it is wanted."""
    actions = stack(given)
    if ALL["stand_in"].value(given["stand_in"]):
        if given["namespace"]:
            raise InputError("stand_in:=true has no namespace; start the stack without one")
        command = [ExecutableInPackage("good", PACKAGE), "arm", "stand-in"]
        if given["arm_file"]:
            command += ["--arm-file", given["arm_file"]]
        if given["scene"]:
            command += ["--scene", given["scene"]]
        actions.insert(0, ExecuteProcess(cmd=command, output="screen"))
    return actions


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(TAKEN, world="arm"), at_launch(with_arm, TAKEN)])
