"""The dialog's side of a turn: it owns the transcript and decides when to ask and to end."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from enum import Enum, auto

from good_ros.core.dialog import Transcript, Turn, TurnOutcome
from good_ros.core.errors import InputError
from good_ros.core.plan import StepResult, TaskState, TaskStatus
from good_ros.language.acts import answers_earlier

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


@dataclass(frozen=True)
class Held:
    """Words that were said while no question stood."""

    text: str
    speaker_id: str = ""


class DialogFlow:
    """The state of one session's conversation; at most ``max_turns`` turns (III-B: 20)."""

    def __init__(self, session_id: str, max_turns: int = 20) -> None:
        self.max_turns = max_turns
        self.transcript = Transcript(session_id)
        self.phase = Phase.QUESTION
        self.question = ""
        self.asked = 0.0
        self.expects_reply = False
        self.all_asked: list[str] = []
        """Every question of the session, so that none is asked again."""
        self.history: tuple[StepResult, ...] = ()
        self._heard_ids: set[str] = set()
        self._held: deque[Held] = deque()
        self._unanswered = ""

    @property
    def next_turn(self) -> int:
        """The turn that the question now being made or asked belongs to."""
        return self.transcript.turn + 1

    def ask(self, question: str, now: float, expects_reply: bool = True) -> None:
        """The question of the next turn is out, or a statement that waits for no answer; what
        is heard next is of that turn either way."""
        self.question = question
        self.asked = now
        self.expects_reply = expects_reply
        if expects_reply and question not in self.all_asked:
            self.all_asked.append(question)
        self.phase = Phase.REPLY

    def take_unanswered(self) -> str:
        """The question that stood while an earlier one was answered, once; it still stands."""
        question, self._unanswered = self._unanswered, ""
        return question

    def withdraw_question(self) -> bool:
        """The person does not care for the question that stands; False where none does. It is
        not asked again."""
        if self.phase is not Phase.REPLY:
            return False
        self.phase = Phase.QUESTION
        return True

    def withdraw_turn(self, said: str) -> bool:
        """The person takes back what they said in the turn that is being acted on, by ``said``.

        The words are kept beside the utterance and the turn is marked as without action; the
        executor stops and reports on it. False where there is no such turn, or it was taken back
        already.
        """
        if self.phase is not Phase.STATUS or self.is_withdrawn:
            return False
        last = self.transcript.turns[-1]
        utterance = last.utterance.rstrip(".!。 ") + f". {said}"
        turn = replace(last, utterance=utterance, outcome=TurnOutcome.NO_ACTION)
        self.transcript = replace(self.transcript, turns=(*self.transcript.turns[:-1], turn))
        return True

    @property
    def is_withdrawn(self) -> bool:
        """Whether the turn that is being acted on was taken back."""
        turns = self.transcript.turns
        return (
            self.phase is Phase.STATUS
            and bool(turns)
            and turns[-1].outcome is not TurnOutcome.PENDING
        )

    @property
    def acted_last(self) -> bool:
        """Whether something was done in the last turn."""
        turns = self.transcript.turns
        return bool(turns) and turns[-1].outcome is TurnOutcome.ACTED

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
        if text == last or any(text == held.text for held in self._held):
            raise InputError("utterance ignored: it repeats the last one while no question stands")

    def hear(
        self,
        text: str,
        now: float,
        speaker_id: str = "",
        utterance_id: str = "",
        spoken: float = 0.0,
    ) -> Turn | None:
        """Take an utterance that ``check_new`` let pass; ``spoken`` is when it was said, in
        seconds since the epoch, 0 where that is not known.

        The new turn where a question stands; None where the person spoke first, in which case
        the words are held, each utterance for a turn of its own. What was said between the last
        question that stands, or says that it answers an earlier one, is an answer to the question
        before; the one that stands then still does.
        """
        if utterance_id:
            self._heard_ids.add(utterance_id)
        if self.phase is not Phase.REPLY:
            self._held.append(Held(text, speaker_id))
            return None
        question = self.question
        turns = self.transcript.turns
        if (
            turns
            and self.expects_reply
            and (turns[-1].answered < spoken < self.asked or answers_earlier(text))
        ):
            self._unanswered, question = question, turns[-1].question
        turn = Turn(
            self.next_turn,
            question,
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

    def take_held(self) -> Held | None:
        """The oldest words that were said while no question stood, once."""
        return self._held.popleft() if self._held else None

    def drop_held(self) -> bool:
        """Take back the latest words that are held; False where there are none."""
        if self._held:
            self._held.pop()
            return True
        return False

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
