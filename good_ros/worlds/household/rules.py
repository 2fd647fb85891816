"""The household's actions by AI2-THOR's names: one rule an action.

A rule takes the scene's state and a step, and gives the new state with the effect in words, or
raises ActionFailed; a condition says afterwards, from the state alone, whether it is so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from good_ros.core.plan import Step
from good_ros.worlds.household import changing, moving
from good_ros.worlds.household.effects import settle
from good_ros.worlds.household.moving import Result
from good_ros.worlds.household.state import ObjectState, SceneState

TASK_COMPLETED = "TaskCompleted"


@dataclass(frozen=True)
class Rule:
    """``apply`` does the action; ``holds`` says whether its effect is there."""

    apply: Callable[[SceneState, Step], Result]
    holds: Callable[[SceneState, ObjectState, Step], bool]


def _task_completed(state: SceneState, step: Step) -> Result:
    """The end action (IV-B3): it changes nothing in the room."""
    return state, "the task is completed"


RULES: dict[str, Rule] = {
    "OpenObject": Rule(moving.open_object, lambda s, o, _: o.is_open),
    "CloseObject": Rule(moving.close_object, lambda s, o, _: not o.is_open),
    "PickupObject": Rule(moving.pickup_object, lambda s, o, _: s.held == o.id),
    "PutObject": Rule(moving.put_object, lambda s, o, step: o.parent == step.target_id),
    "PushObject": Rule(moving.push_object, lambda s, o, _: s.last_moved == o.id),
    "PullObject": Rule(moving.pull_object, lambda s, o, _: s.last_moved == o.id),
    "DropHandObject": Rule(moving.drop_hand_object, lambda s, o, _: s.held != o.id),
    "TeleportFull": Rule(moving.teleport_full, lambda s, o, _: True),
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

WITHOUT_OBJECT = frozenset({TASK_COMPLETED, "TeleportFull", "DropHandObject"})
"""Actions that need no ``object_id``."""


def apply(state: SceneState, step: Step) -> Result:
    """Do a step of a known action, with all that follows from it."""
    state, effect = RULES[step.action].apply(replace(state, last_moved=None), step)
    return settle(state), effect
