"""The dialog's side of a turn: it owns the transcript and decides when to ask and to end."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto

from good_ros.core.dialog import Transcript, Turn, TurnOutcome
from good_ros.core.errors import InputError
from good_ros.core.plan import StepResult, TaskState, TaskStatus

OUTCOMES = {
    TaskState.NO_ACTION: TurnOutcome.NO_ACTION,
    TaskState.SUCCEEDED: TurnOutcome.ACTED,
    TaskState.FAILED: TurnOutcome.FAILED,
    TaskState.DONE: TurnOutcome.DONE,
}


class Phase(Enum):
    """What the dialog waits for."""

    QUESTION = auto()
    """The next question is being made."""
    REPLY = auto()
    """A question stands; the person is to answer."""
    STATUS = auto()
    """The answer is in the transcript; the executor is to report on the turn."""
    ENDED = auto()


class DialogFlow:
    """The state of one session's conversation; at most ``max_turns`` turns (III-B: 20)."""

    def __init__(self, session_id: str, max_turns: int = 20) -> None:
        self.max_turns = max_turns
        self.transcript = Transcript(session_id)
        self.phase = Phase.QUESTION
        self.question = ""
        self.asked = 0.0
        self.history: tuple[StepResult, ...] = ()
        self._heard_ids: set[str] = set()
        self._held: tuple[str, str] | None = None

    @property
    def next_turn(self) -> int:
        """The turn that the question now being made or asked belongs to."""
        return self.transcript.turn + 1

    def ask(self, question: str, now: float) -> None:
        """The question of the next turn is out."""
        self.question = question
        self.asked = now
        self.phase = Phase.REPLY

    def check_new(self, text: str, utterance_id: str) -> None:
        """Raises InputError where an utterance is a repeat or comes after the end.

        An id that was heard is a repeat; so are the words of the last turn while no question
        stands, since a person who has just been heard does not say it again.
        """
        if self.phase is Phase.ENDED:
            raise InputError(
                "utterance ignored: the session has ended; reset_session begins another"
            )
        if utterance_id and utterance_id in self._heard_ids:
            raise InputError(f"utterance ignored: id {utterance_id!r} was heard before")
        if self.phase is Phase.REPLY:
            return
        last = self.transcript.turns[-1].utterance if self.transcript.turns else None
        if text == last or (self._held is not None and text == self._held[0]):
            raise InputError("utterance ignored: it repeats the last one while no question stands")

    def hear(
        self, text: str, now: float, speaker_id: str = "", utterance_id: str = ""
    ) -> Turn | None:
        """Take an utterance that ``check_new`` let pass.

        The new turn where a question stands; None where the person spoke first, in which case
        the words are held for the next turn (the latest ones count).
        """
        if utterance_id:
            self._heard_ids.add(utterance_id)
        if self.phase is not Phase.REPLY:
            self._held = (text, speaker_id)
            return None
        turn = Turn(
            self.next_turn,
            self.question,
            text,
            speaker_id,
            asked=self.asked,
            answered=now,
        )
        self.transcript = replace(self.transcript, turns=(*self.transcript.turns, turn))
        self.phase = Phase.STATUS
        return turn

    def hear_aside(self, utterance_id: str) -> None:
        """An utterance answered a question in the middle of a turn; it is not heard again."""
        if utterance_id:
            self._heard_ids.add(utterance_id)

    def take_held(self) -> tuple[str, str] | None:
        """Words that were said while no question stood (text, speaker id), once."""
        held, self._held = self._held, None
        return held

    def report(self, status: TaskStatus) -> bool:
        """The executor's report; True where it ends the turn that is waited for."""
        if (
            self.phase is not Phase.STATUS
            or status.session_id != self.transcript.session_id
            or status.turn != self.transcript.turn
            or not status.state.ends_turn
        ):
            return False
        turn = replace(
            self.transcript.turns[-1],
            outcome=OUTCOMES[status.state],
            actions=tuple(r for r in status.history if r.turn == status.turn),
        )
        self.history = status.history
        self.transcript = replace(self.transcript, turns=(*self.transcript.turns[:-1], turn))
        self.phase = Phase.QUESTION
        if status.state is TaskState.DONE:
            self.end("the task is completed")
        elif self.transcript.turn >= self.max_turns:
            self.end(f"the limit of {self.max_turns} turns is reached")
        return True

    def is_foreign(self, status: TaskStatus) -> bool:
        """Whether a report is of another session, or of a turn that this one has not."""
        return bool(status.session_id) and (
            status.session_id != self.transcript.session_id or status.turn > self.transcript.turn
        )

    def end(self, reason: str) -> None:
        """No further turn will follow."""
        self.phase = Phase.ENDED
        self.transcript = replace(self.transcript, ended=True, end_reason=reason)
