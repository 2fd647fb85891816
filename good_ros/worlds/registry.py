"""The worlds by name."""

from __future__ import annotations

import importlib

from good_ros.core.errors import InputError, one_line
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.arm.options import ArmOptions
from good_ros.worlds.base import World
from good_ros.worlds.grocery.search import AUTO

WORLDS = ("household", "ai2thor", "grocery", "arm", "table")
OWN = ":"
"""What marks a world of a lab's own, as ``module:Class``."""


def make_world(
    name: str,
    ai2thor: Ai2thorOptions | None = None,
    arm: ArmOptions | None = None,
    store_search: str = AUTO,
) -> World:
    """A world that is not reset yet; ``ai2thor`` and ``arm`` are the options of those worlds,
    ``store_search`` how the grocery world is searched (``grocery.search.SEARCHES``).

    ``module:Class`` makes a world of one's own (docs/your_world.md). Raises InputError where there
    is none of that name.
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
    if OWN in name:
        return _own_world(name)
    raise InputError(
        f"there is no world {name!r}; there are {', '.join(WORLDS)}, and module:Class for your own"
    )


def is_world(name: str) -> bool:
    """Whether ``make_world`` may know the name; a class of one's own is only looked for there."""
    return name in WORLDS or OWN in name


def _own_world(name: str) -> World:
    """A world that a lab wrote. Only names from parameters and command lines come here, never
    text of a person or a model."""
    module, _, kind = name.partition(OWN)
    try:
        world: World = getattr(importlib.import_module(module), kind)()
    except Exception as error:
        # A lab's own code may fail in any way, a slip of syntax among them.
        words = one_line(error)
        if not isinstance(error, ImportError | AttributeError | TypeError | ValueError):
            words = f"{type(error).__name__}: {words}"
        raise InputError(
            f"the world {name!r} cannot be made: {words}; it must be module:Class, with the "
            "module's folder on PYTHONPATH and a class that is made without arguments"
        ) from error
    wanted = [a for a in dir(World) if not a.startswith("_")]
    if missing := [a for a in (*wanted, "name") if not hasattr(world, a)]:
        raise InputError(f"the world {name!r} has no {', '.join(missing)}: see docs/your_world.md")
    return world
