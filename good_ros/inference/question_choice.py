"""Which question to ask: the one whose answer is expected to tell the most about the goal.

Candidates come from the language model, which is told the likely goals, and from what these goals
differ in. For each candidate the model, playing a person with each of the likely goals, gives
answers; the belief's own scorer says how likely each is under every goal; the expected
information gain follows (``information_gain``). Where even the best gains less than a question
costs, the robot says what it goes by and asks nothing.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript
from good_ros.core.errors import MalformedReply, ModelCancelled, ModelTimeout
from good_ros.core.goals import Goal
from good_ros.inference.information_gain import Draw, expected_gain
from good_ros.inference.layout import DEFAULT_LAYOUT, reading
from good_ros.inference.tracker import BeliefTracker
from good_ros.language import prompts
from good_ros.language.contrast import menu_question, part_questions, recap_question
from good_ros.language.conversation import LISTENING, is_new, one_question
from good_ros.language.generator import Generator, Message, Sampling
from good_ros.language.json_reply import parse

QUESTION_CHARS = 160
PROPOSAL_TOKENS = 96
MADE_FIRST = 2
"""Candidates made from the goals themselves before the model is asked for others."""
ANSWER_TOKENS = 24
ANSWER_TEMPERATURE = 0.7
PLAIN, CHOSEN = "plain", "chosen"
QUESTION_CHOICES = (PLAIN, CHOSEN)
"""The paper's single open question (III-B), or the one that is expected to tell the most."""


@dataclass(frozen=True)
class ChoiceRules:
    """``candidates``: questions that are weighed at most; ``answers``: drawn under each of the
    ``top_goals`` likeliest goals; ``cost``: nats that a question must be expected to gain;
    ``budget_s``: seconds after which the best so far is asked."""

    candidates: int = 4
    top_goals: int = 4
    answers: int = 1
    cost: float = 0.1
    budget_s: float = 30.0


@dataclass(frozen=True)
class ChosenQuestion:
    """What the robot says next; ``gain`` in nats, NaN where it was not computed.

    ``considered`` are the questions that were weighed, with their gains; the tokens are those
    that the scorer read and the model wrote for it.
    """

    text: str
    expects_reply: bool = True
    gain: float = math.nan
    considered: tuple[tuple[str, float], ...] = ()
    tokens_scored: int = 0
    tokens_written: int = 0


@dataclass(frozen=True)
class Situation:
    """What a question is chosen for: the belief that was settled on ``transcript``, the robot's
    task, what was done so far, and questions that were asked beside those of the transcript."""

    belief: Belief | None
    transcript: Transcript
    task: str
    status: str
    also_asked: tuple[str, ...] = ()
    seed: int = 0

    @property
    def goals(self) -> list[Hypothesis]:
        """The goals in words, likeliest first."""
        hypotheses = self.belief.hypotheses if self.belief else ()
        return [h for h in hypotheses if not h.goal.is_unspecified]

    def is_new(self, question: str) -> bool:
        return is_new(question, self.transcript, self.also_asked)


class QuestionChooser:
    """Chooses the robot's questions. ``tracker`` is one of its own: it reads the same dialog as
    the belief's, and its state is never part of a belief."""

    def __init__(
        self, generator: Generator, tracker: BeliefTracker, rules: ChoiceRules | None = None
    ) -> None:
        self.generator = generator
        self.tracker = tracker
        self.rules = rules or ChoiceRules()

    def choose(
        self,
        situation: Situation,
        plain_question: Callable[[], str],
        cancel: threading.Event | None = None,
    ) -> ChosenQuestion:
        """The next question.

        ``plain_question`` makes the paper's question: it is one of the candidates, and the one
        that is asked where there is nothing to choose between, because 'Unspecified' is the most
        likely or no two goals are there. Raises ModelError where no question could be made, and
        ModelCancelled once ``cancel`` is set.
        """
        belief, goals = situation.belief, situation.goals
        if belief is None or belief.top.goal.is_unspecified:
            return plainly_asked(plain_question())
        # No answer can tell more than is unknown.
        if belief.entropy < self.rules.cost:
            statement = going_by(belief.top.goal, situation)
            return ChosenQuestion(statement, expects_reply=False)
        if len(goals) < 2:
            return plainly_asked(plain_question())
        weighing = _Weighing(self, situation, plain_question, cancel)
        try:
            weighing.run()
        except (ModelCancelled, ModelTimeout):
            if cancel is not None and cancel.is_set():
                raise
            # The time is over: what was weighed until now counts.
        return weighing.best()


class _Until(threading.Event):
    """Set once the time is over, or another event is set."""

    def __init__(self, budget_s: float, other: threading.Event | None) -> None:
        super().__init__()
        self._end = time.monotonic() + budget_s
        self._other = other

    @property
    def left_s(self) -> float:
        return max(self._end - time.monotonic(), 0.01)

    def is_set(self) -> bool:
        over = time.monotonic() >= self._end
        return over or (self._other is not None and self._other.is_set())


class _Weighing:
    """One choice: the candidates that were weighed so far, and what it took."""

    def __init__(
        self,
        chooser: QuestionChooser,
        situation: Situation,
        plain_question: Callable[[], str],
        cancel: threading.Event | None,
    ) -> None:
        self.generator = chooser.generator
        self.tracker = chooser.tracker
        self.rules = chooser.rules
        self.situation = situation
        self.plain_question = plain_question
        self.until = _Until(self.rules.budget_s, cancel)
        assert situation.belief is not None
        self.belief = situation.belief
        self.likely = situation.goals[: self.rules.top_goals]
        self.considered: dict[str, float] = {}
        self.tokens_scored = 0
        self.tokens_written = 0

    def run(self) -> None:
        """Weigh candidates until there are enough; raises ModelCancelled or ModelTimeout once
        the time is over."""
        for question in self._candidates():
            if question not in self.considered:
                self.considered[question] = self._gain(question)
            if len(self.considered) >= self.rules.candidates or self.until.is_set():
                return

    def best(self) -> ChosenQuestion:
        """The best of what was weighed; the plain question where nothing was."""
        if not self.considered:
            return replace(
                plainly_asked(self.plain_question()),
                tokens_scored=self.tokens_scored,
                tokens_written=self.tokens_written,
            )
        text, gain = max(self.considered.items(), key=lambda item: item[1])
        asks = gain >= self.rules.cost
        return ChosenQuestion(
            text if asks else going_by(self.belief.top.goal, self.situation),
            asks,
            max(gain, 0.0),
            tuple(self.considered.items()),
            self.tokens_scored,
            self.tokens_written,
        )

    def _candidates(self) -> Iterator[str]:
        """Questions that were not asked before, each kind in turn: what costs nothing to make
        first, so that there is one whenever the time runs out."""
        likely = [(h.goal.text, h.probability) for h in self.likely]
        menu = menu_question([text for text, _ in likely])
        recap = recap_question(likely[0][0])
        made = iter([q for q in (recap, menu, *part_questions(likely)) if self.situation.is_new(q)])
        yield from islice(made, MADE_FIRST)
        proposed = self.rules.candidates - MADE_FIRST - 1
        if proposed > 0:
            yield from self._proposals(proposed)
        question = self.plain_question()
        if question != LISTENING:
            yield question
        yield from made

    def _proposals(self, count: int) -> list[str]:
        schema = {
            "type": "array",
            "items": {"type": "string", "minLength": 3, "maxLength": QUESTION_CHARS},
            "minItems": count,
            "maxItems": count,
        }
        messages = prompts.load("choose_question").messages(
            task=self.situation.task,
            transcript=self.situation.transcript.as_text(),
            status=self.situation.status,
            goals="\n".join(f"- {h.goal.text}" for h in self.likely),
            count=str(count),
        )
        try:
            text = self._generate(messages, Sampling(PROPOSAL_TOKENS), schema)
            proposed = parse(text, schema)
        except MalformedReply:
            # The other candidates do without.
            return []
        questions = dict.fromkeys(one_question(text) for text in proposed)
        return [question for question in questions if self.situation.is_new(question)]

    def _gain(self, question: str) -> float:
        """What the question is expected to tell about the goals, in nats."""
        draws = [
            Draw(h.goal.id, answer)
            for h in self.likely
            for answer in self._answers(h.goal, question)
        ]
        answers = list(dict.fromkeys(draw.answer for draw in draws))
        if not answers:
            return 0.0
        what_if = self.tracker.what_if(
            self.situation.transcript,
            [h.goal for h in self.belief.hypotheses],
            question,
            answers,
            self.until,
        )
        self.tokens_scored += what_if.tokens_scored
        return expected_gain(
            {h.goal.id: h.probability for h in self.belief.hypotheses},
            draws,
            what_if.log_likelihoods,
            self.tracker.temper,
        )

    def _answers(self, goal: Goal, question: str) -> list[str]:
        """What a person with ``goal`` might answer, drawn from the role-play that the belief
        reads (III-C)."""
        dialog = [(turn.question, turn.utterance) for turn in self.situation.transcript.turns]
        messages = reading(DEFAULT_LAYOUT, goal, [*dialog, (question, "")])[:-1]
        texts = [
            self._generate(
                messages,
                Sampling(
                    ANSWER_TOKENS, ANSWER_TEMPERATURE, self.situation.seed + number, stop=("\n",)
                ),
            )
            for number in range(self.rules.answers)
        ]
        return [text for text in (" ".join(t.split()).strip('"') for t in texts) if text]

    def _generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        schema: Mapping[str, Any] | None = None,
    ) -> str:
        reply = self.generator.generate(
            messages,
            sampling,
            json_schema=schema,
            deadline_s=self.until.left_s,
            cancel=self.until,
        )
        self.tokens_written += reply.tokens_out
        return reply.text


def plainly_asked(question: str) -> ChosenQuestion:
    """The plain question, its gain unknown; LISTENING where none was left."""
    return ChosenQuestion(question, expects_reply=question != LISTENING)


def going_by(goal: Goal, situation: Situation) -> str:
    """What the robot says where it does not ask: what it goes by, once, so that a person who
    wants something else can say so."""
    statement = f"I take it that you want {goal.text}. Tell me if you want anything else."
    return statement if situation.is_new(statement) else LISTENING
