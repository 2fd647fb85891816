"""The worlds by name."""

from __future__ import annotations

from good_ros.core.errors import InputError
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.base import World
from good_ros.worlds.grocery.search import AUTO

WORLDS = ("household", "ai2thor", "grocery")


def make_world(name: str, ai2thor: Ai2thorOptions | None = None, store_search: str = AUTO) -> World:
    """A world that is not reset yet; ``ai2thor`` are the ``Ai2thorOptions`` of that world,
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
    raise InputError(f"there is no world {name!r}; there are {', '.join(WORLDS)}")
