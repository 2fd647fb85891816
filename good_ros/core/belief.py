"""The posterior over goals, as published."""

from __future__ import annotations

from dataclasses import dataclass

from good_ros.core.goals import Goal


@dataclass(frozen=True)
class Hypothesis:
    """A goal with its probability.

    ``log_likelihood``: nats, of every utterance so far given the goal.
    ``last_log_likelihood``: nats, of the last utterance alone.
    ``log_prior``: nats, normalised over the set.
    """

    goal: Goal
    probability: float
    log_likelihood: float
    log_prior: float
    last_log_likelihood: float = 0.0


@dataclass(frozen=True)
class Belief:
    """A normalised posterior, most likely hypothesis first; entropy in nats."""

    session_id: str
    turn: int
    goals_version: int
    settled: bool
    hypotheses: tuple[Hypothesis, ...]
    entropy: float
    model: str = ""
    seconds: float = 0.0
    tokens_scored: int = 0
    tokens_reused: int = 0
    speaker_id: str = ""
    """Whose goals; empty where there is one belief for all speakers."""

    @property
    def top(self) -> Hypothesis:
        return self.hypotheses[0]

    @property
    def unspecified_probability(self) -> float:
        return sum(h.probability for h in self.hypotheses if h.goal.is_unspecified)
