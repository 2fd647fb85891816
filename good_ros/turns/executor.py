"""The executor's side of a turn: it acts once on each settled belief."""

from __future__ import annotations

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript, TurnOutcome
from good_ros.core.plan import StepResult, TaskState, TaskStatus

STATES = {
    TurnOutcome.NO_ACTION: TaskState.NO_ACTION,
    TurnOutcome.ACTED: TaskState.SUCCEEDED,
    TurnOutcome.FAILED: TaskState.FAILED,
    TurnOutcome.DONE: TaskState.DONE,
}


class ExecutorOrder:
    """Holds the last transcript and settled belief, and says when to act."""

    def __init__(self) -> None:
        self.transcript: Transcript | None = None
        self.belief: Belief | None = None
        self.history: tuple[StepResult, ...] = ()
        self._session = ""
        self._acted_turn = 0
        self._acting = False

    def hear_transcript(self, transcript: Transcript) -> bool:
        """Take a transcript; True where its session is new and the world must be set up.

        What the transcript says was done in that session is then in ``history``: an executor
        that was started again rebuilds the world from it and goes on with the next turn.
        """
        held = self.transcript
        if held and held.session_id == transcript.session_id and transcript.turn < held.turn:
            return False
        self.transcript = transcript
        if transcript.session_id == self._session:
            return False
        self._session = transcript.session_id
        self._acting = False
        self.history = tuple(r for turn in transcript.turns for r in turn.actions)
        self._acted_turn = max(
            (t.turn for t in transcript.turns if t.outcome is not TurnOutcome.PENDING), default=0
        )
        return True

    def hear_belief(self, belief: Belief) -> None:
        """Take a belief; only a settled one is ever acted on."""
        if belief.settled:
            self.belief = belief

    def due(self) -> tuple[Belief, Transcript] | None:
        """The settled belief to act on now, with its transcript, or None."""
        belief, transcript = self.belief, self.transcript
        if (
            belief is None
            or transcript is None
            or belief.session_id != transcript.session_id
            or belief.turn != transcript.turn
            or belief.turn <= self._acted_turn
        ):
            return None
        return belief, transcript.of_speaker(belief.speaker_id)

    def begin(self, turn: int) -> None:
        """Acting on this turn has begun; it will not be due again."""
        self._acted_turn = turn
        self._acting = True

    def finish(self, history: tuple[StepResult, ...]) -> None:
        """Acting on the turn has ended, with this history of the session."""
        self._acting = False
        self.history = history

    def abandon(self) -> None:
        """Acting was cut off, if it had begun: the turn is due again."""
        if self._acting:
            self._acting = False
            self._acted_turn -= 1

    @property
    def is_acting(self) -> bool:
        """Whether a turn is being acted on."""
        return self._acting

    @property
    def is_withdrawn(self) -> bool:
        """Whether the person took back what is being acted on: dialog then marks the turn as
        without action, before it was reported on."""
        turns = self.transcript.turns if self.transcript else ()
        return self._acting and bool(turns) and turns[-1].outcome is TurnOutcome.NO_ACTION

    @property
    def last_turn(self) -> int:
        """The last turn of the session's transcript; 0 before the first."""
        return self.transcript.turn if self.transcript else 0

    @property
    def acted_turn(self) -> int:
        """The last turn that was, or is being, acted on."""
        return self._acted_turn

    def resumed_status(self) -> TaskStatus | None:
        """The status of the last turn that was already reported on, for a late joiner."""
        if self.transcript is None:
            return None
        reported = [t for t in self.transcript.turns if t.outcome is not TurnOutcome.PENDING]
        if not reported:
            return None
        return TaskStatus(
            self._session,
            reported[-1].turn,
            STATES[reported[-1].outcome],
            history=self.history,
        )
