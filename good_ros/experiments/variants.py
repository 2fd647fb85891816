"""The ways that are compared: ours, ours with the paper's reading, and its two baselines
(GOOD, IV-B5).

*No Goals* keeps no goals: the planner is told what was said, and nothing else differs. *No
Inference* keeps the goal list as ours does, but the most likely goal (to plan for) and the least
likely one (to remove) are what the language model answers when it is asked, instead of a posterior.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript
from good_ros.core.errors import MalformedReply
from good_ros.core.goals import Goal, GoalSet
from good_ros.core.plan import Step, StepResult
from good_ros.inference.layout import DEFAULT_LAYOUT, Layout
from good_ros.language import prompts
from good_ros.language.generator import Generator, Message, Sampling
from good_ros.language.json_reply import parse
from good_ros.planning.planner import TURNS_SHOWN, FailedPlan, Planner
from good_ros.worlds.base import World

OURS, OURS_PAPER = "ours", "ours_paper"
NO_GOALS, NO_INFERENCE = "no_goals", "no_inference"
NONE_OF_THESE = "none of these"
ANSWER_TOKENS = 80
TRIES = 2
WHAT_WAS_SAID = Goal("said", "")
"""Stands where the rest of the pipeline expects a likeliest goal and none is kept: it has no
words, so that nothing can be read off it."""


@dataclass(frozen=True)
class Variant:
    """``layout`` and ``evidence`` say how the belief is read, where there is one; ``has_nodes``
    whether a ROS graph has nodes for it."""

    name: str
    title: str
    layout: Layout | None = None
    evidence: str = "dialog"

    @property
    def has_nodes(self) -> bool:
        return self.layout is not None

    @property
    def manages_goals(self) -> bool:
        return self.name != NO_GOALS


VARIANTS = {
    variant.name: variant
    for variant in (
        Variant(OURS, "Ours", DEFAULT_LAYOUT),
        Variant(OURS_PAPER, "Ours, the paper's reading", Layout.GOAL_FIRST, "last_turn"),
        Variant(NO_GOALS, "No Goals"),
        Variant(NO_INFERENCE, "No Inference"),
    )
}


class SaidEstimator:
    """No Goals: what was said is all that there is to act on."""

    def update(
        self, transcript: Transcript, goals: GoalSet, cancel: threading.Event | None = None
    ) -> Belief:
        hypotheses = (Hypothesis(WHAT_WAS_SAID, 1.0, 0.0, 0.0),)
        return Belief(
            transcript.session_id, transcript.turn, goals.version, True, hypotheses, entropy=0.0
        )

    def close(self) -> None:
        """Nothing is held."""


class SaidPlanner(Planner):
    """No Goals: plans for what was said in the whole dialog, where ours plans for goals."""

    def plan(
        self,
        world: World,
        belief: Belief,
        transcript: Transcript,
        history: Sequence[StepResult],
        failed: Sequence[FailedPlan] = (),
        cancel: threading.Event | None = None,
    ) -> tuple[Step, ...]:
        self._earlier = Transcript(transcript.session_id, transcript.turns[:-TURNS_SHOWN])
        return super().plan(world, belief, transcript, history, failed, cancel)

    def texts(self, belief: Belief, transcript: Transcript) -> list[str]:
        return [turn.utterance for turn in transcript.turns]

    def _goals_text(self, belief: Belief) -> str:
        text = "- what the human asks for in the conversation"
        if not self._earlier.turns:
            return text
        # The prompt shows the last turns; here those before count as well.
        return f"{text}, and before it in\n{self._earlier.as_text()}"


class AskedEstimator:
    """No Inference: the language model names the most and the least likely goal of the list.

    The belief is certain of the one and has the other last. Whether to propose new goals is asked
    on pass 1, where the model may name none of them, which is 'Unspecified'; what to plan for is
    asked of the settled goals, of which it has to name one. A reply that names none, twice, is
    'Unspecified'.
    """

    def __init__(
        self,
        generator: Generator,
        *,
        task: str,
        world: str = "",
        seed: int = 0,
        deadline_s: float | None = None,
    ) -> None:
        self.generator = generator
        self.task = task
        self.world = world
        self.seed = seed
        self.deadline_s = deadline_s
        self._known: tuple[int, tuple[Goal, ...], Goal] | None = None

    def close(self) -> None:
        """Nothing is held."""

    def update(
        self, transcript: Transcript, goals: GoalSet, cancel: threading.Event | None = None
    ) -> Belief:
        """As ``session.Estimator``; what pass 1 has answered already is not asked again."""
        settled = goals.turn == transcript.turn
        most = self._most_likely(transcript, goals.goals, settled, cancel)
        others = [goal for goal in goals.goals if goal is not most]
        if not settled:
            # Whether to remove it is decided on pass 1 alone.
            least = self._least_likely(transcript, others, cancel)
            others.sort(key=lambda goal: goal is least)
        ordered = (most, *others)
        prior = -math.log(len(ordered))
        hypotheses = tuple(Hypothesis(goal, float(goal is most), 0.0, prior) for goal in ordered)
        return Belief(
            transcript.session_id,
            transcript.turn,
            goals.version,
            settled,
            hypotheses,
            entropy=0.0,
            model=self.generator.model_name,
        )

    def _most_likely(
        self,
        transcript: Transcript,
        goals: Sequence[Goal],
        settled: bool,
        cancel: threading.Event | None,
    ) -> Goal:
        unspecified = next(goal for goal in goals if goal.is_unspecified)
        named = [goal for goal in goals if not goal.is_unspecified]
        if not named:
            return unspecified
        key = (transcript.turn, tuple(goals))
        if not settled:
            chosen = self._ask("most_likely_goal", transcript, [*named, unspecified], cancel)
            self._known = (*key, chosen or unspecified)
            return chosen or unspecified
        if self._known and self._known[:2] == key and not self._known[2].is_unspecified:
            return self._known[2]
        if len(named) == 1:
            return named[0]
        return self._ask("most_likely_goal", transcript, named, cancel) or unspecified

    def _least_likely(
        self, transcript: Transcript, goals: Sequence[Goal], cancel: threading.Event | None
    ) -> Goal | None:
        goals = [goal for goal in goals if not goal.is_unspecified]
        if len(goals) < 2:
            return goals[0] if goals else None
        return self._ask("least_likely_goal", transcript, goals, cancel)

    def _ask(
        self,
        prompt: str,
        transcript: Transcript,
        goals: Sequence[Goal],
        cancel: threading.Event | None,
    ) -> Goal | None:
        by_text = {NONE_OF_THESE if g.is_unspecified else g.text: g for g in goals}
        schema = {
            "type": "object",
            "properties": {"goal": {"enum": list(by_text)}},
            "required": ["goal"],
            "additionalProperties": False,
        }
        messages = prompts.load(prompt, self.world).messages(
            task=self.task,
            transcript=transcript.as_text(),
            goals="\n".join(f"- {text}" for text in by_text),
        )
        sampling = Sampling(ANSWER_TOKENS, 0.0, self.seed + transcript.turn)
        for _ in range(TRIES):
            reply = self.generator.generate(messages, sampling, schema, self.deadline_s, cancel)
            try:
                return by_text[parse(reply.text, schema)["goal"]]
            except MalformedReply as error:
                repair = f"That was not right: {error}. Reply with the JSON object alone."
                messages = [
                    *messages,
                    Message("assistant", reply.text[:500]),
                    Message("user", repair),
                ]
        return None
