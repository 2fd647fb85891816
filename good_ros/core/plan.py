"""Steps, what became of them, and the state of a task."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class ErrorCode(IntEnum):
    """Why a step, a plan or a turn failed; the values are those of ``ErrorCode.msg``."""

    NONE = 0
    # The world's own failures.
    NOT_FOUND = 1
    NOT_VISIBLE = 2
    NOT_INTERACTABLE = 3
    WRONG_STATE = 4
    INCOMPATIBLE = 5
    HAND_FULL = 6
    HAND_EMPTY = 7
    FULL = 8
    BLOCKED = 9
    INVALID_ACTION = 10
    WORLD_LOST = 11
    MISSED_GRASP = 12
    DROPPED = 13
    UNREACHABLE = 14
    HALTED = 15
    OUT_OF_STOCK = 16
    # Failures of planning and of the executor.
    EFFECT_NOT_VERIFIED = 20
    NO_PLAN = 21
    PLAN_REFUSED = 22
    CANCELLED = 23
    REPEATED_PLAN = 24
    NOT_APPROVED = 25
    # Failures of a language model.
    MODEL_UNAVAILABLE = 40
    MODEL_TIMEOUT = 41
    MODEL_REPLY = 42


class TaskState(IntEnum):
    """Where the executor stands in a turn; the values are those of ``TaskStatus.msg``."""

    IDLE = 0
    PLANNING = 1
    EXECUTING = 2
    WAITING_APPROVAL = 3
    NO_ACTION = 4
    SUCCEEDED = 5
    FAILED = 6
    DONE = 7

    @property
    def ends_turn(self) -> bool:
        """True where nothing more will happen in this turn."""
        return self in (TaskState.NO_ACTION, TaskState.SUCCEEDED, TaskState.FAILED, TaskState.DONE)


@dataclass(frozen=True)
class Step:
    """One action on the world.

    ``action`` is a name of the world's (``PickupObject``), ``object_id`` what is
    acted on and ``target_id`` the receptacle of a put, both the world's own ids or
    empty; ``label`` is what people and prompts read (``put Bread_1 in Fridge_1``);
    ``argument`` is what else the action needs, such as a liquid, or empty.
    """

    action: str
    object_id: str = ""
    target_id: str = ""
    label: str = ""
    argument: str = ""


@dataclass(frozen=True)
class StepResult:
    """What became of a step: the effect seen in the world, or a typed failure."""

    step: Step
    success: bool
    effect: str = ""
    error_code: ErrorCode = ErrorCode.NONE
    error_msg: str = ""
    turn: int = 0


@dataclass(frozen=True)
class TaskStatus:
    """How the executor stands in a turn, with the steps of the session so far."""

    session_id: str
    turn: int
    state: TaskState
    error_code: ErrorCode = ErrorCode.NONE
    error_msg: str = ""
    plan: tuple[Step, ...] = ()
    history: tuple[StepResult, ...] = ()
    scene: str = ""
    """What the world looks like now, in plain words."""
    approval_reasons: tuple[str, ...] = ()
    """Why the plan waits for approval; empty in every other state."""
    conditions: tuple[tuple[str, bool], ...] = ()
    """By what the likeliest goal is judged fulfilled, in words, and whether it is true now."""
