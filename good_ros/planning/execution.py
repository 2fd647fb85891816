"""Carrying out a plan step by step, each effect verified; a failure is undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step, StepResult
from good_ros.planning.desk import Stop
from good_ros.worlds.base import World


@dataclass(frozen=True)
class PlanOutcome:
    """What became of a plan: its steps' results, and why it ended early if it did."""

    results: tuple[StepResult, ...]
    error_code: ErrorCode = ErrorCode.NONE
    error_msg: str = ""


def run(
    world: World,
    steps: Sequence[Step],
    turn: int,
    on_step: Callable[[StepResult], None] = lambda result: None,
    cancel: Stop | None = None,
) -> PlanOutcome:
    """Do the steps in order.

    After a failure, an effect that is not there, or a cancel (looked at after each step), the
    world is put back to where it was before the plan; the results then say what was tried,
    with the undone steps marked as not successful. Where the world cannot go back, or is lost
    on the way, the code is WORLD_LOST: what is so in it is then not known.
    """
    before = world.snapshot()
    results: list[StepResult] = []

    def undone(code: ErrorCode, message: str) -> PlanOutcome:
        try:
            world.restore(before)
        except WorldError as error:
            code, message = ErrorCode.WORLD_LOST, f"{message}; it could not be undone: {error}"
        kept = tuple(
            replace(r, success=False, error_code=code, error_msg=f"undone: {message}")
            if r.success
            else r
            for r in results
        )
        return PlanOutcome(kept, code, message)

    def is_cancelled() -> bool:
        return cancel is not None and cancel.is_set()

    for step in steps:
        if is_cancelled():
            break
        result = _do(world, step, turn)
        results.append(result)
        on_step(result)
        if not result.success:
            return undone(result.error_code, f"'{step.label}': {result.error_msg}")
    # A word that comes during the last step counts as well.
    if is_cancelled():
        return undone(ErrorCode.CANCELLED, "the plan was cancelled")
    return PlanOutcome(tuple(results))


def _do(world: World, step: Step, turn: int) -> StepResult:
    try:
        outcome = world.act(step)
        if not outcome.success:
            return StepResult(step, False, "", outcome.error_code, outcome.error_msg, turn)
        missing = world.verify(step)
    except WorldError as error:
        return StepResult(step, False, "", ErrorCode.WORLD_LOST, str(error), turn)
    if missing is not None:
        return StepResult(step, False, "", ErrorCode.EFFECT_NOT_VERIFIED, missing, turn)
    return StepResult(step, True, outcome.effect, turn=turn)


def replay(world: World, history: Sequence[StepResult]) -> None:
    """Do again what a session's history says was done, from the world's present state.

    It is how a session's state is rebuilt where there is no snapshot of it (the paper's undo,
    IV-B3). A physical world is as it is: nothing is done again in it. Raises WorldError where a
    step that worked does not any more.
    """
    if getattr(world, "is_physical", False):
        return
    for number, past in enumerate((r for r in history if r.success), start=1):
        result = _do(world, past.step, past.turn)
        if not result.success:
            raise WorldError(
                f"step {number} of the history ('{past.step.label}') cannot be done again: "
                f"{result.error_msg}"
            )
