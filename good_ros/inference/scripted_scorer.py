"""A stand-in for a scoring model, for tests alone: log-likelihoods come from a table."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from good_ros.core.errors import ModelError
from good_ros.core.goals import Goal
from good_ros.inference.scorer import Score

Table = Mapping[tuple[str, str], float]
"""log P(utterance | goal) in nats, by (goal text, utterance)."""


class ScriptedScorer:
    """Scores by a table; an entry that is not in it raises AssertionError.

    ``failures``: this many of the first calls raise ModelError, as a server that is down.
    """

    model_name = "scripted"

    def __init__(self, table: Table, failures: int = 0) -> None:
        self.table = table
        self.failures = failures
        self.sessions = 0

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        values = [self.look_up(context, continuation) for context in contexts]
        return [Score(value, (value,)) for value in values]

    def look_up(self, goal: str, utterance: str) -> float:
        try:
            return self.table[goal, utterance]
        except KeyError:
            raise AssertionError(f"no score is scripted for {goal!r}, {utterance!r}") from None

    def session(self) -> ScriptedSession:
        self.sessions += 1
        return ScriptedSession(self)

    def self_test(self) -> None:
        """A table needs no proof."""

    def close(self) -> None:
        """Nothing is held."""


class ScriptedSession:
    """A session of a scripted scorer; a token is a word."""

    def __init__(self, scorer: ScriptedScorer) -> None:
        self._scorer = scorer
        self._goals: list[Goal] = []
        self._utterances: list[str] = []
        self.tokens_scored = 0
        self.tokens_reused = 0

    def set_goals(self, goals: Sequence[Goal]) -> None:
        self._goals = list(goals)

    def append(self, question: str, utterance: str) -> None:
        self._utterances.append(utterance)

    def log_likelihoods(
        self, cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        if self._scorer.failures:
            self._scorer.failures -= 1
            raise ModelError("the scripted scorer is down")
        self.tokens_scored += len(self._goals) * sum(len(u.split()) for u in self._utterances)
        return {
            goal.id: tuple(self._scorer.look_up(goal.text, u) for u in self._utterances)
            for goal in self._goals
        }

    def what_if(
        self, question: str, answers: Sequence[str], cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        self.tokens_scored += len(self._goals) * sum(len(a.split()) for a in answers)
        return {
            goal.id: tuple(self._scorer.look_up(goal.text, a) for a in answers)
            for goal in self._goals
        }

    def close(self) -> None:
        """Nothing is held."""
