"""What the executor does in a turn, from a settled belief to a status (GOOD, III-E)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import MalformedReply, ModelCancelled, ModelError, ModelTimeout
from good_ros.core.plan import ErrorCode, Step, StepResult, TaskState, TaskStatus
from good_ros.planning.check import check
from good_ros.planning.execution import run
from good_ros.planning.planner import FailedPlan, Planner
from good_ros.worlds.base import World

END_ACTION = "TaskCompleted"


class TurnActor:
    """Plans, checks, acts, verifies, and plans again at most ``max_replans`` times."""

    def __init__(self, world: World, planner: Planner, max_replans: int = 2) -> None:
        self.world = world
        self.planner = planner
        self.max_replans = max_replans

    def act(
        self,
        belief: Belief,
        transcript: Transcript,
        history: Sequence[StepResult],
        *,
        cancel: threading.Event | None = None,
        on_status: Callable[[TaskStatus], None] = lambda status: None,
    ) -> TaskStatus:
        """The status at the turn's end; ``on_status`` gets those on the way.

        Where 'Unspecified' is the most likely there is no action (III-E1). A failure of the
        model or the world is a FAILED status with its code; only ModelCancelled is raised.
        """
        past = tuple(history)

        def status(
            state: TaskState,
            plan: Sequence[Step] = (),
            done: Sequence[StepResult] = (),
            code: ErrorCode = ErrorCode.NONE,
            message: str = "",
        ) -> TaskStatus:
            return TaskStatus(
                belief.session_id,
                belief.turn,
                state,
                code,
                message,
                tuple(plan),
                (*past, *done),
            )

        if belief.top.goal.is_unspecified:
            return status(TaskState.NO_ACTION)

        failed: list[FailedPlan] = []
        tried: list[StepResult] = []
        last = status(TaskState.FAILED, code=ErrorCode.NO_PLAN, message="no plan was made")
        for _ in range(self.max_replans + 1):
            on_status(status(TaskState.PLANNING, done=tried))
            try:
                proposed = self.planner.plan(
                    self.world, belief, transcript, past, failed, cancel
                )
            except ModelCancelled:
                raise
            except ModelError as error:
                return status(TaskState.FAILED, (), tried, _model_code(error), str(error))
            steps = tuple(s for s in proposed if s.action != END_ACTION)
            if any(plan.steps == steps for plan in failed):
                return status(
                    TaskState.FAILED,
                    steps,
                    tried,
                    ErrorCode.REPEATED_PLAN,
                    f"the same plan came again after it failed: {failed[-1].reason}",
                )
            checked = check(self.world, steps)
            if checked.problem:
                failed.append(FailedPlan(steps, checked.problem))
                last = status(
                    TaskState.FAILED, steps, tried, ErrorCode.NO_PLAN, checked.problem
                )
                continue
            if not checked.steps:
                # Whatever was planned holds already. The end action alone is the model's word
                # for 'completed', which the person has not given: the dialog goes on.
                return status(TaskState.NO_ACTION, (), tried)
            done: list[StepResult] = []

            def on_step(
                result: StepResult,
                done: list[StepResult] = done,
                plan: tuple[Step, ...] = checked.steps,
            ) -> None:
                done.append(result)
                on_status(status(TaskState.EXECUTING, plan, (*tried, *done)))

            on_status(status(TaskState.EXECUTING, checked.steps, tried))
            outcome = run(self.world, checked.steps, belief.turn, on_step, cancel)
            tried += outcome.results
            if outcome.error_code is ErrorCode.NONE:
                return status(TaskState.SUCCEEDED, checked.steps, tried)
            failed.append(FailedPlan(steps, outcome.error_msg))
            last = status(
                TaskState.FAILED, checked.steps, tried, outcome.error_code, outcome.error_msg
            )
        return last


def _model_code(error: ModelError) -> ErrorCode:
    if isinstance(error, ModelTimeout):
        return ErrorCode.MODEL_TIMEOUT
    if isinstance(error, MalformedReply):
        return ErrorCode.MODEL_REPLY
    return ErrorCode.MODEL_UNAVAILABLE
