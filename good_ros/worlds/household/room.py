"""What worlds with AI2-THOR's objects share: how a room is seen, told of and checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.base import ActionOutcome, ObjectView
from good_ros.worlds.household import rules
from good_ros.worlds.household.changing import switch_of
from good_ros.worlds.household.failures import ActionFailed
from good_ros.worlds.household.moving import may_hold
from good_ros.worlds.household.state import AFFORDANCES, LIQUIDS, ObjectState, SceneState

RECEPTACLES_A_TYPE = 2
"""Of many receptacles of one type (nine cabinets) the first so many are offered for a put."""

FIXTURES = frozenset({"Floor", "Wall", "Ceiling", "Window", "LightSwitch", "Curtains", "Blinds"})


class Room:
    """The reading half of ``worlds.base.World``, over the state of a scene."""

    def __init__(self) -> None:
        self.scene = ""
        self._state = SceneState({})

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
        return [dict(item) for item in metadata_of(self._state)]

    def interactable_poses(self, object_id: str) -> list[dict[str, Any]]:
        """The poses from which an object can be reached, best first, as GetInteractablePoses
        gives them. Raises WorldError where there is no such object."""
        if object_id not in self._state.objects:
            raise WorldError(f"there is no object {object_id!r}")
        return [pose.as_arguments() for pose in rules.poses_for(self._state, object_id)]

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


def metadata_of(state: SceneState) -> Iterator[dict[str, Any]]:
    """The metadata of a room's objects in AI2-THOR's shape."""
    for item in state.objects.values():
        yield {
            **item.fixed,
            "isOpen": item.is_open,
            "openness": 1.0 if item.is_open else 0.0,
            "isToggled": item.is_toggled,
            "isPickedUp": state.held == item.id,
            "isBroken": item.is_broken,
            "isSliced": item.is_sliced,
            "isCooked": item.is_cooked,
            "isDirty": item.is_dirty,
            "isFilledWithLiquid": bool(item.liquid),
            "fillLiquid": item.liquid or None,
            "temperature": item.temperature,
            "position": dict(zip("xyz", item.position, strict=True)),
            **_moved_box(item),
            "parentReceptacles": [p.id for p in state.parents(item.id)] or None,
            "receptacleObjectIds": list(state.contents.get(item.id, ()))
            if item.can("receptacle")
            else None,
        }


def _moved_box(item: ObjectState) -> dict[str, Any]:
    """The box of a thing where it is now; nothing where it was not moved."""
    start, box = item.fixed["position"], item.fixed.get("axisAlignedBoundingBox")
    by = [now - start[axis] for axis, now in zip("xyz", item.position, strict=True)]
    if not box or not any(by):
        return {}
    moved = {**box, "center": {a: box["center"][a] + d for a, d in zip("xyz", by, strict=True)}}
    if corners := box.get("cornerPoints"):
        moved["cornerPoints"] = [[c + d for c, d in zip(p, by, strict=True)] for p in corners]
    return {"axisAlignedBoundingBox": moved}


def refuse_unknown(step: Step) -> ActionOutcome | None:
    """The outcome of a step whose action no such world knows; None where it is known."""
    if step.action in rules.RULES:
        return None
    return ActionOutcome(
        False,
        error_code=ErrorCode.INVALID_ACTION,
        error_msg=f"there is no action {step.action!r}; there are " + ", ".join(rules.RULES),
    )


def failed(failure: ActionFailed) -> ActionOutcome:
    """The outcome of an action that was not carried out."""
    return ActionOutcome(
        False, error_code=failure.code, error_msg=failure.message, detail=failure.detail
    )


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
