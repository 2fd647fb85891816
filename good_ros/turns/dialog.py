"""The dialog's side of a turn: it owns the transcript and decides when to ask and to end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from good_ros.core.dialog import Transcript, Turn, TurnOutcome
from good_ros.core.errors import InputError
from good_ros.core.plan import StepResult, TaskState, TaskStatus
from good_ros.language.acts import answers_earlier
from good_ros.turns.window import WholeHistory

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
        self.asks_what_instead = False
        """Whether what is asked next is what was wrong."""
        self.all_asked: list[str] = []
        """Every question of the session, so that none is asked again."""
        self._whole = WholeHistory()
        self.heard_ids: list[str] = []
        """The ids of the utterances that were heard, in order."""
        self._ids: set[str] = set()
        self._held: deque[Held] = deque()
        self._unanswered = ""

    @classmethod
    def resumed(
        cls,
        transcript: Transcript,
        max_turns: int,
        standing: Mapping[str, Any],
        heard_ids: Sequence[str],
        all_asked: Sequence[str],
    ) -> DialogFlow:
        """A conversation that was cut off, as it stood: ``standing`` is what ``standing`` gave.

        Raises KeyError or ValueError where something of it is missing.
        """
        flow = cls(transcript.session_id, max_turns)
        flow.transcript = transcript
        flow.phase = Phase[standing["phase"]]
        flow.question, flow.asked = standing["question"], standing["asked"]
        flow.expects_reply = standing["expects_reply"]
        flow.asks_what_instead = standing.get("asks_what_instead", False)
        flow.all_asked = [*all_asked]
        flow._held = deque(Held(*words) for words in standing["held"])
        flow._unanswered = standing["unanswered"]
        flow._whole.resume(
            transcript.session_id, [r for turn in transcript.turns for r in turn.actions]
        )
        for utterance_id in heard_ids:
            flow._remember(utterance_id)
        return flow

    def standing(self) -> dict[str, Any]:
        """How the conversation stands beside its transcript, what was heard and what was asked,
        as JSON has it."""
        return {
            "phase": self.phase.name,
            "question": self.question,
            "asked": self.asked,
            "expects_reply": self.expects_reply,
            "asks_what_instead": self.asks_what_instead,
            "held": [[held.text, held.speaker_id] for held in self._held],
            "unanswered": self._unanswered,
            "ended": self.transcript.ended,
        }

    def _remember(self, utterance_id: str) -> None:
        if utterance_id and utterance_id not in self._ids:
            self._ids.add(utterance_id)
            self.heard_ids.append(utterance_id)

    @property
    def history(self) -> tuple[StepResult, ...]:
        """Every step of the session, as of the last report."""
        return self._whole.steps

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
        if utterance_id and utterance_id in self._ids:
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
        before; the one that stands then still does. Raises InputError where no turn of the session
        is left for words to be held for.
        """
        turns_left = self.max_turns - self.transcript.turn
        if self.phase is not Phase.REPLY and len(self._held) >= turns_left:
            raise InputError("utterance ignored: the session has no turn left for it")
        self._remember(utterance_id)
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
        self._remember(utterance_id)

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
        self._whole.hear(status)
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
