"""Actions that open, close and move things (AI2-THOR's rules)."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.household.failures import (
    ActionFailed,
    find,
    require,
    require_not,
    require_visible,
)
from good_ros.worlds.household.state import MUST_BE_OPEN, PLACEABLE_IN, ObjectState, SceneState

Result = tuple[SceneState, str]

FORCE = "force"
"""The argument by which a put skips the placement table, as the engine's forceAction does."""
PUSH_M = 0.2
"""How far a push or pull moves a thing, in metres."""
POSE_FIELDS = ("x", "y", "z", "rotation", "horizon", "standing")


def stand_at(state: SceneState, target: ObjectState) -> SceneState:
    """The robot teleports to where it can reach the object before each action (IV-B3); what it
    holds it has with it."""
    if state.held in (target.id, *(p.id for p in state.parents(target.id))):
        return state
    x, _, z = target.position
    return replace(state, agent=(x, state.agent[1], z))


def may_hold(receptacle_type: str, held_type: str) -> bool:
    """Whether the placement table lets a type go in or on a receptacle's type."""
    allowed = PLACEABLE_IN.get(held_type)
    return allowed is None or receptacle_type in allowed


def open_object(state: SceneState, step: Step) -> Result:
    target = find(state, step.object_id)
    require(target, "openable", "opened", f"{target.id} is not an Openable object")
    require_visible(state, target)
    require_not(
        target.type == "Microwave" and target.is_toggled,
        f"{target.name} is on: turn it off before opening it",
        "Target must be off to open!",
    )
    return stand_at(state, target).change(target.id, is_open=True), f"{target.name} is open"


def close_object(state: SceneState, step: Step) -> Result:
    target = find(state, step.object_id)
    require(target, "openable", "closed", f"{target.id} is not an Openable object")
    require_visible(state, target)
    return stand_at(state, target).change(target.id, is_open=False), f"{target.name} is closed"


def pickup_object(state: SceneState, step: Step) -> Result:
    target = find(state, step.object_id)
    require(
        target,
        "pickupable",
        "picked up",
        f"{target.id} must have the property CanPickup to be picked up.",
    )
    if state.held is not None:
        held = state.objects[state.held]
        raise ActionFailed(
            ErrorCode.HAND_FULL,
            f"the hand holds {held.name}: put it down before picking up {target.name}",
            "Agent hand has something in it already!",
        )
    state, opened = _open_around(state, target)
    state = stand_at(state, target).change(target.id, parent=None)
    return replace(state, held=target.id), _with_opened(opened, f"{target.name} is in hand")


def put_object(state: SceneState, step: Step) -> Result:
    receptacle = find(state, step.target_id)
    if state.held is None:
        raise ActionFailed(
            ErrorCode.HAND_EMPTY,
            f"the hand is empty: pick up what goes {receptacle.preposition} {receptacle.name}",
            "Can't place an object if Agent isn't holding anything.",
        )
    held = state.objects[state.held]
    if step.object_id != held.id:
        wanted = find(state, step.object_id)
        require_not(True, f"the hand holds {held.name}, not {wanted.name}")
    require(
        receptacle, "receptacle", "used as a receptacle", "This target object is NOT a receptacle!"
    )
    if receptacle.id == held.id or any(p.id == held.id for p in state.parents(receptacle.id)):
        raise ActionFailed(ErrorCode.INCOMPATIBLE, f"{held.name} cannot be put into itself")
    if step.argument != FORCE and not may_hold(receptacle.type, held.type):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{held.name} does not go {receptacle.preposition} {receptacle.name}",
            f"{held.type} cannot be placed in {receptacle.type}",
        )
    state, opened = _open_around(state, receptacle)
    if receptacle.is_closed and (receptacle.type in MUST_BE_OPEN or receptacle.type == "Safe"):
        state, _ = open_object(state, Step("OpenObject", receptacle.id))
        opened.append(receptacle.name)
    state = stand_at(state, receptacle).move(held.id, receptacle.id, receptacle.position)
    effect = f"{held.name} is {receptacle.preposition} {receptacle.name}"
    return replace(state, held=None), _with_opened(opened, effect)


def push_object(state: SceneState, step: Step) -> Result:
    return _shove(state, step, PUSH_M, "pushed")


def pull_object(state: SceneState, step: Step) -> Result:
    return _shove(state, step, -PUSH_M, "pulled")


def _shove(state: SceneState, step: Step, distance: float, done: str) -> Result:
    target = find(state, step.object_id)
    require_not(state.held == target.id, f"{target.name} is in hand: it cannot be {done}")
    if not (target.can("pickupable") or target.can("moveable")):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{target.name} cannot be {done}",
            "Target object is not moveable or pickupable",
        )
    require_visible(state, target)
    x, y, z = target.position
    state = stand_at(state, target).move(target.id, target.parent, (x, y, z + distance))
    return replace(state, last_moved=target.id), f"{target.name} was {done}"


def drop_hand_object(state: SceneState, step: Step) -> Result:
    if state.held is None:
        raise ActionFailed(
            ErrorCode.HAND_EMPTY, "the hand is empty: there is nothing to drop", "nothing in hand"
        )
    held = state.objects[state.held]
    return drop(replace(state, held=None), held.id), f"{held.name} is on the floor"


def drop(state: SceneState, object_id: str) -> SceneState:
    """The state with an object on the floor where the robot stands."""
    floor = state.floor
    position = (state.agent[0], floor.position[1] if floor else 0.0, state.agent[2])
    return state.move(object_id, floor.id if floor else None, position)


def teleport_full(state: SceneState, step: Step) -> Result:
    """``argument`` is the pose as JSON: x, y, z in metres, rotation and horizon in degrees,
    standing true or false."""
    try:
        pose = json.loads(step.argument)
    except ValueError as error:
        raise ActionFailed(ErrorCode.INVALID_ACTION, f"the pose is not JSON: {error}") from error
    if not isinstance(pose, dict):
        raise ActionFailed(
            ErrorCode.INVALID_ACTION, f"a pose is a JSON object with {', '.join(POSE_FIELDS)}"
        )
    if missing := [name for name in POSE_FIELDS if name not in pose]:
        raise ActionFailed(
            ErrorCode.INVALID_ACTION, f"the pose lacks {', '.join(missing)}: give all of them"
        )
    try:
        agent = (float(pose["x"]), float(pose["y"]), float(pose["z"]))
    except (TypeError, ValueError, OverflowError):
        agent = (math.nan, 0.0, 0.0)
    if not all(math.isfinite(value) for value in agent):
        raise ActionFailed(
            ErrorCode.INVALID_ACTION, "x, y and z of a pose must be numbers, in metres"
        )
    return replace(state, agent=agent), f"the robot is at {agent[0]:.2f}, {agent[2]:.2f}"


def _open_around(state: SceneState, target: ObjectState) -> tuple[SceneState, list[str]]:
    """Open what hides an object, outermost first (IV-B3); the names of what was opened."""
    opened = []
    for parent in reversed([p for p in state.parents(target.id) if p.is_closed]):
        state, _ = open_object(state, Step("OpenObject", parent.id))
        opened.append(parent.name)
    return state, opened


def _with_opened(opened: list[str], effect: str) -> str:
    return f"opened {', '.join(opened)}; {effect}" if opened else effect
