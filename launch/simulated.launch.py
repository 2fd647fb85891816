"""The whole stack with a simulated human: ros2 launch good_ros simulated.launch.py"""

from good_ros.experiments.profiles import load_profile
from good_ros.launch_arguments import FILES
from good_ros.nodes.launching import at_launch, declared, stack
from launch import LaunchDescription

TAKEN = FILES["simulated"]


def with_human(given: dict[str, str]) -> list:
    """The stack, acting in the world and scene that the profile's wish is about."""
    profile = load_profile(given["profile"])
    return stack(
        {
            **given,
            "world": profile.check_world(given["world"]),
            "scene": given["scene"] or profile.scene,
            "task": given["task"] or profile.task,
            "person": given["person"] or profile.person,
        },
        "simulated_human",
    )


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*declared(TAKEN), at_launch(with_human, TAKEN)])
