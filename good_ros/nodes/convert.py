"""Between the plain data types of ``good_ros.core`` and the messages."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any

from builtin_interfaces.msg import Time
from std_msgs.msg import Header

from good_ros import msg
from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn, TurnOutcome
from good_ros.core.goals import Goal, GoalOrigin, GoalRemoval, GoalSet, RemovalReason
from good_ros.core.plan import ErrorCode, Step, StepResult, TaskState, TaskStatus


def time_to_msg(seconds: float) -> Time:
    """Seconds since the epoch as a message."""
    whole = int(seconds)
    return Time(sec=whole, nanosec=int((seconds - whole) * 1e9))


def time_from_msg(message: Time) -> float:
    """A message's time in seconds since the epoch."""
    return float(message.sec) + message.nanosec * 1e-9


def step_to_msg(step: Step) -> msg.Step:
    """A step as a message."""
    return msg.Step(
        action=step.action,
        object_id=step.object_id,
        target_id=step.target_id,
        label=step.label,
        argument=step.argument,
    )


def step_from_msg(message: msg.Step) -> Step:
    """The step of a message."""
    return Step(
        message.action, message.object_id, message.target_id, message.label, message.argument
    )


def result_to_msg(result: StepResult) -> msg.StepResult:
    """A step's result as a message."""
    return msg.StepResult(
        step=step_to_msg(result.step),
        turn=result.turn,
        success=result.success,
        effect=result.effect,
        error_code=int(result.error_code),
        error_msg=result.error_msg,
    )


def result_from_msg(message: msg.StepResult) -> StepResult:
    """The result of a message. Raises ValueError for an error code that is not known."""
    return StepResult(
        step=step_from_msg(message.step),
        success=message.success,
        effect=message.effect,
        error_code=ErrorCode(message.error_code),
        error_msg=message.error_msg,
        turn=message.turn,
    )


def transcript_to_msg(transcript: Transcript, header: Header) -> msg.Transcript:
    """A transcript as a message."""
    return msg.Transcript(
        header=header,
        session_id=transcript.session_id,
        turn=transcript.turn,
        turns=[
            msg.TranscriptTurn(
                turn=turn.turn,
                question=turn.question,
                utterance=turn.utterance,
                speaker_id=turn.speaker_id,
                asked=time_to_msg(turn.asked),
                answered=time_to_msg(turn.answered),
                outcome=int(turn.outcome),
                actions=[result_to_msg(r) for r in turn.actions],
            )
            for turn in transcript.turns
        ],
        ended=transcript.ended,
        end_reason=transcript.end_reason,
    )


def transcript_from_msg(message: msg.Transcript) -> Transcript:
    """The transcript of a message. Raises ValueError for a code that is not known."""
    return Transcript(
        session_id=message.session_id,
        turns=tuple(
            Turn(
                turn=turn.turn,
                question=turn.question,
                utterance=turn.utterance,
                speaker_id=turn.speaker_id,
                outcome=TurnOutcome(turn.outcome),
                actions=tuple(result_from_msg(r) for r in turn.actions),
                asked=time_from_msg(turn.asked),
                answered=time_from_msg(turn.answered),
            )
            for turn in message.turns
        ),
        ended=message.ended,
        end_reason=message.end_reason,
    )


def goal_to_msg(goal: Goal) -> msg.Goal:
    """A goal as a message."""
    return msg.Goal(
        id=goal.id,
        text=goal.text,
        origin=int(goal.origin),
        created_turn=goal.created_turn,
        prior=goal.prior,
        pinned=goal.pinned,
    )


def goal_from_msg(message: msg.Goal) -> Goal:
    """The goal of a message. Raises ValueError for an origin that is not known."""
    return Goal(
        id=message.id,
        text=message.text,
        origin=GoalOrigin(message.origin),
        created_turn=message.created_turn,
        prior=message.prior,
        pinned=message.pinned,
    )


def goal_set_to_msg(goal_set: GoalSet, header: Header) -> msg.GoalSet:
    """A goal set with its edit as a message."""
    return msg.GoalSet(
        header=header,
        session_id=goal_set.session_id,
        speaker_id=goal_set.speaker_id,
        turn=goal_set.turn,
        version=goal_set.version,
        goals=[goal_to_msg(g) for g in goal_set.goals],
        added=[goal_to_msg(g) for g in goal_set.added],
        removed=[
            msg.GoalRemoval(goal=goal_to_msg(r.goal), reason=int(r.reason), detail=r.detail)
            for r in goal_set.removed
        ],
    )


def goal_set_from_msg(message: msg.GoalSet) -> GoalSet:
    """The goal set of a message. Raises ValueError for a code that is not known."""
    return GoalSet(
        session_id=message.session_id,
        turn=message.turn,
        version=message.version,
        goals=tuple(goal_from_msg(g) for g in message.goals),
        added=tuple(goal_from_msg(g) for g in message.added),
        removed=tuple(
            GoalRemoval(goal_from_msg(r.goal), RemovalReason(r.reason), r.detail)
            for r in message.removed
        ),
        speaker_id=message.speaker_id,
    )


def belief_to_msg(belief: Belief, header: Header) -> msg.GoalBelief:
    """A belief as a message; logarithms in nats."""
    return msg.GoalBelief(
        header=header,
        session_id=belief.session_id,
        speaker_id=belief.speaker_id,
        turn=belief.turn,
        goals_version=belief.goals_version,
        settled=belief.settled,
        hypotheses=[
            msg.Hypothesis(
                goal=goal_to_msg(h.goal),
                probability=h.probability,
                log_likelihood=h.log_likelihood,
                log_prior=h.log_prior,
                last_log_likelihood=h.last_log_likelihood,
            )
            for h in belief.hypotheses
        ],
        unspecified_probability=belief.unspecified_probability,
        entropy=belief.entropy,
        model=belief.model,
        seconds=belief.seconds,
        tokens_scored=belief.tokens_scored,
        tokens_reused=belief.tokens_reused,
    )


def belief_from_msg(message: msg.GoalBelief) -> Belief:
    """The belief of a message. Raises ValueError for an origin that is not known."""
    return Belief(
        session_id=message.session_id,
        turn=message.turn,
        goals_version=message.goals_version,
        settled=message.settled,
        hypotheses=tuple(
            Hypothesis(
                goal_from_msg(h.goal),
                h.probability,
                h.log_likelihood,
                h.log_prior,
                h.last_log_likelihood,
            )
            for h in message.hypotheses
        ),
        entropy=message.entropy,
        model=message.model,
        seconds=message.seconds,
        tokens_scored=message.tokens_scored,
        tokens_reused=message.tokens_reused,
        speaker_id=message.speaker_id,
    )


def status_to_msg(status: TaskStatus, header: Header) -> msg.TaskStatus:
    """A task's status as a message."""
    return msg.TaskStatus(
        header=header,
        session_id=status.session_id,
        turn=status.turn,
        state=int(status.state),
        error_code=int(status.error_code),
        error_msg=status.error_msg,
        plan=[step_to_msg(s) for s in status.plan],
        history=[result_to_msg(r) for r in status.history],
        scene=status.scene,
        approval_reasons=list(status.approval_reasons),
        conditions=[words for words, _ in status.conditions],
        conditions_true=[is_true for _, is_true in status.conditions],
    )


def status_from_msg(message: msg.TaskStatus) -> TaskStatus:
    """The status of a message. Raises ValueError for a code that is not known."""
    return TaskStatus(
        session_id=message.session_id,
        turn=message.turn,
        state=TaskState(message.state),
        error_code=ErrorCode(message.error_code),
        error_msg=message.error_msg,
        plan=tuple(step_from_msg(s) for s in message.plan),
        history=tuple(result_from_msg(r) for r in message.history),
        scene=message.scene,
        approval_reasons=tuple(message.approval_reasons),
        conditions=tuple(zip(message.conditions, message.conditions_true, strict=False)),
    )


def message_to_dict(message: Any) -> dict[str, Any]:
    """Any message as nested dictionaries; times become seconds since the epoch.

    rosidl_runtime_py does the like, but has no wheel.
    """
    return {
        field: _plain(getattr(message, field)) for field in message.get_fields_and_field_types()
    }


def dict_to_message(message_type: Any, fields: Mapping[str, Any]) -> Any:
    """The inverse of ``message_to_dict``; fields that the type does not have are passed over.

    A number that is null in a record was no finite one, and becomes NaN.
    """
    if message_type is Time:
        return time_to_msg(float(fields))  # type: ignore[arg-type]
    result = message_type()
    for name, kind in message_type.get_fields_and_field_types().items():
        if name in fields:
            setattr(result, name, _typed(kind, fields[name]))
    return result


def _typed(kind: str, value: Any) -> Any:
    if kind.startswith("sequence<"):
        items = kind.removeprefix("sequence<").removesuffix(">")
        return [_typed(items, item) for item in value]
    package, slash, name = kind.partition("/")
    if slash:
        return dict_to_message(getattr(importlib.import_module(f"{package}.msg"), name), value)
    if kind in ("double", "float"):
        return math.nan if value is None else float(value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Time):
        return time_from_msg(value)
    if hasattr(value, "get_fields_and_field_types"):
        return message_to_dict(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
