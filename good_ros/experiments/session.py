"""A whole session without a graph: the parts that the nodes call, in the order of a turn."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from good_ros.core.dialog import Transcript
from good_ros.core.errors import InputError, ModelError
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
    """

    def __init__(
        self,
        human: SimulatedHuman,
        actor: TurnActor,
        generator: Generator,
        scorer: Scorer,
        *,
        task: str,
        opening: str = "What would you like me to do?",
        seed: int = 0,
        max_turns: int = 20,
        deadline_s: float | None = None,
        on_turn: Callable[[int], None] = lambda turn: None,
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

    def run(self) -> SessionEnd:
        """The session from its first question to its end.

        Raises ModelError where the belief or the person's answer cannot be computed.
        """
        session_id = uuid.uuid4().hex[:12]
        flow = DialogFlow(session_id, self.max_turns)
        manager = GoalManager(world=self.actor.world.name)
        order = GoalOrder()
        order.begin(GoalSet(session_id, 0, 1, (unspecified_goal(),)))
        tracker = BeliefTracker(self.scorer)
        statuses: list[TaskStatus] = []
        try:
            while flow.phase is not Phase.ENDED:
                self._converse(flow)
                if flow.phase is Phase.ENDED:
                    break
                status = self._act(flow, order, manager, tracker)
                statuses.append(status)
                flow.report(status)
                self.on_turn(flow.transcript.turn)
        finally:
            tracker.close()
        return SessionEnd(flow.transcript, flow.history, tuple(statuses))

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
        self, flow: DialogFlow, order: GoalOrder, manager: GoalManager, tracker: BeliefTracker
    ) -> TaskStatus:
        """Belief, goal edit, settled belief and action of a turn."""
        transcript = flow.transcript
        order.hear_transcript(transcript)
        assert order.goals is not None
        belief = tracker.update(transcript, order.goals)
        order.hear_belief(belief)
        try:
            edited = manager.edit(
                belief,
                transcript,
                self.generator,
                self.task,
                scene=self.actor.world.describe(),
                seed=self.seed + belief.turn,
                deadline_s=self.deadline_s,
            )
        except ModelError:
            edited = order.unchanged(belief)
        order.answer(edited)
        settled = tracker.update(transcript, order.goals)
        return self.actor.act(settled, transcript, flow.history)
