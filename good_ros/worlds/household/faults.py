"""Failures that only physics could tell, put in on purpose: by rate, by object, from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from good_ros.core.errors import InputError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.household.failures import ActionFailed
from good_ros.worlds.household.state import SceneState

NO_VALID_POSITION = "no_valid_position"
CLIPPING_PICKUP = "clipping_pickup"
COLLIDING_TELEPORT = "colliding_teleport"
KINDS = (NO_VALID_POSITION, CLIPPING_PICKUP, COLLIDING_TELEPORT)


class Faults:
    """Which actions fail as physics would make them.

    ``rates`` gives, by kind, the share of actions that fail; ``objects`` gives, by kind, the
    ids, short names or types of objects with which they always fail: the thing or its
    receptacle for ``no_valid_position``, the thing for ``clipping_pickup``, the thing in hand
    for ``colliding_teleport``. Draws follow the seed in the order of the actions.

    Raises InputError for an unknown kind or a rate that is no share.
    """

    def __init__(
        self,
        rates: Mapping[str, float] | None = None,
        objects: Mapping[str, Iterable[str]] | None = None,
        seed: int = 0,
    ) -> None:
        self.rates = dict(rates or {})
        self.objects = {kind: frozenset(names) for kind, names in (objects or {}).items()}
        self.seed = seed
        for kind in (*self.rates, *self.objects):
            if kind not in KINDS:
                raise InputError(f"there is no fault {kind!r}; there are {', '.join(KINDS)}")
        for kind, rate in self.rates.items():
            if not 0.0 <= rate <= 1.0:
                raise InputError(f"the rate of {kind} is {rate}; it must be from 0 to 1")
        self.restart()

    def restart(self) -> None:
        """Draw from the seed again."""
        self._random = random.Random(self.seed)

    def as_json(self) -> str:
        """The text that ``from_json`` reads."""
        return json.dumps(
            {
                "rates": self.rates,
                "objects": {kind: sorted(names) for kind, names in self.objects.items()},
                "seed": self.seed,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Faults:
        """Raises InputError where the text is not what ``as_json`` gives."""
        try:
            fields: dict[str, Any] = json.loads(text)
            return cls(fields.get("rates"), fields.get("objects"), int(fields.get("seed", 0)))
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(f"these are no faults: {text!r}: {error}") from error

    def check_put(self, state: SceneState, step: Step) -> None:
        """Raises ActionFailed FULL where there is no place for what is in hand."""
        if self._hits(state, NO_VALID_POSITION, state.held or "", step.target_id):
            raise no_place(state, step)

    def check_pickup(self, state: SceneState, step: Step) -> None:
        """Raises ActionFailed BLOCKED where a thing cannot be lifted out."""
        if self._hits(state, CLIPPING_PICKUP, step.object_id):
            raise clips(state, step)

    def check_teleport(self, state: SceneState) -> None:
        """Raises ActionFailed BLOCKED where what is in hand would collide."""
        if state.held is not None and self._hits(state, COLLIDING_TELEPORT, state.held):
            raise collides(state)

    def _hits(self, state: SceneState, kind: str, *object_ids: str) -> bool:
        names = self.objects.get(kind, frozenset())
        if names:
            found = [state.objects[i] for i in object_ids if i in state.objects]
            if any(names & {item.id, item.name, item.type} for item in found):
                return True
        rate = self.rates.get(kind, 0.0)
        return rate > 0.0 and self._random.random() < rate


NO_FAULTS = Faults()
"""Nothing is put in; it draws nothing, so that it can be shared."""


def no_place(state: SceneState, step: Step) -> ActionFailed:
    """The failure of a put for which the receptacle has no free place."""
    held, receptacle = state.objects[state.held or ""], state.objects[step.target_id]
    return ActionFailed(
        ErrorCode.FULL,
        f"there is no free place for {held.name} {receptacle.preposition} {receptacle.name}",
        "No valid positions to place object found",
    )


def clips(state: SceneState, step: Step) -> ActionFailed:
    """The failure of a pick-up that something is in the way of."""
    return ActionFailed(
        ErrorCode.BLOCKED,
        f"{state.objects[step.object_id].name} cannot be picked up: something is in the way",
        "Picking up object would cause it to collide and clip into something!",
    )


def collides(state: SceneState) -> ActionFailed:
    """The failure of a teleport with which what is in hand would hit something."""
    return ActionFailed(
        ErrorCode.BLOCKED,
        f"the robot cannot stand there: {state.objects[state.held or ''].name} in its hand would "
        "hit something",
        "Cannot teleport due to hand object collision.",
    )
