"""The worlds by name."""

from __future__ import annotations

from good_ros.core.errors import InputError
from good_ros.worlds.base import World

WORLDS = ("household",)


def make_world(name: str) -> World:
    """A world that is not reset yet. Raises InputError where there is none of that name."""
    if name == "household":
        from good_ros.worlds.household.world import HouseholdWorld

        return HouseholdWorld()
    raise InputError(f"there is no world {name!r}; there are {', '.join(WORLDS)}")
