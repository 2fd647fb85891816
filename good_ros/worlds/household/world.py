"""The household world: real scenes, AI2-THOR's rules, no physics."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.core.plan import Step
from good_ros.worlds.base import ActionOutcome
from good_ros.worlds.household import rules
from good_ros.worlds.household.arrange import arrange
from good_ros.worlds.household.effects import settle
from good_ros.worlds.household.failures import ActionFailed
from good_ros.worlds.household.faults import NO_FAULTS, Faults
from good_ros.worlds.household.houses import is_house, load_house
from good_ros.worlds.household.moving import may_hold
from good_ros.worlds.household.room import FIXTURES, Room, failed, refuse_unknown
from good_ros.worlds.household.scenes import load_objects
from good_ros.worlds.household.state import SceneState, start_state

MOVED_SHARE = 0.3
"""Of the things in a scene, the share that another seed than 0 puts elsewhere."""
SCENES_KEPT = 16


class HouseholdWorld(Room):
    """Implements ``worlds.base.World``. ``reset`` comes first; snapshots are references to
    immutable states, so that undo and trying a plan cost next to nothing.

    ``faults`` are failures of physics that are put in.
    """

    name = "household"

    def __init__(self, faults: Faults = NO_FAULTS) -> None:
        super().__init__()
        self.faults = faults

    def reset(self, scene: str, seed: int = 0) -> None:
        """Set up a scene, or a procedural house from its JSON file; seed 0 leaves it as
        recorded, another one moves about a third of the things that can be picked up to other
        receptacles that may hold them.

        Raises WorldError where there is no such scene.
        """
        state = settled_start(load_house(scene)) if is_house(scene) else _start_of(scene)
        self.scene = scene
        self._state = shuffled(state, seed)
        self.faults.restart()

    def arrange(
        self,
        poses: Sequence[Mapping[str, Any]] = (),
        toggles: Sequence[Mapping[str, Any]] = (),
        dirty_and_empty: bool = False,
    ) -> None:
        """Set the start of the scene that was reset, as ``household.arrange`` describes."""
        self._state = settle(arrange(self._state, poses, toggles, dirty_and_empty))

    def act(self, step: Step) -> ActionOutcome:
        if unknown := refuse_unknown(step):
            return unknown
        try:
            self._state, effect = rules.apply(self._state, step, self.faults)
        except ActionFailed as failure:
            return failed(failure)
        return ActionOutcome(True, effect)

    def snapshot(self) -> object:
        return (self.scene, self._state)

    def restore(self, snapshot: object) -> None:
        match snapshot:
            case (str(scene), SceneState() as state):
                self.scene, self._state = scene, state
            case _:
                raise WorldError("restore takes what snapshot of a household world gave")

    def close(self) -> None:
        """Nothing is held outside of this process."""


def settled_start(objects: Sequence[Mapping[str, Any]]) -> SceneState:
    """A room at its start, with all that follows from it: what is in the fridge is cold."""
    return settle(start_state(objects))


def _start_of(scene: str) -> SceneState:
    """A scene's start; states are immutable, so that all worlds share it."""
    objects = load_objects(scene)
    known = _starts.get(scene)
    if known is None or known[0] is not objects:
        if len(_starts) >= SCENES_KEPT:
            _starts.clear()
        known = _starts[scene] = (objects, settled_start(objects))
    return known[1]


_starts: dict[str, tuple[tuple[dict[str, Any], ...], SceneState]] = {}


def shuffled(state: SceneState, seed: int) -> SceneState:
    """The scene with some things in or on other receptacles; seed 0 leaves it as it is."""
    if not seed:
        return state
    generator = random.Random(seed)
    receptacles = [
        o
        for o in state.objects.values()
        if o.can("receptacle") and not o.can("pickupable") and o.type not in FIXTURES
    ]
    for item in list(state.objects.values()):
        if not item.can("pickupable") or generator.random() >= MOVED_SHARE:
            continue
        places = [r for r in receptacles if may_hold(r.type, item.type)]
        if places:
            place = generator.choice(places)
            state = state.move(item.id, place.id, place.position)
    return settle(state)
