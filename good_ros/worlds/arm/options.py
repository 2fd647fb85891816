"""How an arm world is set up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SIM, DRY_RUN, ROS2_CONTROL = "sim", "dry_run", "ros2_control"
PATHS = (SIM, DRY_RUN, ROS2_CONTROL)
MOTIONS = ("PickupObject", "PutObject", "GoTo", "Grasp", "Release", "GoHome")
"""The actions that move the arm."""


@dataclass(frozen=True)
class ArmOptions:
    """``file`` is the arm's YAML file, empty for ``config/arm.yaml``; ``make_body``
    (``worlds.arm.world.MakeBody``) makes a physical arm, None one in physics."""

    file: str = ""
    make_body: Callable[..., Any] | None = None
