"""Several readings of one model, pooled: a weighted mean of their log-likelihoods.

Where the goal is told matters to what a model thinks likely, and the two layouts err on different
utterances (docs/belief.md), so that their mean errs less. As a distribution over goals this is the
logarithmic opinion pool.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from good_ros.core.goals import Goal
from good_ros.inference.scorer import Score, Scorer, ScoringSession

GOAL_LAST_SHARE = 0.3
"""Weight of ``goal_last`` beside ``goal_first``: about what was fitted on either half of 200
questions of CommonsenseQA with the small model (0.3 and 0.25, docs/belief.md)."""


def pooled(rows: Sequence[Sequence[float]], weights: Sequence[float]) -> tuple[float, ...]:
    """The weighted mean of log-likelihoods in nats, entry by entry; one row a reading."""
    return tuple(
        sum(weight * value for weight, value in zip(weights, values, strict=True))
        for values in zip(*rows, strict=True)
    )


class PooledScorer:
    """``scorers`` are readings of the same model; ``weights`` sum to 1."""

    def __init__(self, scorers: Sequence[Scorer], weights: Sequence[float]) -> None:
        self.scorers = tuple(scorers)
        self.weights = tuple(weights)
        self.model_name = scorers[0].model_name

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        """Plain text has no layout: as the first of the readings."""
        return self.scorers[0].score(contexts, continuation)

    def session(self) -> PooledSession:
        return PooledSession([scorer.session() for scorer in self.scorers], self.weights)

    def self_test(self) -> None:
        for scorer in self.scorers:
            scorer.self_test()

    def close(self) -> None:
        for scorer in self.scorers:
            scorer.close()


class PooledSession:
    """A session of each reading, kept in step."""

    def __init__(self, sessions: Sequence[ScoringSession], weights: Sequence[float]) -> None:
        self._sessions = tuple(sessions)
        self._weights = tuple(weights)
        self.tokens_scored = 0
        self.tokens_reused = 0

    def set_goals(self, goals: Sequence[Goal]) -> None:
        for session in self._sessions:
            session.set_goals(goals)

    def append(self, question: str, utterance: str) -> None:
        for session in self._sessions:
            session.append(question, utterance)

    def log_likelihoods(
        self, cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        return self._pool(lambda session: session.log_likelihoods(cancel))

    def what_if(
        self, question: str, answers: Sequence[str], cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        return self._pool(lambda session: session.what_if(question, answers, cancel))

    def close(self) -> None:
        for session in self._sessions:
            session.close()

    def _pool(
        self, ask: Callable[[ScoringSession], dict[str, tuple[float, ...]]]
    ) -> dict[str, tuple[float, ...]]:
        try:
            found = [ask(session) for session in self._sessions]
        finally:
            self.tokens_scored = sum(session.tokens_scored for session in self._sessions)
            self.tokens_reused = sum(session.tokens_reused for session in self._sessions)
        return {
            goal_id: pooled([one[goal_id] for one in found], self._weights) for goal_id in found[0]
        }
