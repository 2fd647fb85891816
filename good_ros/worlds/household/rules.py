"""AI2-THOR's actions by their names: one rule an action.

A rule takes the scene's state and a step, and gives the new state with the effect in words, or
raises ActionFailed; a condition says afterwards, from the state alone, whether it is so.
``perform`` does one action as the engine does it, ``apply`` a step of a plan with all that has
to be done before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from good_ros.core.plan import Step
from good_ros.worlds.household import changing, moving
from good_ros.worlds.household.effects import settle
from good_ros.worlds.household.failures import ActionFailed, find
from good_ros.worlds.household.faults import NO_FAULTS, Faults
from good_ros.worlds.household.moving import Result
from good_ros.worlds.household.poses import Pose
from good_ros.worlds.household.preparing import (
    DROP,
    GET_POSES,
    PICKUP,
    PUT,
    TASK_COMPLETED,
    TELEPORT,
    WITHOUT_OBJECT,
    out_of_reach,
    prepare,
    tries,
    with_opened,
)
from good_ros.worlds.household.state import ObjectState, SceneState

__all__ = ["RULES", "TASK_COMPLETED", "WITHOUT_OBJECT", "apply", "perform", "poses_for"]


@dataclass(frozen=True)
class Rule:
    """``apply`` does the action; ``holds`` says whether its effect is there."""

    apply: Callable[[SceneState, Step], Result]
    holds: Callable[[SceneState, ObjectState, Step], bool]


def _task_completed(state: SceneState, step: Step) -> Result:
    """The end action (IV-B3): it changes nothing in the room."""
    return state, "the task is completed"


def _get_poses(state: SceneState, step: Step) -> Result:
    target = find(state, step.object_id)
    count = len(poses_for(state, target.id))
    return state, f"{target.name} can be reached from {count} poses"


RULES: dict[str, Rule] = {
    "OpenObject": Rule(moving.open_object, lambda s, o, _: o.is_open),
    "CloseObject": Rule(moving.close_object, lambda s, o, _: not o.is_open),
    PICKUP: Rule(moving.pickup_object, lambda s, o, _: s.held == o.id),
    PUT: Rule(moving.put_object, lambda s, o, step: o.parent == step.target_id),
    "PushObject": Rule(moving.push_object, lambda s, o, _: s.last_moved == o.id),
    "PullObject": Rule(moving.pull_object, lambda s, o, _: s.last_moved == o.id),
    DROP: Rule(moving.drop_hand_object, lambda s, o, _: s.held != o.id),
    TELEPORT: Rule(moving.teleport_full, lambda s, o, _: True),
    GET_POSES: Rule(_get_poses, lambda s, o, _: True),
    "ToggleObjectOn": Rule(changing.toggle_on, lambda s, o, _: changing.switch_of(s, o).is_toggled),
    "ToggleObjectOff": Rule(
        changing.toggle_off, lambda s, o, _: not changing.switch_of(s, o).is_toggled
    ),
    "FillObjectWithLiquid": Rule(
        changing.fill_object, lambda s, o, step: o.liquid == step.argument
    ),
    "EmptyLiquidFromObject": Rule(changing.empty_object, lambda s, o, _: not o.liquid),
    "SliceObject": Rule(changing.slice_object, lambda s, o, _: o.is_sliced),
    "CookObject": Rule(changing.cook_object, lambda s, o, _: o.is_cooked),
    "BreakObject": Rule(changing.break_object, lambda s, o, _: o.is_broken),
    "DirtyObject": Rule(changing.dirty_object, lambda s, o, _: o.is_dirty),
    "CleanObject": Rule(changing.clean_object, lambda s, o, _: not o.is_dirty),
    TASK_COMPLETED: Rule(_task_completed, lambda s, o, _: True),
}


def apply(state: SceneState, step: Step, faults: Faults = NO_FAULTS) -> Result:
    """Do a step of a plan with a known action: what it needs first, the action, and all that
    follows from it. Raises ActionFailed."""
    prepared = prepare(state, step)
    for receptacle in prepared.opened:
        state = _go_to(state, receptacle, faults)
        state, _ = perform(state, Step("OpenObject", receptacle), faults)
    if prepared.near:
        state = _go_to(state, prepared.near, faults)
    state, effect = perform(state, prepared.step, faults)
    return state, with_opened(state, prepared.opened, effect)


def perform(state: SceneState, step: Step, faults: Faults = NO_FAULTS) -> Result:
    """Do one action as the engine does it, and all that follows from it. Raises ActionFailed."""
    done, effect = RULES[step.action].apply(state.moved(None), step)
    if step.action == PUT:
        faults.check_put(state, step)
    elif step.action == PICKUP:
        faults.check_pickup(state, step)
    elif step.action == TELEPORT:
        faults.check_teleport(state)
    return settle(done), effect


def poses_for(state: SceneState, object_id: str) -> tuple[Pose, ...]:
    """The poses from which an object can be reached, best first."""
    assert state.grid is not None
    return state.grid.poses(state.objects[object_id], state.agent[1])


def _go_to(state: SceneState, object_id: str, faults: Faults) -> SceneState:
    """The robot at the best pose that does not collide. Raises ActionFailed BLOCKED."""
    poses = poses_for(state, object_id)
    count = tries(len(poses))
    reason = ""
    for pose in poses[:count]:
        if pose == state.pose:
            return state
        try:
            faults.check_teleport(state)
        except ActionFailed as collision:
            reason = collision.detail
            continue
        return state.at(pose)
    raise out_of_reach(state.objects[object_id].name, count, reason)
