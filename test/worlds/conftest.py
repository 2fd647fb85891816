"""The worlds that the rows of AI2-THOR's action table are tested in."""

from __future__ import annotations

import importlib.util

import pytest

from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.ai2thor.world import Ai2thorWorld
from good_ros.worlds.household.world import HouseholdWorld

needs_ai2thor = pytest.mark.skipif(
    importlib.util.find_spec("ai2thor") is None, reason="ai2thor is not installed"
)
BOTH = ["household", pytest.param("ai2thor", marks=needs_ai2thor)]


@pytest.fixture(scope="session")
def stand_in():
    """One AI2-THOR world over the stand-in player, reset by whoever uses it."""
    world = Ai2thorWorld(Ai2thorOptions(player="stand-in"))
    yield world
    world.close()


@pytest.fixture(params=BOTH)
def world(request):
    """A world with AI2-THOR's actions, not reset."""
    if request.param == "household":
        return HouseholdWorld()
    return request.getfixturevalue("stand_in")
