"""What the executor does in a turn, from a settled belief to a status (GOOD, III-E)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import MalformedReply, ModelCancelled, ModelError, ModelTimeout
from good_ros.core.plan import ErrorCode, Step, StepResult, TaskState, TaskStatus
from good_ros.planning.check import check
from good_ros.planning.execution import run
from good_ros.planning.planner import FailedPlan, Planner
from good_ros.worlds.base import World

END_ACTION = "TaskCompleted"

OnStatus = Callable[[TaskStatus], None]


@dataclass(frozen=True)
class PlanRecord:
    """A plan as it was dealt with, for measures.

    ``executed`` where its first step was begun; ``repaired`` where it is not the model's first
    word in the turn, or something in it had to be put right (pick-ups that the planner is told
    to leave out not counted).
    """

    turn: int
    steps: tuple[Step, ...]
    executed: bool
    repaired: bool
    refused: bool = False


class TurnActor:
    """Plans, checks, acts, verifies, and plans again at most ``max_replans`` times."""

    def __init__(self, world: World, planner: Planner, max_replans: int = 2) -> None:
        self.world = world
        self.planner = planner
        self.max_replans = max_replans
        self.on_plan: Callable[[PlanRecord], None] = lambda record: None

    def act(
        self,
        belief: Belief,
        transcript: Transcript,
        history: Sequence[StepResult],
        *,
        cancel: threading.Event | None = None,
        on_status: OnStatus = lambda status: None,
    ) -> TaskStatus:
        """The status at the turn's end; ``on_status`` gets those on the way.

        Where 'Unspecified' is the most likely there is no action (III-E1). A failure of the
        model or the world is a FAILED status with its code; only ModelCancelled is raised.
        """
        log = _TurnLog(belief, history, on_status)
        if belief.top.goal.is_unspecified:
            return log.status(TaskState.NO_ACTION)
        failed: list[FailedPlan] = []
        last = log.status(TaskState.FAILED, (), ErrorCode.NO_PLAN, "no plan was made")
        for _ in range(self.max_replans + 1):
            log.tell(TaskState.PLANNING)
            repair_turns = self.planner.repair_turns
            try:
                proposed = self.planner.plan(
                    self.world, belief, transcript, log.past, failed, cancel
                )
            except ModelCancelled:
                raise
            except ModelError as error:
                return log.status(TaskState.FAILED, (), _model_code(error), str(error))
            steps = tuple(s for s in proposed if s.action != END_ACTION)
            if any(plan.steps == steps for plan in failed):
                message = f"the same plan came again after it failed: {failed[-1].reason}"
                return log.status(TaskState.FAILED, steps, ErrorCode.REPEATED_PLAN, message)
            again = bool(failed) or self.planner.repair_turns > repair_turns
            last = self._try(steps, log, again, cancel)
            if last.state is not TaskState.FAILED:
                return last
            failed.append(FailedPlan(steps, last.error_msg))
        return last

    def _try(
        self, steps: tuple[Step, ...], log: _TurnLog, again: bool, cancel: threading.Event | None
    ) -> TaskStatus:
        """Check a plan on a snapshot, then carry it out; FAILED where either does not work."""
        checked = check(self.world, steps)
        if checked.problem:
            return log.status(TaskState.FAILED, steps, ErrorCode.NO_PLAN, checked.problem)
        if not checked.steps:
            # Whatever was planned holds already. The end action alone is the model's word for
            # 'completed', which the person has not given: the dialog goes on.
            return log.status(TaskState.NO_ACTION)
        repaired = again or len(checked.repairs) > checked.implied
        self.on_plan(PlanRecord(log.turn, checked.steps, executed=True, repaired=repaired))
        log.begin(checked.steps)
        outcome = run(self.world, checked.steps, log.turn, log.step, cancel)
        log.end(outcome.results)
        if outcome.error_code is ErrorCode.NONE:
            return log.status(TaskState.SUCCEEDED, checked.steps)
        return log.status(TaskState.FAILED, checked.steps, outcome.error_code, outcome.error_msg)


class _TurnLog:
    """What was tried in this turn, after what was done before it, as statuses."""

    def __init__(self, belief: Belief, history: Sequence[StepResult], on_status: OnStatus) -> None:
        self.session_id = belief.session_id
        self.turn = belief.turn
        self.past = tuple(history)
        self._tried: list[StepResult] = []
        self._running: list[StepResult] = []
        self._plan: tuple[Step, ...] = ()
        self._on_status = on_status

    def status(
        self,
        state: TaskState,
        plan: tuple[Step, ...] = (),
        code: ErrorCode = ErrorCode.NONE,
        message: str = "",
    ) -> TaskStatus:
        history = (*self.past, *self._tried, *self._running)
        return TaskStatus(self.session_id, self.turn, state, code, message, plan, history)

    def tell(self, state: TaskState) -> None:
        self._on_status(self.status(state, self._plan))

    def begin(self, plan: tuple[Step, ...]) -> None:
        self._plan = plan
        self.tell(TaskState.EXECUTING)

    def step(self, result: StepResult) -> None:
        self._running.append(result)
        self.tell(TaskState.EXECUTING)

    def end(self, results: Sequence[StepResult]) -> None:
        """The plan's final results take the place of those told on the way."""
        self._running = []
        self._tried += results
        self._plan = ()


def _model_code(error: ModelError) -> ErrorCode:
    if isinstance(error, ModelTimeout):
        return ErrorCode.MODEL_TIMEOUT
    if isinstance(error, MalformedReply):
        return ErrorCode.MODEL_REPLY
    return ErrorCode.MODEL_UNAVAILABLE
