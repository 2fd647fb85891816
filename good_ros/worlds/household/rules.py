"""What each action does and when it fails, as AI2-THOR's engine has it: one rule an action.

A rule takes the scene's state and a step, and gives the new state with the effect in words, or
raises ActionFailed. The engine's own messages are kept in ``detail`` where they are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.household.state import MUST_BE_OPEN, PLACEABLE_IN, ObjectState, SceneState

TASK_COMPLETED = "TaskCompleted"


class ActionFailed(Exception):
    """An action that the world does not carry out; the state is unchanged."""

    def __init__(self, code: ErrorCode, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = detail or message


Rule = Callable[[SceneState, Step], tuple[SceneState, str]]


def find(state: SceneState, object_id: str) -> ObjectState:
    """The object of an id. Raises ActionFailed NOT_FOUND."""
    found = state.objects.get(object_id)
    if found is None:
        raise ActionFailed(
            ErrorCode.NOT_FOUND,
            f"there is no object {object_id!r}",
            f"Object ID {object_id} appears to be invalid.",
        )
    return found


def require_visible(state: SceneState, target: ObjectState) -> None:
    """Raises ActionFailed NOT_VISIBLE where a closed receptacle hides the object."""
    for parent in state.parents(target.id):
        if parent.is_closed:
            raise ActionFailed(
                ErrorCode.NOT_VISIBLE,
                f"{target.name} is in {parent.name}, which is closed",
                "Target object not found within the specified visibility.",
            )


def open_around(state: SceneState, target: ObjectState) -> tuple[SceneState, list[str]]:
    """Open what hides an object, outermost first (IV-B3); the names of what was opened."""
    opened = []
    for parent in reversed([p for p in state.parents(target.id) if p.is_closed]):
        state, _ = open_object(state, Step("OpenObject", parent.id))
        opened.append(parent.name)
    return state, opened


def stand_at(state: SceneState, target: ObjectState) -> SceneState:
    """The robot teleports to where it can reach the object before each action (IV-B3)."""
    x, _, z = target.position
    return replace(state, agent=(x, state.agent[1], z))


def open_object(state: SceneState, step: Step) -> tuple[SceneState, str]:
    target = find(state, step.object_id)
    if not target.can("openable"):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{target.name} cannot be opened",
            f"{target.id} is not an Openable object",
        )
    require_visible(state, target)
    if target.type == "Microwave" and target.is_toggled:
        raise ActionFailed(
            ErrorCode.WRONG_STATE,
            f"{target.name} is on: turn it off before opening it",
            "Target must be off to open!",
        )
    state = stand_at(state, target)
    return state.change(target.id, is_open=True), f"{target.name} is open"


def close_object(state: SceneState, step: Step) -> tuple[SceneState, str]:
    target = find(state, step.object_id)
    if not target.can("openable"):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{target.name} cannot be closed",
            f"{target.id} is not an Openable object",
        )
    require_visible(state, target)
    state = stand_at(state, target)
    return state.change(target.id, is_open=False), f"{target.name} is closed"


def pickup_object(state: SceneState, step: Step) -> tuple[SceneState, str]:
    target = find(state, step.object_id)
    if not target.can("pickupable"):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{target.name} cannot be picked up",
            f"{target.id} must have the property CanPickup to be picked up.",
        )
    if state.held is not None:
        held = state.objects[state.held]
        raise ActionFailed(
            ErrorCode.HAND_FULL,
            f"the hand holds {held.name}: put it down before picking up {target.name}",
            "Agent hand has something in it already!",
        )
    state, opened = open_around(state, target)
    state = stand_at(state, target)
    state = replace(state.change(target.id, parent=None), held=target.id)
    return state, _with_opened(opened, f"{target.name} is in hand")


def put_object(state: SceneState, step: Step) -> tuple[SceneState, str]:
    receptacle = find(state, step.target_id)
    if state.held is None:
        raise ActionFailed(
            ErrorCode.HAND_EMPTY,
            f"the hand is empty: pick up what goes {receptacle.preposition} {receptacle.name}",
            "Can't place an object if Agent isn't holding anything.",
        )
    held = state.objects[state.held]
    if step.object_id and step.object_id != held.id:
        wanted = find(state, step.object_id)
        raise ActionFailed(ErrorCode.WRONG_STATE, f"the hand holds {held.name}, not {wanted.name}")
    if not receptacle.can("receptacle"):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"nothing can be put in or on {receptacle.name}",
            "This target object is NOT a receptacle!",
        )
    if receptacle.id == held.id or any(p.id == held.id for p in state.parents(receptacle.id)):
        raise ActionFailed(ErrorCode.INCOMPATIBLE, f"{held.name} cannot be put into itself")
    if not may_hold(receptacle.type, held.type):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{held.name} does not go {receptacle.preposition} {receptacle.name}",
            f"{held.type} cannot be placed in {receptacle.type}",
        )
    state, opened = open_around(state, receptacle)
    if receptacle.is_closed and (receptacle.type in MUST_BE_OPEN or receptacle.type == "Safe"):
        state, _ = open_object(state, Step("OpenObject", receptacle.id))
        opened.append(receptacle.name)
    state = stand_at(state, receptacle)
    state = state.change(held.id, parent=receptacle.id, position=receptacle.position)
    effect = f"{held.name} is {receptacle.preposition} {receptacle.name}"
    return replace(state, held=None), _with_opened(opened, effect)


def toggle_on(state: SceneState, step: Step) -> tuple[SceneState, str]:
    return _toggle(state, step, True)


def toggle_off(state: SceneState, step: Step) -> tuple[SceneState, str]:
    return _toggle(state, step, False)


def _toggle(state: SceneState, step: Step, on: bool) -> tuple[SceneState, str]:
    target = switch_of(state, find(state, step.object_id))
    word = "on" if on else "off"
    if not target.can("toggleable"):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{target.name} cannot be turned {word}",
            f"{target.id} is not a toggleable object",
        )
    require_visible(state, target)
    if target.is_toggled == on:
        raise ActionFailed(
            ErrorCode.WRONG_STATE,
            f"{target.name} is {word} already",
            f"{target.id} is already toggled {word}",
        )
    if on and target.type == "Microwave" and target.is_open:
        raise ActionFailed(
            ErrorCode.WRONG_STATE,
            f"{target.name} is open: close it before turning it on",
            "Target must be closed to Toggle On!",
        )
    state = stand_at(state, target).change(target.id, is_toggled=on)
    for controlled in target.fixed.get("controlledObjects") or ():
        if controlled in state.objects:
            state = state.change(controlled, is_toggled=on)
    return state, f"{target.name} is {word}"


def switch_of(state: SceneState, target: ObjectState) -> ObjectState:
    """What turns an object on and off: a burner's knob, else the object itself."""
    if target.can("toggleable"):
        return target
    for other in state.objects.values():
        if target.id in (other.fixed.get("controlledObjects") or ()):
            return other
    return target


def task_completed(state: SceneState, step: Step) -> tuple[SceneState, str]:
    """The end action (IV-B3): it changes nothing in the room."""
    return state, "the task is completed"


RULES: dict[str, Rule] = {
    "OpenObject": open_object,
    "CloseObject": close_object,
    "PickupObject": pickup_object,
    "PutObject": put_object,
    "ToggleObjectOn": toggle_on,
    "ToggleObjectOff": toggle_off,
    TASK_COMPLETED: task_completed,
}


def may_hold(receptacle_type: str, held_type: str) -> bool:
    """Whether the placement table lets a type go in or on a receptacle's type."""
    allowed = PLACEABLE_IN.get(held_type)
    return allowed is None or receptacle_type in allowed


def _with_opened(opened: list[str], effect: str) -> str:
    return f"opened {', '.join(opened)}; {effect}" if opened else effect
