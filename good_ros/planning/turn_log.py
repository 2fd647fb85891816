"""What was tried in a turn, told as statuses on the way and at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from good_ros.core.belief import Belief
from good_ros.core.plan import ErrorCode, Step, StepResult, TaskState, TaskStatus

OnStatus = Callable[[TaskStatus], None]


class TurnLog:
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
        """The turn as it stands, with everything that was tried in the history."""
        history = (*self.past, *self._tried, *self._running)
        return TaskStatus(self.session_id, self.turn, state, code, message, plan, history)

    def tell(self, state: TaskState, code: ErrorCode = ErrorCode.NONE, message: str = "") -> None:
        """Tell on the way how the plan that runs stands."""
        self.show(self.status(state, self._plan, code, message))

    def show(self, status: TaskStatus) -> None:
        """Tell a status as it is."""
        self._on_status(status)

    def begin(self, plan: tuple[Step, ...]) -> None:
        """A plan is carried out from now on."""
        self._plan = plan
        self.tell(TaskState.EXECUTING)

    def step(self, result: StepResult) -> None:
        """One of its steps was done, or failed."""
        self._running.append(result)
        self.tell(TaskState.EXECUTING)

    def end(self, results: Sequence[StepResult]) -> None:
        """The plan's final results take the place of those told on the way."""
        self._running = []
        self._tried += results
        self._plan = ()
