"""The household world: real scenes, AI2-THOR's rules, no physics."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.base import ActionOutcome, ObjectView
from good_ros.worlds.household import rules
from good_ros.worlds.household.arrange import arrange
from good_ros.worlds.household.changing import switch_of
from good_ros.worlds.household.failures import ActionFailed
from good_ros.worlds.household.moving import may_hold
from good_ros.worlds.household.scenes import load_objects
from good_ros.worlds.household.state import (
    AFFORDANCES,
    LIQUIDS,
    ObjectState,
    SceneState,
    start_state,
)

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

    def arrange(
        self,
        poses: Sequence[Mapping[str, Any]] = (),
        toggles: Sequence[Mapping[str, Any]] = (),
        dirty_and_empty: bool = False,
    ) -> None:
        """Set the start of the scene that was reset, as ``household.arrange`` describes."""
        self._state = arrange(self._state, poses, toggles, dirty_and_empty)

    @property
    def state(self) -> SceneState:
        return self._state

    def observe(self) -> list[ObjectView]:
        return [self._view(item) for item in self._state.objects.values() if item.is_usable]

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
                "broken": item.is_broken,
                "sliced": item.is_sliced,
                "cooked": item.is_cooked,
                "dirty": item.is_dirty,
                "liquid": item.liquid,
                "temperature": item.temperature,
                "piece_of": item.piece_of,
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
                "isBroken": item.is_broken,
                "isSliced": item.is_sliced,
                "isCooked": item.is_cooked,
                "isDirty": item.is_dirty,
                "isFilledWithLiquid": bool(item.liquid),
                "fillLiquid": item.liquid or None,
                "temperature": item.temperature,
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
        chosen = [objects[i] for i in relevant if i in objects and objects[i].is_usable]
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
            if switch_of(self._state, item).can("toggleable"):
                steps.append(Step("ToggleObjectOn", item.id, label=f"turn on {item.name}"))
                steps.append(Step("ToggleObjectOff", item.id, label=f"turn off {item.name}"))
            steps += _changes(item)
        steps.append(Step(rules.TASK_COMPLETED, label="task completed"))
        return steps

    def _places_for(
        self, item: ObjectState, chosen_receptacles: Sequence[ObjectState]
    ) -> list[ObjectState]:
        """Where a thing may be put: among the chosen receptacles, where it is now included
        (or a planner could not say that it is right there); else the first few of each type
        that may hold it, other than where it is."""

        def fits(receptacle: ObjectState) -> bool:
            return (
                receptacle.can("receptacle")
                and receptacle.id != item.id
                and receptacle.type != "Floor"
                and may_hold(receptacle.type, item.type)
            )

        if among_chosen := [r for r in chosen_receptacles if fits(r)]:
            return among_chosen
        counts: dict[str, int] = {}
        places = []
        for receptacle in self._state.objects.values():
            elsewhere = receptacle.id != item.parent
            if fits(receptacle) and elsewhere and not receptacle.can("pickupable"):
                counts[receptacle.type] = counts.get(receptacle.type, 0) + 1
                if counts[receptacle.type] <= RECEPTACLES_A_TYPE:
                    places.append(receptacle)
        return places

    def act(self, step: Step) -> ActionOutcome:
        if step.action not in rules.RULES:
            return ActionOutcome(
                False,
                error_code=ErrorCode.INVALID_ACTION,
                error_msg=f"there is no action {step.action!r}; there are "
                + ", ".join(rules.RULES),
            )
        try:
            self._state, effect = rules.apply(self._state, step)
        except ActionFailed as failure:
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
        rule = rules.RULES.get(step.action)
        if rule is None:
            return f"there is no action {step.action!r}"
        item = self._state.objects.get(step.object_id)
        if item is None:
            if step.action in rules.WITHOUT_OBJECT:
                return None
            return f"there is no object {step.object_id!r}"
        if rule.holds(self._state, item, step):
            return None
        return f"after '{step.label or step.action}' it is not so"

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
        lost = [
            o.name
            for o in state.objects.values()
            if o.can("pickupable") and o.is_usable and o.parent is None and o.id != state.held
        ]
        if loose:
            parts.append(f"on the floor: {', '.join(loose)}")
        if lost:
            parts.append(f"in or on nothing: {', '.join(lost)}")
        opened = [o.name for o in state.objects.values() if o.is_open and o.can("receptacle")]
        switched = [o.name for o in state.objects.values() if o.is_toggled and o.can("toggleable")]
        if opened:
            parts.append(f"open: {', '.join(opened)}")
        if switched:
            parts.append(f"on: {', '.join(switched)}")
        if state.held:
            parts.append(f"in hand: {state.objects[state.held].name}")
        return "; ".join(parts)


def _changes(item: ObjectState) -> list[Step]:
    """Steps that change what a thing is like, where they would change it."""
    steps = []
    if item.can("sliceable") and not item.is_sliced:
        steps.append(Step("SliceObject", item.id, label=f"slice {item.name}"))
    if item.can("cookable") and not item.is_cooked:
        steps.append(Step("CookObject", item.id, label=f"cook {item.name}"))
    if item.can("canFillWithLiquid"):
        if item.liquid:
            label = f"empty {item.name}"
            steps.append(Step("EmptyLiquidFromObject", item.id, label=label))
        else:
            steps += [
                Step("FillObjectWithLiquid", item.id, "", f"fill {item.name} with {liquid}", liquid)
                for liquid in LIQUIDS
            ]
    if item.can("dirtyable"):
        action, word = ("CleanObject", "clean") if item.is_dirty else ("DirtyObject", "dirty")
        steps.append(Step(action, item.id, label=f"{word} {item.name}"))
    if item.can("breakable") and not item.is_broken:
        steps.append(Step("BreakObject", item.id, label=f"break {item.name}"))
    if item.can("moveable"):
        steps.append(Step("PushObject", item.id, label=f"push {item.name}"))
        steps.append(Step("PullObject", item.id, label=f"pull {item.name}"))
    return steps


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
        places = [r for r in receptacles if may_hold(r.type, item.type)]
        if places:
            place = generator.choice(places)
            state = state.move(item.id, place.id, place.position)
    return state
