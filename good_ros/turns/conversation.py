"""What the robot says and does next to what it hears: the rules of the conversation.

``Conversation`` holds a ``DialogFlow`` and decides; who uses it publishes, asks the model and
calls services (the dialog node), or checks it (the tests, without a graph).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from good_ros.core.dialog import Turn
from good_ros.core.plan import TaskState, TaskStatus
from good_ros.language import conversation
from good_ros.language.acts import Act, act_of
from good_ros.turns.dialog import DialogFlow, Phase

WHAT_INSTEAD = "What is wrong, and what should I do instead?"
ALL_RIGHT = "All right. Tell me what you would like instead."
SAY_AGAIN = "Sorry, I did not catch that. Could you say it again?"
GOODBYE = "Thank you. Goodbye."
APPROVAL_START = "Shall I go ahead: "
"""How the question begins that asks for a plan's approval."""
DEFAULT_OPENING = "What would you like me to do?"


@dataclass(frozen=True)
class Say:
    """Something to publish on ``question``; ``turn`` is the one that an answer belongs to."""

    text: str
    expects_reply: bool
    turn: int
    gain: float = float("nan")


@dataclass(frozen=True)
class Tell:
    """The transcript has changed and is to be published."""


@dataclass(frozen=True)
class MakeQuestion:
    """A question is to be made for the next turn; ``asked`` is to be called with it."""


@dataclass(frozen=True)
class DropQuestion:
    """The question that is being made is no longer wanted."""


@dataclass(frozen=True)
class Approve:
    """The plan that waits is approved, or not."""

    session_id: str
    turn: int
    approve: bool


@dataclass(frozen=True)
class Note:
    """A line for the log; ``warns`` where a front end should look to it."""

    text: str
    warns: bool = False


Effect = Say | Tell | MakeQuestion | DropQuestion | Approve | Note


@dataclass(frozen=True)
class Heard:
    """An utterance that was checked. ``confidence`` is 0 to 1, or below 0 where unknown;
    ``spoken`` in seconds since the epoch, 0 where unknown."""

    text: str
    utterance_id: str = ""
    speaker_id: str = ""
    confidence: float = -1.0
    spoken: float = 0.0


class Conversation:
    """One session's conversation. Each method yields what is to be done, in order."""

    def __init__(
        self,
        flow: DialogFlow,
        *,
        opening: str = DEFAULT_OPENING,
        completion_phrase: str = "the task is completed",
        min_confidence: float = 0.0,
        stop_words_of: str = "",
    ) -> None:
        self.flow = flow
        self.opening = opening
        self.completion_phrase = completion_phrase
        self.min_confidence = min_confidence
        self.stop_words_of = stop_words_of
        self._waiting: TaskStatus | None = None

    # The robot's side.

    def begin(self) -> Iterator[Effect]:
        """The session's first words."""
        yield Tell()
        yield from self.go_on()

    def resume(self) -> Iterator[Effect]:
        """The conversation goes on as it stood, after what carried it was cut off."""
        flow = self.flow
        yield Tell()
        if flow.phase is Phase.REPLY:
            yield Say(flow.question, flow.expects_reply, flow.next_turn)
        yield from self.go_on()

    def go_on(self, now: float = 0.0) -> Iterator[Effect]:
        """What comes next while no question stands: words that are held, a question that was
        left open, or a new one."""
        flow = self.flow
        if flow.phase is not Phase.QUESTION:
            return
        if flow.asks_what_instead:
            flow.asks_what_instead = False
            yield from self.asked(WHAT_INSTEAD, now)
        elif held := flow.take_held():
            # The person spoke first: no question is worth making any more.
            yield from self.asked(self.opening, now, quiet=True)
            yield from self._take(Heard(held.text, speaker_id=held.speaker_id), now)
        elif unanswered := flow.take_unanswered():
            yield from self.asked(unanswered, now)
        else:
            yield MakeQuestion()

    def asked(
        self,
        text: str,
        now: float,
        expects_reply: bool = True,
        gain: float = float("nan"),
        quiet: bool = False,
    ) -> Iterator[Effect]:
        """The robot says ``text`` now, where nothing else came in between; with ``quiet`` only
        the transcript will have it."""
        if self.flow.phase is not Phase.QUESTION:
            return
        self.flow.ask(text, now, expects_reply)
        if not quiet:
            yield Say(text, expects_reply, self.flow.next_turn, gain)

    # The person's side.

    def hear(self, heard: Heard, now: float) -> Iterator[Effect]:
        """An utterance. Raises InputError where it is a repeat or comes after the end."""
        flow = self.flow
        flow.check_new(heard.text, heard.utterance_id)
        if 0 <= heard.confidence < self.min_confidence:
            yield from self._not_caught(heard)
        elif flow.phase is Phase.REPLY:
            yield from self._take(heard, now)
        elif flow.phase is Phase.STATUS:
            yield from self._hear_while_acting(heard, now)
        else:
            yield from self._hear_before_question(heard, now)

    def is_answer_aside(self, heard: Heard) -> bool:
        """Whether an utterance answers a question that was asked in the middle of a turn: any
        that was caught, but a stop."""
        caught = not 0 <= heard.confidence < self.min_confidence
        return self.flow.phase is Phase.STATUS and caught and not self._stops(heard.text)

    def _not_caught(self, heard: Heard) -> Iterator[Effect]:
        self.flow.hear_aside(heard.utterance_id)
        yield Note(
            f"not sure of what was said (confidence {heard.confidence:.2f}, needed are "
            f"{self.min_confidence:.2f}; -1 stands for unknown): the belief is unchanged",
            warns=True,
        )
        if self.flow.phase is Phase.REPLY:
            yield Say(SAY_AGAIN, True, self.flow.next_turn)

    def _take(self, heard: Heard, now: float) -> Iterator[Effect]:
        """An utterance while a question stands."""
        flow = self.flow
        act = act_of(heard.text)
        statement_stands = not flow.expects_reply
        if act is Act.NEVER_MIND:
            flow.hear_aside(heard.utterance_id)
            flow.withdraw_question()
            yield from self.asked(ALL_RIGHT, now, expects_reply=False)
            return
        if (
            act is Act.WRONG
            and flow.question != WHAT_INSTEAD
            and (statement_stands or flow.acted_last)
        ):
            flow.hear_aside(heard.utterance_id)
            flow.withdraw_question()
            yield from self.asked(WHAT_INSTEAD, now)
            return
        flow.hear(heard.text, now, heard.speaker_id, heard.utterance_id, heard.spoken)
        if conversation.says_done(heard.text, self.completion_phrase):
            flow.end("the person said that the task is completed")
        elif self._stops(heard.text):
            flow.end("the person asked to stop")
        yield Tell()
        yield from self._goodbye()

    def _hear_while_acting(self, heard: Heard, now: float) -> Iterator[Effect]:
        flow = self.flow
        act = act_of(heard.text)
        waiting = self._waiting
        if self._stops(heard.text):
            # It is not kept for the next turn.
            flow.hear_aside(heard.utterance_id)
            flow.end("the person asked to stop")
            yield Tell()
            yield from self._goodbye()
        elif waiting is not None and act in (Act.YES, Act.NO, Act.NEVER_MIND, Act.WRONG):
            flow.hear_aside(heard.utterance_id)
            self._waiting = None
            yield Approve(waiting.session_id, waiting.turn, act is Act.YES)
        elif act in (Act.NEVER_MIND, Act.WRONG):
            flow.hear_aside(heard.utterance_id)
            if flow.drop_held():
                yield Note("the words that were kept for the next turn are taken back")
            elif flow.withdraw_turn(heard.text):
                flow.asks_what_instead = act is Act.WRONG
                yield Tell()
        elif act in (Act.YES, Act.NO):
            flow.hear_aside(heard.utterance_id)
            yield Note(f"ignored {heard.text!r}: nothing was asked")
        else:
            flow.hear(heard.text, now, heard.speaker_id, heard.utterance_id)
            yield Note("heard before a question stood; kept for the next turn")

    def _hear_before_question(self, heard: Heard, now: float) -> Iterator[Effect]:
        """While the next question is being made."""
        flow = self.flow
        act = act_of(heard.text)
        if self._stops(heard.text):
            flow.hear_aside(heard.utterance_id)
            yield DropQuestion()
            flow.end("the person asked to stop")
            yield Tell()
            yield from self._goodbye()
            return
        if act in (Act.NEVER_MIND, Act.YES, Act.NO):
            flow.hear_aside(heard.utterance_id)
            yield Note(f"ignored {heard.text!r}: nothing was asked")
            return
        yield DropQuestion()
        if act is Act.WRONG and flow.acted_last:
            flow.hear_aside(heard.utterance_id)
            flow.asks_what_instead = True
        else:
            flow.hear(heard.text, now, heard.speaker_id, heard.utterance_id)
            yield Note("heard before a question stood; it is the next turn")
        yield from self.go_on(now)

    def _stops(self, text: str) -> bool:
        return act_of(text) is Act.STOP or conversation.stops(text, self.stop_words_of)

    # The executor's side.

    def report(self, status: TaskStatus, now: float) -> Iterator[Effect]:
        """The executor's report; ``status`` is of this session."""
        flow = self.flow
        is_ours = (
            flow.phase is Phase.STATUS
            and status.session_id == flow.transcript.session_id
            and status.turn == flow.transcript.turn
        )
        if is_ours and status.state is TaskState.WAITING_APPROVAL:
            if self._waiting is None or self._waiting.plan != status.plan:
                self._waiting = status
                yield Say(approval_question(status), True, status.turn)
            return
        if is_ours:
            self._waiting = None
        if not flow.report(status):
            return
        yield Tell()
        yield from self._goodbye()
        yield from self.go_on(now)

    def _goodbye(self) -> Iterator[Effect]:
        if self.flow.phase is Phase.ENDED:
            reason = self.flow.transcript.end_reason
            yield Note(f"session {self.flow.transcript.session_id} ends: {reason}")
            yield Say(GOODBYE, False, self.flow.transcript.turn)

    @property
    def last_turn(self) -> Turn | None:
        turns = self.flow.transcript.turns
        return turns[-1] if turns else None


def approval_question(status: TaskStatus) -> str:
    """What is asked where a plan waits for a yes: what would be done, and why it is asked."""
    steps = ", then ".join(step.label for step in status.plan) or "with what was planned"
    reasons = f" ({'; '.join(status.approval_reasons)})" if status.approval_reasons else ""
    return f"{APPROVAL_START}{steps}?{reasons}"
