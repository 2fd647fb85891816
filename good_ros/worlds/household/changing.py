"""Actions that change what a thing is like (AI2-THOR's rules)."""

from __future__ import annotations

from good_ros.core.plan import Step
from good_ros.worlds.household.failures import (
    find_visible,
    require,
    require_not,
)
from good_ros.worlds.household.moving import Result, drop
from good_ros.worlds.household.state import SLICES, ObjectState, SceneState, spawn

PIECES = 6
"""Pieces of a sliced thing. The engine's number depends on the asset and is not in the
scenes' metadata; recorded expert runs name pieces up to the sixth."""


def toggle_on(state: SceneState, step: Step) -> Result:
    return _toggle(state, step, True)


def toggle_off(state: SceneState, step: Step) -> Result:
    return _toggle(state, step, False)


def _toggle(state: SceneState, step: Step, on: bool) -> Result:
    target = find_visible(state, step.object_id)
    word = "on" if on else "off"
    refusal = f"{target.id} is not a toggleable object"
    if switch_of(state, target) is not target:
        refusal = f"{target.id} cannot be toggled: it is controlled by another sim object"
    require(target, "toggleable", f"turned {word}", refusal)
    require_not(
        target.is_toggled == on,
        f"{target.name} is {word} already",
        f"{target.id} is already toggled {word}",
    )
    require_not(
        on and target.is_broken,
        f"{target.name} is broken",
        f"{target.id} is broken and cannot be toggled on",
    )
    require_not(
        on and target.type == "Microwave" and target.is_open,
        f"{target.name} is open: close it before turning it on",
        "Target must be closed to Toggle On!",
    )
    state = _set_toggled(state, target, on)
    return state, f"{target.name} is {word}"


def switch_of(state: SceneState, target: ObjectState) -> ObjectState:
    """What turns an object on and off: a burner's knob, else the object itself."""
    if target.can("toggleable"):
        return target
    switch = state.switches.get(target.id)
    return state.objects[switch] if switch is not None else target


def _set_toggled(state: SceneState, target: ObjectState, on: bool) -> SceneState:
    state = state.change(target.id, is_toggled=on)
    for controlled in target.fixed.get("controlledObjects") or ():
        if controlled in state.objects:
            state = state.change(controlled, is_toggled=on)
    return state


def fill_object(state: SceneState, step: Step) -> Result:
    """``argument`` is the liquid."""
    target = find_visible(state, step.object_id)
    require(target, "canFillWithLiquid", "filled", f"{target.id} is not fillable")
    require_not(
        bool(target.liquid),
        f"{target.name} is full of {target.liquid} already",
        f"{target.id} is already filled",
    )
    return fill(state, target, step.argument), (f"{target.name} is full of {step.argument}")


def fill(state: SceneState, target: ObjectState, liquid: str) -> SceneState:
    """The object full of a liquid; coffee makes it hot."""
    changes = {"liquid": liquid}
    if liquid == "coffee":
        changes["temperature"] = "Hot"
    return state.change(target.id, **changes)


def empty_object(state: SceneState, step: Step) -> Result:
    target = find_visible(state, step.object_id)
    require(target, "canFillWithLiquid", "emptied", f"{target.id} is not fillable")
    require_not(
        not target.liquid, f"{target.name} is empty already", f"{target.id} is already empty"
    )
    return state.change(target.id, liquid=""), f"{target.name} is empty"


def slice_object(state: SceneState, step: Step) -> Result:
    target = find_visible(state, step.object_id)
    require(target, "sliceable", "sliced", f"{target.id} does not have the property CanBeSliced!")
    require_not(
        state.held == target.id,
        f"{target.name} is in hand: put it down to slice it",
        f"{target.id} is in the agent's hand and cannot be sliced",
    )
    kind = SLICES.get(target.type, f"{target.type}Sliced")
    state = spawn(state, target, kind, 1 if target.type == "Egg" else PIECES)
    return state.change(target.id, is_sliced=True, parent=None), f"{target.name} is sliced"


def cook_object(state: SceneState, step: Step) -> Result:
    target = find_visible(state, step.object_id)
    require(target, "cookable", "cooked", f"{target.id} is not cookable")
    require_not(
        target.is_cooked, f"{target.name} is cooked already", f"{target.id} is already cooked"
    )
    return state.change(target.id, is_cooked=True), f"{target.name} is cooked"


def break_object(state: SceneState, step: Step) -> Result:
    target = find_visible(state, step.object_id)
    require(target, "breakable", "broken", f"{target.id} is not breakable")
    require_not(
        target.is_broken, f"{target.name} is broken already", f"{target.id} is already broken"
    )
    state = state
    in_hand = state.held == target.id
    for content in state.contents.get(target.id, ()):
        state = drop(state, content) if in_hand else state.change(content, parent=target.parent)
    if target.is_toggled:
        state = _set_toggled(state, target, False)
    if target.type == "Egg":
        if in_hand:
            # What is left of it cannot be held.
            state = drop(state.holding(None), target.id)
        state = spawn(state, state.objects[target.id], SLICES["Egg"], 1)
        state = state.change(target.id, parent=None)
    return state.change(target.id, is_broken=True, liquid=""), f"{target.name} is broken"


def dirty_object(state: SceneState, step: Step) -> Result:
    return _set_dirty(state, step, True)


def clean_object(state: SceneState, step: Step) -> Result:
    return _set_dirty(state, step, False)


def _set_dirty(state: SceneState, step: Step, dirty: bool) -> Result:
    target = find_visible(state, step.object_id)
    word = "dirty" if dirty else "clean"
    require(target, "dirtyable", f"made {word}", f"{target.id} is not dirtyable")
    require_not(
        target.is_dirty == dirty,
        f"{target.name} is {word} already",
        f"{target.id} is already {word}",
    )
    return state.change(target.id, is_dirty=dirty), f"{target.name} is {word}"
