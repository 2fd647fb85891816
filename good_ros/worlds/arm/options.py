"""How an arm world is set up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from good_ros.core.errors import WorldError

INSTALL = "make arm"
SIM, DRY_RUN, ROS2_CONTROL = "sim", "dry_run", "ros2_control"
PATHS = (SIM, DRY_RUN, ROS2_CONTROL)
MOTIONS = ("PickupObject", "PutObject", "GoTo", "Grasp", "Release", "GoHome")
"""The actions that move the arm."""


@contextmanager
def arm_packages(what: str) -> Iterator[None]:
    """For imports of what is installed with the arm. Raises WorldError, in the name of ``what``,
    where a package is not there."""
    try:
        yield
    except ImportError as error:
        raise WorldError(f"{what} needs {error.name}, which is not installed: {INSTALL}") from error


@dataclass(frozen=True)
class ArmOptions:
    """``file`` is the arm's YAML file, empty for ``config/arm.yaml``; ``make_body``
    (``worlds.arm.world.MakeBody``) makes a physical arm, None one in physics."""

    file: str = ""
    make_body: Callable[..., Any] | None = None
