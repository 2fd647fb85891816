"""The belief's side of a turn: which belief is due for the transcript and goals at hand."""

from __future__ import annotations

from good_ros.core.dialog import Transcript
from good_ros.core.goals import GoalSet


class BeliefOrder:
    """Holds the last transcript and goal set; a belief is due for each new pair of them.

    Pass 1 of turn t is over the goals of an earlier turn; once the goal manager has answered
    with goals of turn t, the belief over those is the settled one. Goals of a later turn than
    the transcript wait for it. Where goals are kept apart by speaker, a turn waits for those of
    whoever spoke in it.
    """

    def __init__(self) -> None:
        self.transcript: Transcript | None = None
        self.goals: GoalSet | None = None
        self._done: tuple[str, int, int] | None = None

    def hear_transcript(self, transcript: Transcript) -> bool:
        """Take a transcript; False for an older one of the same session, which is ignored."""
        held = self.transcript
        if held and held.session_id == transcript.session_id and transcript.turn < held.turn:
            return False
        self.transcript = transcript
        return True

    def hear_goals(self, goals: GoalSet) -> bool:
        """Take a goal set; False for an older version of the same session, which is ignored."""
        held = self.goals
        if held and held.session_id == goals.session_id and goals.version < held.version:
            return False
        self.goals = goals
        return True

    def due(self) -> tuple[Transcript, GoalSet] | None:
        """What to compute a belief for now, or None."""
        transcript, goals = self.transcript, self.goals
        if (
            transcript is None
            or goals is None
            or transcript.session_id != goals.session_id
            or transcript.turn == 0
            or goals.turn > transcript.turn
            or (goals.speaker_id and goals.speaker_id != transcript.speaker)
            or self._key(transcript, goals) == self._done
        ):
            return None
        return transcript, goals

    def is_current(self, transcript: Transcript) -> bool:
        """Whether a transcript is of the session that is held now."""
        return self.transcript is not None and (self.transcript.session_id == transcript.session_id)

    def done(self, transcript: Transcript, goals: GoalSet) -> None:
        """The belief for this pair was published."""
        self._done = self._key(transcript, goals)

    @staticmethod
    def _key(transcript: Transcript, goals: GoalSet) -> tuple[str, int, int]:
        return transcript.session_id, transcript.turn, goals.version
