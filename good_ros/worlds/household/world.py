"""The household world: real scenes, AI2-THOR's rules, no physics."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.base import ActionOutcome, ObjectView
from good_ros.worlds.household import rules
from good_ros.worlds.household.scenes import load_objects
from good_ros.worlds.household.state import AFFORDANCES, ObjectState, SceneState, start_state

RECEPTACLES_A_TYPE = 2
"""Of many receptacles of one type (nine cabinets) the first so many are offered for a put."""

FIXTURES = frozenset({"Floor", "Wall", "Ceiling", "Window", "LightSwitch", "Curtains", "Blinds"})
MOVED_SHARE = 0.3
"""Of the things in a scene, the share that another seed than 0 puts elsewhere."""


class HouseholdWorld:
    """Implements ``worlds.base.World``. ``reset`` comes first; snapshots are references to
    immutable states, so that undo and trying a plan cost next to nothing."""

    name = "household"

    def __init__(self) -> None:
        self.scene = ""
        self._state = SceneState({})

    def reset(self, scene: str, seed: int = 0) -> None:
        """Set up a scene; seed 0 leaves it as recorded, another one moves about a third of
        the things that can be picked up to other receptacles that may hold them.

        Raises WorldError where there is no such scene.
        """
        state = start_state(load_objects(scene))
        self.scene = scene
        self._state = _shuffled(state, random.Random(seed)) if seed else state

    @property
    def state(self) -> SceneState:
        return self._state

    def observe(self) -> list[ObjectView]:
        return [self._view(item) for item in self._state.objects.values()]

    def _view(self, item: ObjectState) -> ObjectView:
        return ObjectView(
            id=item.id,
            name=item.name,
            type=item.type,
            affordances=frozenset(a for a in AFFORDANCES if item.can(a)),
            state={
                "open": item.is_open,
                "toggled": item.is_toggled,
                "held": self._state.held == item.id,
            },
            inside=tuple(p.id for p in self._state.parents(item.id)),
        )

    def metadata(self) -> list[dict[str, Any]]:
        """The objects' metadata as AI2-THOR gives it, as they are now."""
        return [
            {
                **item.fixed,
                "isOpen": item.is_open,
                "openness": 1.0 if item.is_open else 0.0,
                "isToggled": item.is_toggled,
                "isPickedUp": self._state.held == item.id,
                "position": dict(zip("xyz", item.position, strict=True)),
                "parentReceptacles": [p.id for p in self._state.parents(item.id)] or None,
                "receptacleObjectIds": list(self._state.contents.get(item.id, ()))
                if item.can("receptacle")
                else None,
            }
            for item in self._state.objects.values()
        ]

    def possible_actions(self, relevant: Sequence[str]) -> list[Step]:
        objects = self._state.objects
        chosen = [objects[object_id] for object_id in relevant if object_id in objects]
        chosen_receptacles = [item for item in chosen if item.can("receptacle")]
        steps: list[Step] = []
        for item in chosen:
            if item.can("pickupable"):
                for receptacle in self._places_for(item, chosen_receptacles):
                    label = f"put {item.name} {receptacle.preposition} {receptacle.name}"
                    steps.append(Step("PutObject", item.id, receptacle.id, label))
        for item in chosen:
            if item.can("pickupable"):
                steps.append(Step("PickupObject", item.id, label=f"pick up {item.name}"))
            if item.can("openable"):
                steps.append(Step("OpenObject", item.id, label=f"open {item.name}"))
                steps.append(Step("CloseObject", item.id, label=f"close {item.name}"))
            if rules.switch_of(self._state, item).can("toggleable"):
                steps.append(Step("ToggleObjectOn", item.id, label=f"turn on {item.name}"))
                steps.append(Step("ToggleObjectOff", item.id, label=f"turn off {item.name}"))
        steps.append(Step(rules.TASK_COMPLETED, label="task completed"))
        return steps

    def _places_for(
        self, item: ObjectState, chosen_receptacles: Sequence[ObjectState]
    ) -> list[ObjectState]:
        """Where a thing may be put: among the chosen receptacles, else the first few of each
        type that may hold it, other than where it is."""

        def fits(receptacle: ObjectState) -> bool:
            return (
                receptacle.can("receptacle")
                and receptacle.id not in (item.id, item.parent)
                and receptacle.type != "Floor"
                and rules.may_hold(receptacle.type, item.type)
            )

        if among_chosen := [r for r in chosen_receptacles if fits(r)]:
            return among_chosen
        counts: dict[str, int] = {}
        places = []
        for receptacle in self._state.objects.values():
            if fits(receptacle) and not receptacle.can("pickupable"):
                counts[receptacle.type] = counts.get(receptacle.type, 0) + 1
                if counts[receptacle.type] <= RECEPTACLES_A_TYPE:
                    places.append(receptacle)
        return places

    def act(self, step: Step) -> ActionOutcome:
        rule = rules.RULES.get(step.action)
        if rule is None:
            return ActionOutcome(
                False,
                error_code=ErrorCode.INVALID_ACTION,
                error_msg=f"there is no action {step.action!r}; there are "
                + ", ".join(rules.RULES),
            )
        try:
            self._state, effect = rule(self._state, step)
        except rules.ActionFailed as failure:
            return ActionOutcome(
                False,
                error_code=failure.code,
                error_msg=failure.message,
                detail=failure.detail,
            )
        return ActionOutcome(True, effect)

    def snapshot(self) -> object:
        return (self.scene, self._state)

    def restore(self, snapshot: object) -> None:
        match snapshot:
            case (str(scene), SceneState() as state):
                self.scene, self._state = scene, state
            case _:
                raise WorldError("restore takes what snapshot of a household world gave")

    def verify(self, step: Step) -> str | None:
        objects = self._state.objects
        item = objects.get(step.object_id)
        if step.action == rules.TASK_COMPLETED:
            return None
        if step.action == "PutObject":
            receptacle = objects.get(step.target_id)
            if item is None or receptacle is None:
                return "what was put, or where, is not there"
            held = item.parent == receptacle.id
            return (
                None if held else f"{item.name} is not {receptacle.preposition} {receptacle.name}"
            )
        if item is None:
            return f"there is no object {step.object_id!r}"
        holds = {
            "OpenObject": lambda: item.is_open,
            "CloseObject": lambda: not item.is_open,
            "PickupObject": lambda: self._state.held == item.id,
            "ToggleObjectOn": lambda: rules.switch_of(self._state, item).is_toggled,
            "ToggleObjectOff": lambda: not rules.switch_of(self._state, item).is_toggled,
        }[step.action]()
        return None if holds else f"after {step.label or step.action} it is not so"

    def describe(self) -> str:
        """What can be picked up and where it is, what is open or on, what is in hand."""
        state = self._state
        parts = []
        loose = []
        for receptacle in state.objects.values():
            things = [
                state.objects[i]
                for i in state.contents.get(receptacle.id, ())
                if state.objects[i].can("pickupable")
            ]
            if things and receptacle.type not in FIXTURES:
                note = " (closed)" if receptacle.is_closed else ""
                names = ", ".join(thing.name for thing in things)
                parts.append(f"{receptacle.preposition} {receptacle.name}{note}: {names}")
            elif things:
                loose += [thing.name for thing in things]
        if loose:
            parts.append(f"on the floor: {', '.join(loose)}")
        opened = [o.name for o in state.objects.values() if o.is_open and o.can("receptacle")]
        switched = [o.name for o in state.objects.values() if o.is_toggled and o.can("toggleable")]
        if opened:
            parts.append(f"open: {', '.join(opened)}")
        if switched:
            parts.append(f"on: {', '.join(switched)}")
        if state.held:
            parts.append(f"in hand: {state.objects[state.held].name}")
        return "; ".join(parts)


def _shuffled(state: SceneState, generator: random.Random) -> SceneState:
    """The scene with some things in or on other receptacles."""
    receptacles = [
        o
        for o in state.objects.values()
        if o.can("receptacle") and not o.can("pickupable") and o.type not in FIXTURES
    ]
    for item in list(state.objects.values()):
        if not item.can("pickupable") or generator.random() >= MOVED_SHARE:
            continue
        places = [r for r in receptacles if rules.may_hold(r.type, item.type)]
        if places:
            place = generator.choice(places)
            state = state.change(item.id, parent=place.id, position=place.position)
    return state
