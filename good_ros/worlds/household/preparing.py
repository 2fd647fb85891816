"""What the robot does before an action (IV-B3), the same in every world with AI2-THOR's actions.

The engine's actions need the robot within reach and what hides the thing open. A step of a plan
leaves that out: closed receptacles around it are opened first, outermost first, a burner is
turned by its knob, and the robot goes to where it can reach what it acts on.
"""

from __future__ import annotations

from dataclasses import dataclass

from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.household.changing import switch_of
from good_ros.worlds.household.failures import ActionFailed, find, require_not
from good_ros.worlds.household.moving import must_be_opened, read_pose
from good_ros.worlds.household.poses import ALLOWED_TRIES
from good_ros.worlds.household.state import LIQUIDS, ObjectState, SceneState

PICKUP, PUT, TELEPORT = "PickupObject", "PutObject", "TeleportFull"
TASK_COMPLETED, GET_POSES, DROP = "TaskCompleted", "GetInteractablePoses", "DropHandObject"
WITHOUT_OBJECT = frozenset({TASK_COMPLETED, TELEPORT, DROP})
"""Actions that need no ``object_id``."""
FROM_ANYWHERE = WITHOUT_OBJECT | {GET_POSES}
"""Actions for which the robot need not stand near anything."""


@dataclass(frozen=True)
class Preparation:
    """The engine's action for a step, what is opened before it, and what it is done near."""

    step: Step
    opened: tuple[str, ...] = ()
    near: str = ""
    """The id of what the robot goes to; empty where it can stay."""


def check_form(step: Step) -> None:
    """Raises ActionFailed INVALID_ACTION where a step cannot be told to any engine."""
    if step.action == "FillObjectWithLiquid" and step.argument not in LIQUIDS:
        raise ActionFailed(
            ErrorCode.INVALID_ACTION,
            f"{step.argument!r} is no liquid; there are {', '.join(LIQUIDS)}",
        )
    if step.action == TELEPORT:
        read_pose(step.argument)


def prepare(state: SceneState, step: Step) -> Preparation:
    """What has to be done for ``step`` in a room. Raises ActionFailed where it is clear from
    the room alone that the step cannot be meant."""
    check_form(step)
    if step.action in FROM_ANYWHERE:
        return Preparation(step)
    if step.action == PUT:
        receptacle = find(state, step.target_id)
        _require_in_hand(state, step)
        opened = _closed_around(state, receptacle)
        if must_be_opened(receptacle):
            opened = (*opened, receptacle.id)
        return Preparation(step, opened, _near(state, receptacle))
    target = find(state, step.object_id)
    if step.action == PICKUP:
        return Preparation(step, _closed_around(state, target), _near(state, target))
    if step.action in ("ToggleObjectOn", "ToggleObjectOff"):
        switch = switch_of(state, target)
        told = step if switch is target else Step(step.action, switch.id, "", step.label)
        return Preparation(told, (), _near(state, switch))
    return Preparation(step, (), _near(state, target))


def with_opened(state: SceneState, opened: tuple[str, ...], effect: str) -> str:
    """The effect in words, with what was opened for it."""
    if not opened:
        return effect
    return f"opened {', '.join(state.objects[i].name for i in opened)}; {effect}"


def out_of_reach(name: str, tried: int, reason: str) -> ActionFailed:
    """The failure where the robot cannot stand anywhere near a thing."""
    return ActionFailed(
        ErrorCode.BLOCKED,
        f"the robot cannot get to {name}: {tried} places near it were tried",
        reason,
    )


def tries(count: int) -> int:
    """How many of ``count`` poses are tried."""
    return min(count, ALLOWED_TRIES)


def _require_in_hand(state: SceneState, step: Step) -> None:
    """A put names what it puts, or its effect could not be verified."""
    if state.held is not None and step.object_id != state.held:
        wanted = find(state, step.object_id)
        held = state.objects[state.held]
        require_not(True, f"the hand holds {held.name}, not {wanted.name}")


def _closed_around(state: SceneState, target: ObjectState) -> tuple[str, ...]:
    return tuple(reversed([p.id for p in state.parents(target.id) if p.is_closed]))


def _near(state: SceneState, target: ObjectState) -> str:
    """What is in hand, or in what is in hand, is within reach wherever the robot stands."""
    carried = state.held in (target.id, *(p.id for p in state.parents(target.id)))
    return "" if carried else target.id
