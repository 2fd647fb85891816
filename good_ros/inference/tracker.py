"""The belief of one robot session, kept up with its transcript and goal set."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import ModelCancelled
from good_ros.core.goals import Goal, GoalSet
from good_ros.inference.posterior import make_belief
from good_ros.inference.scorer import Scorer, ScoringSession
from good_ros.language.acts import CHANGED_MIND, evidence_weights


@dataclass(frozen=True)
class WhatIf:
    """By goal id and answer log P(answer | goal, dialog, question) in nats, and the tokens that
    it took."""

    log_likelihoods: Mapping[str, Mapping[str, float]]
    tokens_scored: int
    tokens_reused: int


class BeliefTracker:
    """Computes the belief for any transcript and goal set, at the cost of what is new.

    Transcript and goals may each jump (a late start, a new session): the result is always
    that of scoring everything from the start.
    """

    def __init__(
        self,
        scorer: Scorer,
        temper: float = 1.0,
        forgetting: float = 1.0,
        evidence: str = "dialog",
        changed_mind: float = CHANGED_MIND,
    ) -> None:
        self.scorer = scorer
        self.temper = temper
        self.forgetting = forgetting
        self.evidence = evidence
        self.changed_mind = changed_mind
        self._session: ScoringSession | None = None
        self._said: list[tuple[str, str]] = []
        self._session_id = ""
        self._use = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Free the session, once an update that is under way in another thread has ended."""
        with self._use:
            self._closed = True
            self._end_session()

    def _end_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
            self._said = []

    def update(
        self, transcript: Transcript, goals: GoalSet, cancel: threading.Event | None = None
    ) -> Belief:
        """The belief after the transcript's last turn, over the given goals.

        Raises ModelError where the scorer fails and ModelCancelled once ``cancel`` is set;
        the next call then gives the right belief all the same.
        """
        began = time.monotonic()
        with self._use:
            if self._closed:
                raise ModelCancelled(f"{self.scorer.model_name} was closed")
            return self._update(transcript, goals, cancel, began)

    def what_if(
        self,
        transcript: Transcript,
        goals: Sequence[Goal],
        question: str,
        answers: Sequence[str],
        cancel: threading.Event | None = None,
    ) -> WhatIf:
        """How likely each answer would be under each goal, were it given to ``question`` after
        the transcript's last turn; the belief is as it was.

        Raises ModelError where the scorer fails and ModelCancelled once ``cancel`` is set.
        """
        with self._use:
            if self._closed:
                raise ModelCancelled(f"{self.scorer.model_name} was closed")
            session = self._session_for(transcript)
            scored, reused = session.tokens_scored, session.tokens_reused
            session.set_goals(goals)
            values = session.what_if(question, answers, cancel)
            return WhatIf(
                {goal_id: dict(zip(answers, row, strict=True)) for goal_id, row in values.items()},
                session.tokens_scored - scored,
                session.tokens_reused - reused,
            )

    def _update(
        self,
        transcript: Transcript,
        goals: GoalSet,
        cancel: threading.Event | None,
        began: float,
    ) -> Belief:
        session = self._session_for(transcript)
        scored, reused = session.tokens_scored, session.tokens_reused
        session.set_goals(goals.goals)
        log_likelihoods = session.log_likelihoods(cancel)
        return make_belief(
            goals,
            transcript.turn,
            log_likelihoods,
            temper=self.temper,
            forgetting=self.forgetting,
            evidence=self.evidence,
            weights=evidence_weights(
                [turn.utterance for turn in transcript.turns], self.changed_mind
            ),
            model=self.scorer.model_name,
            seconds=time.monotonic() - began,
            tokens_scored=session.tokens_scored - scored,
            tokens_reused=session.tokens_reused - reused,
        )

    def _session_for(self, transcript: Transcript) -> ScoringSession:
        """The scoring session, brought up to the transcript."""
        said = [(turn.question, turn.utterance) for turn in transcript.turns]
        if (
            self._session is None
            or self._session_id != transcript.session_id
            or said[: len(self._said)] != self._said
        ):
            self._end_session()
            self._session = self.scorer.session()
            self._session_id = transcript.session_id
        for question, utterance in said[len(self._said) :]:
            self._session.append(question, utterance)
        self._said = said
        return self._session


MAX_TRACKERS = 4
"""Speakers whose sessions are held at once: each may take the whole of ``cache_mib``."""


class SpeakerTrackers:
    """A tracker for each speaker whose goals are asked about, and one for all together, so that
    the belief of one never has a word of another. Those of an earlier session are closed, and so
    is that of whoever has not spoken for the longest where there are MAX_TRACKERS already: their
    next belief is the same, and takes as long as a first one."""

    def __init__(self, make: Callable[[], BeliefTracker]) -> None:
        self._make = make
        self._trackers: dict[str, BeliefTracker] = {}
        self._session_id = ""
        self._use = threading.Lock()
        self._closed = False

    def close(self) -> None:
        with self._use:
            self._closed = True
            self._close_all()

    @property
    def held(self) -> int:
        """How many trackers there are."""
        return len(self._trackers)

    def _close_all(self) -> None:
        while self._trackers:
            self._trackers.popitem()[1].close()

    def update(
        self, transcript: Transcript, goals: GoalSet, cancel: threading.Event | None = None
    ) -> Belief:
        """As of ``BeliefTracker``, over the turns of the goals' speaker alone."""
        with self._use:
            if self._closed:
                raise ModelCancelled("the belief's sessions were closed")
            if transcript.session_id != self._session_id:
                self._close_all()
                self._session_id = transcript.session_id
            tracker = self._trackers.pop(goals.speaker_id, None)
            if tracker is None:
                while len(self._trackers) >= MAX_TRACKERS:
                    self._trackers.pop(next(iter(self._trackers))).close()
                tracker = self._make()
            self._trackers[goals.speaker_id] = tracker
        return tracker.update(transcript.of_speaker(goals.speaker_id), goals, cancel)
