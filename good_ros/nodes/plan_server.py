"""The ``execute_plan`` action: carries out given steps, one plan at a time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future

from good_ros.action import ExecutePlan
from good_ros.core.plan import ErrorCode, Step, StepResult
from good_ros.nodes.base import GoodNode
from good_ros.nodes.convert import result_to_msg, step_from_msg
from good_ros.nodes.waiting import until_done
from good_ros.planning.execution import PlanOutcome

QUEUE, REFUSE = "queue", "refuse"


@dataclass
class GivenPlan:
    """Steps that a client of the action wants done; ``stop`` is set once it cancels."""

    steps: tuple[Step, ...]
    done: Future
    stop: threading.Event = field(default_factory=threading.Event)
    results: list[StepResult] = field(default_factory=list)
    """Results that are not given as feedback yet; written by the worker alone."""


class PlanOwner(Protocol):
    """What the server needs of its node."""

    @property
    def is_busy(self) -> bool:
        """Whether a plan is being made or carried out."""

    def submit_plan(self, plan: GivenPlan) -> None:
        """Have the worker carry out a plan in its turn, and end it with ``PlanServer.end``."""


class PlanServer:
    """Serves the action on ``node``; ``second_plan`` is 'queue' or 'refuse'."""

    def __init__(self, node: GoodNode, owner: PlanOwner, second_plan: str) -> None:
        self._node = node
        self._owner = owner
        self._second_plan = second_plan
        self._plans: dict[bytes, GivenPlan] = {}
        self._server = ActionServer(
            node,
            ExecutePlan,
            "execute_plan",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=self._on_cancel,
        )

    def close(self) -> None:
        self.abandon()
        self._server.destroy()

    def abandon(self) -> None:
        """Cancel every plan: its session or the node's life has ended."""
        for plan in list(self._plans.values()):
            plan.stop.set()
            self.end(plan, PlanOutcome((), ErrorCode.CANCELLED, "the executor was stopped"))

    def end(self, plan: GivenPlan, outcome: PlanOutcome) -> None:
        """What became of a plan; only the first word counts. In the graph's thread."""
        if not plan.done.done():
            plan.done.set_result(outcome)

    def _on_goal(self, request: ExecutePlan.Goal) -> GoalResponse:
        log = self._node.get_logger()
        if not self._node.active:
            log.warning("execute_plan refused: the executor is not active")
            return GoalResponse.REJECT
        if not request.steps:
            log.warning("execute_plan refused: it has no steps")
            return GoalResponse.REJECT
        if self._second_plan == REFUSE and (self._plans or self._owner.is_busy):
            log.warning("execute_plan refused: another plan is under way (second_plan: refuse)")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_cancel(self, goal: Any) -> CancelResponse:
        if plan := self._plans.get(bytes(goal.goal_id.uuid)):
            plan.stop.set()
        return CancelResponse.ACCEPT

    async def _execute(self, goal: Any) -> ExecutePlan.Result:
        steps = tuple(step_from_msg(step) for step in goal.request.steps)
        plan = GivenPlan(steps, Future())
        key = bytes(goal.goal_id.uuid)
        self._plans[key] = plan
        if goal.is_cancel_requested:
            plan.stop.set()
        watched = Watch(goal, plan)
        self._owner.submit_plan(plan)
        try:
            await until_done(watched)
        finally:
            del self._plans[key]
        outcome: PlanOutcome = plan.done.result()
        if outcome.error_code is ErrorCode.NONE:
            goal.succeed()
        elif outcome.error_code is ErrorCode.CANCELLED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return ExecutePlan.Result(
            error_code=int(outcome.error_code),
            error_msg=outcome.error_msg,
            results=_messages(outcome.results),
        )


class Watch:
    """Passes feedback on whenever it is asked whether the plan is done."""

    def __init__(self, goal: Any, plan: GivenPlan) -> None:
        self._goal = goal
        self._plan = plan
        self._told = 0

    def done(self) -> bool:
        while self._told < len(self._plan.results):
            result = self._plan.results[self._told]
            feedback = ExecutePlan.Feedback(index=self._told, result=result_to_msg(result))
            self._goal.publish_feedback(feedback)
            self._told += 1
        return bool(self._plan.done.done())


def _messages(results: Sequence[StepResult]) -> list[Any]:
    return [result_to_msg(result) for result in results]
