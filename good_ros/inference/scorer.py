"""Scoring, the interface: log-probabilities of given text under given contexts.

Log-probabilities are natural logarithms (nats), SUMMED over the tokens of the
continuation, never averaged: Bayes' rule needs P(u | g) itself (GOOD, IV-B2).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from good_ros.core.goals import Goal

DEFAULT_CACHE_MIB = 1024.0
"""Keys and values that a session holds at most, in MiB."""


@dataclass(frozen=True)
class Score:
    """``log_probability``: nats, summed over the continuation's tokens, which are one by one
    in ``per_token``."""

    log_probability: float
    per_token: tuple[float, ...] = ()

    @property
    def tokens(self) -> int:
        return len(self.per_token)


class ScoringSession(Protocol):
    """The dialog of one session, scored turn by turn for a changing set of goals.

    The order of calls is free; results never depend on what was cached.
    """

    tokens_scored: int
    """Tokens computed since the session began."""
    tokens_reused: int
    """Tokens that a full recompute would have computed again."""

    def set_goals(self, goals: Sequence[Goal]) -> None:
        """The goals to keep state for; those no longer named are dropped."""

    def append(self, question: str, utterance: str) -> None:
        """Add one turn to the dialog."""

    def log_likelihoods(
        self, cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        """For each goal (by id) the log-likelihood of each utterance so far, in nats.

        Entry i is log P(u_i | g, dialog before i). A goal that was just added is
        scored over the whole dialog. Raises ModelCancelled soon after ``cancel`` is
        set; the session can then be asked again.
        """

    def what_if(
        self, question: str, answers: Sequence[str], cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        """For each goal (by id) the log-likelihood of each answer, in nats, were it the next
        utterance after ``question``.

        Entry i is log P(answer_i | g, dialog so far, question). Nothing is changed: the dialog
        is what it was, and so are later scores.
        """

    def close(self) -> None:
        """Free what is held; the session cannot be used after."""


class Scorer(Protocol):
    """A model that gives log-probabilities of given text."""

    model_name: str

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        """log P(continuation | context) for each context, in the order given.

        Tokens at the join come from encoding context + continuation whole and
        slicing, so that a score is of the text as the model would read it.
        """

    def session(self) -> ScoringSession:
        """A new, empty session."""

    def self_test(self) -> None:
        """Raise CannotScore where token counts differ, an unlikely text beats a likely
        one, or cached differs from uncached."""

    def close(self) -> None:
        """Free the model's own state."""
