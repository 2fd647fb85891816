"""A whole session without a graph: the parts that the nodes call, in the order of a turn."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import InputError, ModelCancelled, ModelError
from good_ros.core.goals import GoalSet, unspecified_goal
from good_ros.core.plan import StepResult, TaskStatus
from good_ros.experiments.human import SimulatedHuman
from good_ros.inference.goal_management import GoalManager
from good_ros.inference.scorer import Scorer
from good_ros.inference.tracker import BeliefTracker
from good_ros.language import conversation
from good_ros.language.generator import Generator
from good_ros.planning.turn import TurnActor
from good_ros.turns.dialog import DialogFlow, Phase
from good_ros.turns.goals import GoalOrder


class Estimator(Protocol):
    """Says how likely each goal of a set is after a transcript's last turn."""

    def update(
        self, transcript: Transcript, goals: GoalSet, cancel: threading.Event | None = None
    ) -> Belief:
        """The belief over the set. Raises ModelError."""

    def close(self) -> None:
        """Free what is held."""


@dataclass(frozen=True)
class TurnTrace:
    """What became of a turn. Without beliefs, goals and status where it was not acted on, since
    the person ended the session."""

    turn: Turn
    beliefs: tuple[Belief, ...] = ()
    """Pass 1 and the settled one; one alone where no goals are managed."""
    goals: GoalSet | None = None
    """The set that the settled belief is over, with the edit that led to it."""
    status: TaskStatus | None = None


@dataclass(frozen=True)
class SessionEnd:
    """What a session came to."""

    transcript: Transcript
    history: tuple[StepResult, ...]
    statuses: tuple[TaskStatus, ...]
    """The executor's report on each turn that it had to act on."""


class LibrarySession:
    """Runs one session of robot and simulated human.

    ``actor`` holds the world, which is reset for the session already. The generator serves
    dialog and goal manager; each part does what its node does, failures of a model included.
    ``estimator`` takes the place of the belief by ``scorer``; where not ``manages_goals`` the
    goal set stays as it begins. ``asks_person`` lets the actor ask in the middle of a turn, as
    the executor node does.
    """

    def __init__(
        self,
        human: SimulatedHuman,
        actor: TurnActor,
        generator: Generator,
        scorer: Scorer | None,
        *,
        task: str,
        opening: str = "What would you like me to do?",
        seed: int = 0,
        max_turns: int = 20,
        deadline_s: float | None = None,
        on_turn: Callable[[int], None] = lambda turn: None,
        estimator: Estimator | None = None,
        manages_goals: bool = True,
        asks_person: bool = False,
        on_trace: Callable[[TurnTrace], None] = lambda trace: None,
    ) -> None:
        self.human = human
        self.actor = actor
        self.generator = generator
        self.scorer = scorer
        self.task = task
        self.opening = opening
        self.seed = seed
        self.max_turns = max_turns
        self.deadline_s = deadline_s
        self.on_turn = on_turn
        self.estimator = estimator
        self.manages_goals = manages_goals
        self.asks_person = asks_person
        self.on_trace = on_trace
        self._stop = threading.Event()
        self._seen: tuple[StepResult, ...] = ()
        """What the person has seen the robot do, in the turn as well."""

    def run(self) -> SessionEnd:
        """The session from its first question to its end.

        Raises ModelError where the belief or the person's answer cannot be computed.
        """
        session_id = uuid.uuid4().hex[:12]
        flow = DialogFlow(session_id, self.max_turns)
        manager = GoalManager(world=self.actor.world.name)
        order = GoalOrder()
        order.begin(GoalSet(session_id, 0, 1, (unspecified_goal(),)))
        estimator = self._estimator()
        statuses: list[TaskStatus] = []
        if self.asks_person:
            self.actor.ask_person = lambda text, stop: self._answer_aside(flow, text)
        try:
            while flow.phase is not Phase.ENDED:
                self._converse(flow)
                if flow.phase is Phase.ENDED:
                    self.on_trace(TurnTrace(flow.transcript.turns[-1]))
                    break
                trace = self._act(flow, order, manager, estimator)
                if self._stop.is_set():
                    # What the plan had done is undone, and nobody waits for a report.
                    flow.end("the person asked to stop")
                    trace = TurnTrace(flow.transcript.turns[-1])
                else:
                    assert trace.status is not None
                    statuses.append(trace.status)
                    flow.report(trace.status)
                    trace = replace(trace, turn=flow.transcript.turns[-1])
                self.on_trace(trace)
                self.on_turn(flow.transcript.turn)
        finally:
            estimator.close()
        return SessionEnd(flow.transcript, flow.history, tuple(statuses))

    def _estimator(self) -> Estimator:
        if self.estimator is not None:
            return self.estimator
        if self.scorer is None:
            raise InputError("a session needs a scorer, or another estimator of its goals")
        return BeliefTracker(self.scorer)

    def _converse(self, flow: DialogFlow) -> None:
        """Question and answer of a turn."""
        transcript = flow.transcript
        try:
            question = conversation.ask(
                self.generator,
                self.task,
                transcript,
                conversation.status_text(flow.history),
                world=self.actor.world.name,
                seed=self.seed + transcript.turn,
                deadline_s=self.deadline_s,
            )
        except ModelError:
            question = self.opening
        flow.ask(question, 0.0)
        text = self.human.answer(question, flow.next_turn, flow.history)
        try:
            text = conversation.check_utterance(text)
        except InputError:
            text = "I am not sure."
        flow.hear(text, 0.0, self.human.profile.name)
        if conversation.says_done(text, self.human.profile.completion_phrase):
            flow.end("the person said that the task is completed")
        elif conversation.stops(text, self.actor.world.name):
            flow.end("the person asked to stop")

    def _act(
        self, flow: DialogFlow, order: GoalOrder, manager: GoalManager, estimator: Estimator
    ) -> TurnTrace:
        """Belief, goal edit, settled belief and action of a turn."""
        transcript = flow.transcript
        order.hear_transcript(transcript)
        assert order.goals is not None
        belief = settled = estimator.update(transcript, order.goals)
        beliefs = [belief]
        if self.manages_goals:
            order.hear_belief(belief)
            order.answer(self._edit(belief, transcript, order, manager))
            settled = estimator.update(transcript, order.goals)
            beliefs.append(settled)
        self._seen = flow.history

        def see(status: TaskStatus) -> None:
            self._seen = status.history

        status = None
        try:
            status = self.actor.act(
                settled, transcript, flow.history, cancel=self._stop, on_status=see
            )
        except ModelCancelled:
            if not self._stop.is_set():
                raise
        goals = order.goals if self.manages_goals else None
        return TurnTrace(transcript.turns[-1], tuple(beliefs), goals, status)

    def _edit(
        self, belief: Belief, transcript: Transcript, order: GoalOrder, manager: GoalManager
    ) -> GoalSet:
        try:
            return manager.edit(
                belief,
                transcript,
                self.generator,
                self.task,
                scene=self.actor.world.describe(),
                seed=self.seed + belief.turn,
                deadline_s=self.deadline_s,
            )
        except ModelError:
            return order.unchanged(belief)

    def _answer_aside(self, flow: DialogFlow, text: str) -> str | None:
        """The person's answer to a question in the middle of a turn."""
        answer = self.human.answer(text, flow.transcript.turn, self._seen)
        try:
            answer = conversation.check_utterance(answer)
        except InputError:
            return None
        if conversation.stops(answer, self.actor.world.name):
            self._stop.set()
            return None
        return answer
