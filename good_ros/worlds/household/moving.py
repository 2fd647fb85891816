"""Actions that open, close and move things (AI2-THOR's rules)."""

from __future__ import annotations

import json
import math

from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.household.failures import (
    ActionFailed,
    find,
    find_visible,
    require,
    require_not,
    require_visible,
)
from good_ros.worlds.household.poses import Pose
from good_ros.worlds.household.state import MUST_BE_OPEN, PLACEABLE_IN, ObjectState, SceneState

Result = tuple[SceneState, str]

FORCE = "force"
"""The argument by which a put skips the placement table, as the engine's forceAction does."""
PUSH_M = 0.2
"""How far a push or pull moves a thing, in metres."""
HOLDS_ONE = frozenset(
    {"StoveBurner", "CoffeeMachine", "HandTowelHolder", "TowelHolder", "ToiletPaperHanger"}
)
"""Receptacles with one place (the engine's object-specific receptacles)."""
POSE_FIELDS = ("x", "y", "z", "rotation", "horizon", "standing")


def must_be_opened(receptacle: ObjectState) -> bool:
    """Whether nothing can be put into a receptacle before it is opened."""
    return receptacle.is_closed and (receptacle.type in MUST_BE_OPEN or receptacle.type == "Safe")


def may_hold(receptacle_type: str, held_type: str) -> bool:
    """Whether the placement table lets a type go in or on a receptacle's type."""
    allowed = PLACEABLE_IN.get(held_type)
    return allowed is None or receptacle_type in allowed


def open_object(state: SceneState, step: Step) -> Result:
    target = find_visible(state, step.object_id)
    require(target, "openable", "opened", f"{target.id} is not an Openable object")
    require_not(
        target.type == "Microwave" and target.is_toggled,
        f"{target.name} is on: turn it off before opening it",
        "Target must be off to open!",
    )
    return state.change(target.id, is_open=True), f"{target.name} is open"


def close_object(state: SceneState, step: Step) -> Result:
    target = find_visible(state, step.object_id)
    require(target, "openable", "closed", f"{target.id} is not an Openable object")
    return state.change(target.id, is_open=False), f"{target.name} is closed"


def pickup_object(state: SceneState, step: Step) -> Result:
    target = find_visible(state, step.object_id)
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
    state = state.change(target.id, parent=None)
    return state.holding(target.id), f"{target.name} is in hand"


def put_object(state: SceneState, step: Step) -> Result:
    receptacle = find(state, step.target_id)
    if step.argument != FORCE:
        require_visible(state, receptacle)
    if state.held is None:
        raise ActionFailed(
            ErrorCode.HAND_EMPTY,
            f"the hand is empty: pick up what goes {receptacle.preposition} {receptacle.name}",
            "Can't place an object if Agent isn't holding anything.",
        )
    held = state.objects[state.held]
    require(
        receptacle, "receptacle", "used as a receptacle", "This target object is NOT a receptacle!"
    )
    require_not(
        must_be_opened(receptacle),
        f"{receptacle.name} is closed: open it first",
        "Target openable Receptacle is CLOSED, can't place if target is not open!",
    )
    if receptacle.id == held.id or any(p.id == held.id for p in state.parents(receptacle.id)):
        raise ActionFailed(ErrorCode.INCOMPATIBLE, f"{held.name} cannot be put into itself")
    if step.argument != FORCE and not may_hold(receptacle.type, held.type):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{held.name} does not go {receptacle.preposition} {receptacle.name}",
            f"{held.type} cannot be placed in {receptacle.type}",
        )
    if receptacle.type in HOLDS_ONE and state.contents.get(receptacle.id):
        raise ActionFailed(
            ErrorCode.FULL,
            f"{receptacle.name} is full: take off what is on it first",
            f"{receptacle.id} is full right now!",
        )
    state = state.move(held.id, receptacle.id, receptacle.position)
    effect = f"{held.name} is {receptacle.preposition} {receptacle.name}"
    return state.holding(None), effect


def push_object(state: SceneState, step: Step) -> Result:
    return _shove(state, step, PUSH_M, "pushed")


def pull_object(state: SceneState, step: Step) -> Result:
    return _shove(state, step, -PUSH_M, "pulled")


def _shove(state: SceneState, step: Step, distance: float, done: str) -> Result:
    target = find_visible(state, step.object_id)
    require_not(
        state.held == target.id,
        f"{target.name} is in hand: it cannot be {done}",
        f"{target.id} is in the agent's hand and cannot be {done}",
    )
    if not (target.can("pickupable") or target.can("moveable")):
        raise ActionFailed(
            ErrorCode.INCOMPATIBLE,
            f"{target.name} cannot be {done}",
            "Target object is not moveable or pickupable",
        )
    x, y, z = target.position
    state = state.move(target.id, target.parent, (x, y, z + distance))
    return state.moved(target.id), f"{target.name} was {done}"


def drop_hand_object(state: SceneState, step: Step) -> Result:
    if state.held is None:
        raise ActionFailed(
            ErrorCode.HAND_EMPTY,
            "the hand is empty: there is nothing to drop",
            "nothing in hand to drop!",
        )
    held = state.objects[state.held]
    return drop(state.holding(None), held.id), f"{held.name} is on the floor"


def drop(state: SceneState, object_id: str) -> SceneState:
    """The state with an object on the floor where the robot stands."""
    floor = state.floor
    position = (state.agent[0], floor.position[1] if floor else 0.0, state.agent[2])
    return state.move(object_id, floor.id if floor else None, position)


def teleport_full(state: SceneState, step: Step) -> Result:
    """``argument`` is the pose, as ``read_pose`` takes it."""
    pose = read_pose(step.argument)
    return state.at(pose), f"the robot is at {pose.x:.2f}, {pose.z:.2f}"


def read_pose(text: str) -> Pose:
    """The pose in a JSON object: x, y, z in metres, rotation and horizon in degrees, standing
    true or false; all of them. Raises ActionFailed INVALID_ACTION where it is none."""
    try:
        pose = json.loads(text)
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
    numbers = {name: _number(pose[name]) for name in POSE_FIELDS if name != "standing"}
    if wrong := [name for name, value in numbers.items() if not math.isfinite(value)]:
        raise ActionFailed(
            ErrorCode.INVALID_ACTION,
            f"{', '.join(wrong)} of a pose must be numbers, in metres and degrees",
        )
    return Pose(**numbers, standing=bool(pose["standing"]))


def _number(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
