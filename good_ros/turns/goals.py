"""The goal manager's side of a turn: it owns the goal set and answers each pass 1 once."""

from __future__ import annotations

from dataclasses import replace

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.goals import GoalSet


class GoalOrder:
    """Holds the goal set of the current session, and says which belief to answer.

    With ``per_speaker`` there is one set for each speaker: the current one is that of whoever
    spoke last, and versions count over all of them.
    """

    def __init__(self, per_speaker: bool = False) -> None:
        self.per_speaker = per_speaker
        self.goals: GoalSet | None = None
        self.transcript: Transcript | None = None
        self.belief: Belief | None = None
        self._others: dict[str, GoalSet] = {}
        self._everyones: GoalSet | None = None
        """The set as it stood before anybody spoke, with what people added or pinned by then."""

    def begin(self, goals: GoalSet) -> None:
        """A session begins with these goals (turn 0, version 1)."""
        self.goals = goals
        self.belief = None
        self._others = {}
        self._everyones = None

    def new_speaker(self) -> str:
        """Who spoke last, where the current set is another's; else empty."""
        goals, transcript = self.goals, self.transcript
        if (
            not self.per_speaker
            or goals is None
            or transcript is None
            or not transcript.turns
            or goals.session_id != transcript.session_id
            or goals.speaker_id == transcript.speaker
        ):
            return ""
        return transcript.speaker

    def knows(self, speaker_id: str) -> bool:
        """Whether a speaker has a set of their own already."""
        return speaker_id in self._others

    def turn_to(self, speaker_id: str, first: GoalSet) -> GoalSet:
        """Make the set of a speaker the current one; where they have none yet, that of before
        anybody spoke, or ``first``. Its turn is the one before the transcript's, so that the
        belief over it is a pass 1."""
        assert self.goals is not None
        assert self.transcript is not None
        if self.goals.speaker_id:
            self._others[self.goals.speaker_id] = self.goals
        else:
            self._everyones = self.goals
        own = self._others.pop(speaker_id, None)
        first = self._everyones or first
        self.goals = replace(
            own or first,
            turn=self.transcript.turn - 1,
            version=self.goals.version + 1,
            added=() if own else first.added,
            removed=(),
            speaker_id=speaker_id,
        )
        self.belief = None
        return self.goals

    def hear_transcript(self, transcript: Transcript) -> bool:
        """Take a transcript; True where it begins a session that has no goals yet."""
        held = self.transcript
        if held and held.session_id == transcript.session_id and transcript.turn < held.turn:
            return False
        self.transcript = transcript
        return self.goals is None or self.goals.session_id != transcript.session_id

    def hear_belief(self, belief: Belief) -> bool:
        """Take a belief; True where the goals were recovered from it.

        A manager that was started again knows no goals, or only first ones: those of the
        latched belief are then the last ones of its session. A belief of another session than
        the transcript's is late and ignored, and so is one of another speaker than the current.
        """
        if self.transcript is not None and self.transcript.session_id != belief.session_id:
            return False
        held = self.goals
        if (
            held is not None
            and held.session_id == belief.session_id
            and held.version >= belief.goals_version
        ):
            if held.speaker_id == belief.speaker_id:
                self.belief = belief
            return False
        self.belief = belief
        self.goals = GoalSet(
            belief.session_id,
            # Pass 1 is over goals of an earlier turn; which one does not matter.
            belief.turn if belief.settled else belief.turn - 1,
            belief.goals_version,
            tuple(h.goal for h in belief.hypotheses),
            speaker_id=belief.speaker_id,
        )
        return True

    def due(self) -> tuple[Belief, Transcript] | None:
        """The pass-1 belief that waits for an answer, with its transcript, or None."""
        belief, goals, transcript = self.belief, self.goals, self.transcript
        if (
            belief is None
            or goals is None
            or transcript is None
            or belief.settled
            or belief.session_id != goals.session_id
            or transcript.session_id != belief.session_id
            or transcript.turn != belief.turn
            or belief.goals_version != goals.version
            or belief.turn <= goals.turn
        ):
            return None
        return belief, transcript.of_speaker(goals.speaker_id)

    def answer(self, edited: GoalSet) -> bool:
        """Take the edit as the current set; False where a person's edit came in between.

        In that case the belief publishes pass 1 again over the newer set.
        """
        if (
            self.goals is None
            or edited.session_id != self.goals.session_id
            or edited.speaker_id != self.goals.speaker_id
            or edited.version != self.goals.version + 1
        ):
            return False
        self.goals = edited
        return True

    def unchanged(self, belief: Belief) -> GoalSet:
        """The answer that changes nothing, for when no edit could be made."""
        assert self.goals is not None
        return replace(
            self.goals,
            turn=belief.turn,
            version=self.goals.version + 1,
            added=(),
            removed=(),
        )
