"""The worlds by name."""

from __future__ import annotations

from good_ros.core.errors import InputError
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.arm.options import ArmOptions
from good_ros.worlds.base import World
from good_ros.worlds.grocery.search import AUTO

WORLDS = ("household", "ai2thor", "grocery", "arm", "table")


def make_world(
    name: str,
    ai2thor: Ai2thorOptions | None = None,
    arm: ArmOptions | None = None,
    store_search: str = AUTO,
) -> World:
    """A world that is not reset yet; ``ai2thor`` and ``arm`` are the options of those worlds,
    ``store_search`` how the grocery world is searched (``grocery.search.SEARCHES``).

    Raises InputError where there is none of that name.
    """
    if name == "household":
        from good_ros.worlds.household.world import HouseholdWorld

        return HouseholdWorld()
    if name == "ai2thor":
        from good_ros.worlds.ai2thor.world import Ai2thorWorld

        return Ai2thorWorld(ai2thor)
    if name == "grocery":
        from good_ros.worlds.grocery.world import GroceryWorld

        return GroceryWorld(store_search)
    if name == "arm":
        from good_ros.worlds.arm.config import load_config
        from good_ros.worlds.arm.world import ArmWorld

        options = arm or ArmOptions()
        return ArmWorld(load_config(options.file), options.make_body)
    if name == "table":
        from good_ros.worlds.table import TableWorld

        return TableWorld()
    raise InputError(f"there is no world {name!r}; there are {', '.join(WORLDS)}")
