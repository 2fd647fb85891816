"""The belief of one robot session, kept up with its transcript and goal set."""

from __future__ import annotations

import threading
import time

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import ModelCancelled
from good_ros.core.goals import GoalSet
from good_ros.inference.posterior import make_belief
from good_ros.inference.scorer import Scorer, ScoringSession


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
    ) -> None:
        self.scorer = scorer
        self.temper = temper
        self.forgetting = forgetting
        self.evidence = evidence
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
