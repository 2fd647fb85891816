"""What the executor does in a turn, from a settled belief to a status (GOOD, III-E)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import (
    MalformedReply,
    ModelCancelled,
    ModelError,
    ModelTimeout,
    WorldError,
)
from good_ros.core.plan import ErrorCode, Step, StepResult, TaskState, TaskStatus
from good_ros.planning import choice
from good_ros.planning.check import CheckedPlan
from good_ros.planning.commands import Command, Heard, Unclear, Unknown
from good_ros.planning.commands import choose as choose_command
from good_ros.planning.completion import holds_back, is_completed, is_satisfied
from good_ros.planning.conditions import Conditions
from good_ros.planning.desk import Stop
from good_ros.planning.execution import PlanOutcome, run
from good_ros.planning.needs import Needs, needs_of
from good_ros.planning.planner import FailedPlan, Planner
from good_ros.planning.safety import Safety, load_rules
from good_ros.planning.shopping import (
    closes,
    closing_step,
    refusals,
    removals,
    without_closing,
)
from good_ros.planning.trial import Trials, rehearsal_of
from good_ros.planning.turn_log import OnStatus, TurnLog
from good_ros.planning.usefulness import completed, expected_usefulness, prefer
from good_ros.worlds.base import World

END_ACTION = "TaskCompleted"
LONGEST_PAUSE_S = 30.0

Approve = Callable[[TaskStatus, Stop | None], bool | None]
"""(the status of the waiting plan, cancel) to the person's yes or no; None where none came."""
AskPerson = Callable[[str, Stop | None], str | None]
"""(question, cancel) to the person's answer; None where none came in time."""
Hear = Callable[[Transcript, Sequence[StepResult], World], Heard | None]
"""(transcript, history, world) to the command in the last utterance; None where it is none."""


@dataclass(frozen=True)
class PlanRecord:
    """A plan as it was dealt with, for measures.

    ``executed`` where its first step was begun; ``repaired`` where it is not the model's first
    word in the turn, or something in it had to be put right (pick-ups that the planner is told
    to leave out not counted); ``refused`` by the safety rules or a person. ``usefulness`` is
    what was expected of it (``planning.usefulness``).
    """

    turn: int
    steps: tuple[Step, ...]
    executed: bool
    repaired: bool
    refused: bool = False
    usefulness: float | None = None


@dataclass(frozen=True)
class Patience:
    """How often a planner whose model fails is asked again, after ``first_pause_s`` seconds and
    then twice as long each time."""

    retries: int = 0
    first_pause_s: float = 1.0


class TurnActor:
    """Plans, checks, asks for approval, acts, verifies, and plans again at most ``max_replans``
    times.

    Where ``approve`` is None nobody can say yes: what needs approval is not done. Where
    ``ask_person`` is None no question is asked. ``ask_conditions`` says whether the model may be
    asked when a likely goal is fulfilled; otherwise only its words are read.
    """

    def __init__(
        self,
        world: World,
        planner: Planner,
        max_replans: int = 2,
        *,
        safety: Safety | None = None,
        approve: Approve | None = None,
        ask_person: AskPerson | None = None,
        ask_conditions: bool = False,
        patience: Patience | None = None,
    ) -> None:
        self.world = world
        self.planner = planner
        self.max_replans = max_replans
        self.safety = safety or Safety(load_rules())
        self.approve = approve
        self.ask_person = ask_person
        self.ask_conditions = ask_conditions
        self.patience = patience or Patience()
        self.conditions = Conditions()
        self.needs = Needs()
        self.read_command: Hear = lambda transcript, history, world: None
        """Reads commands in a person's own words (``good_ros.teaching``); by default there are
        none."""
        self.on_plan: Callable[[PlanRecord], None] = lambda record: None

    def reset(self) -> None:
        """A new session begins: what goals mean is learnt anew."""
        self.conditions = Conditions()
        self.needs = Needs()

    def hear(self, transcript: Transcript) -> None:
        """Take what the person has said that they must not get, for plans that are given."""
        self.needs |= needs_of(transcript)

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

        Where 'Unspecified' is the most likely there is no action (III-E1), unless the person
        gave a command: that is an instruction, whatever it is for. A failure of the model or the
        world is a FAILED status with its code; only ModelCancelled is raised.
        """
        log = TurnLog(belief, history, on_status)
        self.needs = needs_of(transcript, belief)
        try:
            heard = self.read_command(transcript, history, self.world)
            if heard is not None:
                # As far as they can be read: a command needs no model.
                self.conditions.learn(belief, self.world.observe())
                status = self._obey(heard, _Turn(belief, transcript, log, cancel))
                return self.with_conditions(status, belief)
        except WorldError as error:
            return log.status(TaskState.FAILED, (), ErrorCode.WORLD_LOST, str(error))
        if belief.top.goal.is_unspecified:
            return log.status(TaskState.NO_ACTION)
        try:
            self._learn(belief, cancel)
            status = self._act(_Turn(belief, transcript, log, cancel))
        except WorldError as error:
            return log.status(TaskState.FAILED, (), ErrorCode.WORLD_LOST, str(error))
        return self.with_conditions(status, belief)

    def _obey(self, heard: Heard, turn: _Turn) -> TaskStatus:
        """Do what was commanded, as it was; ask where it is not clear, and then do it or
        nothing."""
        log = turn.log
        if isinstance(heard, Unclear | Unknown):
            text = heard.question if isinstance(heard, Unclear) else heard.message
            answer = self.ask_person(text, turn.cancel) if self.ask_person else None
            if turn.cancel is not None and turn.cancel.is_set():
                raise ModelCancelled("the turn was cancelled")
            meant = self._meant(heard, answer or "", turn)
            if meant is None:
                new = isinstance(heard, Unknown)
                code = ErrorCode.NOT_FOUND if new else ErrorCode.NONE
                said = f"'{heard.new}' is new to me" if isinstance(heard, Unknown) else text
                return log.status(TaskState.NO_ACTION, (), code, said)
            heard = meant
        if not heard.steps:
            return log.status(TaskState.NO_ACTION)
        log.begin(heard.steps)
        outcome = self.carry_out(
            heard.steps,
            log.status(TaskState.EXECUTING, heard.steps),
            log.turn,
            stop=turn.cancel,
            on_step=log.step,
            on_status=log.show,
        )
        log.end(outcome.results)
        if outcome.error_code is ErrorCode.NONE:
            return log.status(TaskState.SUCCEEDED, heard.steps)
        return log.status(TaskState.FAILED, heard.steps, outcome.error_code, outcome.error_msg)

    def _meant(self, heard: Unclear | Unknown, answer: str, turn: _Turn) -> Command | None:
        """The command that an answer settles on; None for none."""
        if not answer:
            return None
        if isinstance(heard, Unclear) and (meant := choose_command(heard, answer)):
            return meant
        # The answer may say the whole of it, or the name of the thing that was meant.
        words = turn.utterance
        again = (
            [answer, words.replace(heard.new, answer)] if isinstance(heard, Unknown) else [answer]
        )
        for said in again:
            last = replace(turn.transcript.turns[-1], utterance=said)
            transcript = replace(turn.transcript, turns=(*turn.transcript.turns[:-1], last))
            command = self.read_command(transcript, turn.log.past, self.world)
            if isinstance(command, Command):
                return command
        return None

    def carry_out(
        self,
        steps: Sequence[Step],
        status: TaskStatus,
        turn: int,
        *,
        stop: Stop | None = None,
        on_step: Callable[[StepResult], None] = lambda result: None,
        on_status: OnStatus = lambda status: None,
    ) -> PlanOutcome:
        """Do steps that somebody asks for as they are: no step is added or left out.

        They are tried on a snapshot and judged by the safety lists first. ``status`` is what
        those on the way are made from; the results are of ``turn``. Where nothing was done there
        are none.
        """
        problem = self._impossible(steps)
        if problem is not None:
            return problem
        judgement = self.safety.judge_steps(steps, self.world.observe())
        refused = judgement.refused
        if self.needs:
            refused += refusals(Trials(self.world).of(steps), self.needs)
        if refused:
            return PlanOutcome((), ErrorCode.PLAN_REFUSED, "; ".join(refused))
        if judgement.approval:
            waiting = replace(
                status,
                state=TaskState.WAITING_APPROVAL,
                plan=tuple(steps),
                approval_reasons=judgement.approval,
            )
            refusal = self._ask_approval(waiting, stop, on_status)
            if stop is not None and stop.is_set():
                return PlanOutcome((), ErrorCode.CANCELLED, "the plan was cancelled")
            if refusal:
                return PlanOutcome((), ErrorCode.NOT_APPROVED, refusal)
        on_status(replace(status, state=TaskState.EXECUTING, plan=tuple(steps)))
        return run(self.world, steps, turn, on_step, stop)

    def _impossible(self, steps: Sequence[Step]) -> PlanOutcome | None:
        """The first step that cannot be done, with the world's reason; None where all can."""
        world = rehearsal_of(self.world)
        before = world.snapshot()
        try:
            for step in steps:
                outcome = world.act(step)
                if not outcome.success:
                    message = f"'{step.label or step.action}': {outcome.error_msg}"
                    return PlanOutcome((), outcome.error_code, message)
        finally:
            world.restore(before)
        return None

    def with_conditions(self, status: TaskStatus, belief: Belief) -> TaskStatus:
        """The status with the likeliest goal's conditions as they are now."""
        if belief.top.goal.is_unspecified or not self.conditions.of(belief.top.goal):
            return status
        return replace(
            status, conditions=self.conditions.now(belief.top.goal, self.world.observe())
        )

    def _learn(self, belief: Belief, cancel: threading.Event | None) -> None:
        self.conditions.learn(
            belief,
            self.world.observe(),
            self.planner.generator if self.ask_conditions else None,
            deadline_s=self.planner.deadline_s,
            cancel=cancel,
        )

    def _act(self, turn: _Turn) -> TaskStatus:
        log, goal = turn.log, turn.belief.top.goal
        conditions = self.conditions.now(goal, self.world.observe())
        closing = closing_step(self.world) if turn.satisfied else None
        if closing and all(true for _, true in conditions):
            return self._try((*removals(self.world, self.needs), closing), turn)
        if conditions and is_completed(turn.satisfied, False, conditions):
            return log.status(TaskState.DONE)
        last = log.status(TaskState.FAILED, (), ErrorCode.NO_PLAN, "no plan was made")
        for _ in range(self.max_replans + 1):
            log.tell(TaskState.PLANNING)
            repair_turns = self.planner.repair_turns
            try:
                proposed = self._propose(turn)
            except ModelCancelled:
                raise
            except ModelError as error:
                return log.status(TaskState.FAILED, (), _model_code(error), str(error))
            steps = tuple(s for s in proposed if s.action != END_ACTION)
            steps += (closing,) if closing and not steps else ()
            steps = (*removals(self.world, self.needs), *steps)
            if not steps and is_completed(turn.satisfied, bool(proposed), conditions):
                return log.status(TaskState.DONE)
            if any(plan.steps == steps for plan in turn.failed):
                return self._repeated(steps, turn)
            turn.again = bool(turn.failed) or self.planner.repair_turns > repair_turns
            steps = self._ask_which(steps, turn)
            last = self._try(steps, turn)
            rest = without_closing(self.world, steps)
            if last.error_code is ErrorCode.NOT_APPROVED and rest and rest != steps:
                # A no to buying now is no reason not to fill the cart.
                last = self._try(rest, turn)
            if last.state is not TaskState.FAILED or last.error_code in FINAL:
                return last
            turn.failed.append(FailedPlan(steps, last.error_msg))
        return last

    def _propose(self, turn: _Turn) -> tuple[Step, ...]:
        """The planner's plan; a model that fails, though not with nonsense, is asked again."""
        pause = self.patience.first_pause_s
        for left in range(self.patience.retries, -1, -1):
            try:
                return self.planner.plan(
                    self.world,
                    turn.belief,
                    turn.transcript,
                    turn.log.past,
                    turn.failed,
                    turn.cancel,
                )
            except (ModelCancelled, MalformedReply):
                raise
            except ModelError as error:
                if not left:
                    raise
                again = f"{error}; trying again in {pause:g} s"
                turn.log.tell(TaskState.PLANNING, _model_code(error), again)
                if (turn.cancel or threading.Event()).wait(pause):
                    raise ModelCancelled("the turn was cancelled") from error
                pause = min(2 * pause, LONGEST_PAUSE_S)
        raise AssertionError("the last try returns or raises")

    def _ask_which(self, steps: tuple[Step, ...], turn: _Turn) -> tuple[Step, ...]:
        """The steps on the thing that the person means, asked once a turn where it is not clear.

        Without an answer the plan's own choice stands.
        """
        if self.ask_person is None or turn.asked:
            return steps
        objects = self.world.observe()
        texts = self.planner.texts(turn.belief, turn.transcript)
        question = choice.which(steps, texts, objects)
        if question is None:
            return steps
        turn.asked = True
        answer = self.ask_person(question.text, turn.cancel)
        meant = choice.choose(question, answer, objects) if answer else None
        return choice.with_choice(self.world, steps, question, meant) if meant else steps

    def _try(self, steps: tuple[Step, ...], turn: _Turn) -> TaskStatus:
        """Check a plan on a snapshot, ask where it has to be asked, then carry it out; FAILED
        where one of these does not work."""
        log, belief = turn.log, turn.belief
        trials = Trials(self.world)
        checked = trials.check(steps)
        if checked.problem:
            return log.status(TaskState.FAILED, steps, ErrorCode.NO_PLAN, checked.problem)
        checked = self._better(checked, trials, turn)
        if not checked.steps:
            # Whatever was planned holds already. The end action alone is the model's word for
            # 'completed', which the person has not given: the dialog goes on.
            return log.status(TaskState.NO_ACTION)
        if checked.steps in turn.tried:
            return self._repeated(checked.steps, turn)
        turn.tried.append(checked.steps)
        judgement = self.safety.judge(trials, checked.steps, belief, self.conditions, self.needs)
        record = PlanRecord(
            log.turn,
            checked.steps,
            executed=False,
            repaired=turn.again or len(checked.repairs) > checked.implied,
            usefulness=expected_usefulness(trials, checked.steps, belief, self.conditions),
        )
        refusal = "; ".join(judgement.refused)
        code = ErrorCode.PLAN_REFUSED
        if not refusal and judgement.approval:
            code = ErrorCode.NOT_APPROVED
            refusal = self._approval(checked.steps, judgement.approval, turn)
        if refusal:
            self.on_plan(replace(record, refused=True))
            return log.status(TaskState.FAILED, checked.steps, code, refusal)
        self.on_plan(replace(record, executed=True))
        log.begin(checked.steps)
        outcome = run(self.world, checked.steps, log.turn, log.step, turn.cancel)
        log.end(outcome.results)
        if outcome.error_code is ErrorCode.NONE:
            ended = closes(self.world, checked.steps)
            state = TaskState.DONE if ended else TaskState.SUCCEEDED
            return log.status(state, checked.steps)
        return log.status(TaskState.FAILED, checked.steps, outcome.error_code, outcome.error_msg)

    def _better(self, checked: CheckedPlan, trials: Trials, turn: _Turn) -> CheckedPlan:
        """The plan, or with what it lacks for the likeliest goal where that is more useful."""
        if holds_back(turn.utterance):
            return checked
        goal = turn.belief.top.goal
        more = completed(trials, checked, goal, self.conditions, self.planner.max_steps)
        if more is None or more.steps in turn.tried:
            return checked
        return prefer(trials, (checked, more), turn.belief, self.conditions)

    def _approval(self, steps: tuple[Step, ...], reasons: tuple[str, ...], turn: _Turn) -> str:
        """Why the plan is not approved; empty where it is."""
        status = replace(
            turn.log.status(TaskState.WAITING_APPROVAL, steps), approval_reasons=reasons
        )
        status = self.with_conditions(status, turn.belief)
        refusal = self._ask_approval(status, turn.cancel, turn.log.show)
        if turn.cancel is not None and turn.cancel.is_set():
            raise ModelCancelled("the turn was cancelled")
        return refusal

    def _ask_approval(self, status: TaskStatus, stop: Stop | None, show: OnStatus) -> str:
        why = "; ".join(status.approval_reasons)
        if self.approve is None:
            return f"nobody can approve it: {why}"
        show(status)
        answer = self.approve(status, stop)
        if answer is None:
            return f"nobody approved it in time: {why}"
        return "" if answer else f"the person said no: {why}"

    def _repeated(self, steps: tuple[Step, ...], turn: _Turn) -> TaskStatus:
        reason = turn.failed[-1].reason if turn.failed else "it was tried before"
        message = f"the same plan came again after it failed: {reason}"
        return turn.log.status(TaskState.FAILED, steps, ErrorCode.REPEATED_PLAN, message)


FINAL = frozenset(
    {
        ErrorCode.CANCELLED,
        ErrorCode.HALTED,
        ErrorCode.NOT_APPROVED,
        ErrorCode.REPEATED_PLAN,
        ErrorCode.WORLD_LOST,
    }
)
"""Failures after which no other plan is made in the same turn."""


@dataclass
class _Turn:
    """What one turn works with, and what was tried in it."""

    belief: Belief
    transcript: Transcript
    log: TurnLog
    cancel: threading.Event | None

    def __post_init__(self) -> None:
        self.failed: list[FailedPlan] = []
        self.tried: list[tuple[Step, ...]] = []
        self.asked = False
        self.again = False

    @property
    def utterance(self) -> str:
        return self.transcript.turns[-1].utterance if self.transcript.turns else ""

    @property
    def satisfied(self) -> bool:
        return is_satisfied(self.utterance)


def _model_code(error: ModelError) -> ErrorCode:
    if isinstance(error, ModelTimeout):
        return ErrorCode.MODEL_TIMEOUT
    if isinstance(error, MalformedReply):
        return ErrorCode.MODEL_REPLY
    return ErrorCode.MODEL_UNAVAILABLE
