"""What was said: questions, utterances and the transcript of a session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from good_ros.core.plan import StepResult


class TurnOutcome(IntEnum):
    """What the executor made of a turn; the values are those of ``TranscriptTurn.msg``."""

    PENDING = 0
    NO_ACTION = 1
    ACTED = 2
    FAILED = 3
    DONE = 4


@dataclass(frozen=True)
class Turn:
    """One question, its answer, and the actions that followed (turns count from 1)."""

    turn: int
    question: str
    utterance: str
    speaker_id: str = ""
    outcome: TurnOutcome = TurnOutcome.PENDING
    actions: tuple[StepResult, ...] = ()
    asked: float = 0.0
    """Seconds since the epoch, as ``answered``; 0 where not known."""
    answered: float = 0.0


TURNS_TOLD = 20
"""The last turns that a prompt tells of: as many as a session of the paper has (III-B)."""
UNKNOWN_SPEAKER = "unknown"
"""Whose an utterance is that names no speaker, where speakers are kept apart."""


@dataclass(frozen=True)
class Transcript:
    """A session's turns, oldest first, and whether and why it ended."""

    session_id: str = ""
    turns: tuple[Turn, ...] = ()
    ended: bool = False
    end_reason: str = ""

    @property
    def turn(self) -> int:
        """The number of the last turn, 0 before the first."""
        return self.turns[-1].turn if self.turns else 0

    @property
    def speaker(self) -> str:
        """Who spoke last, in the words that goals and beliefs are kept apart by."""
        return (self.turns[-1].speaker_id if self.turns else "") or UNKNOWN_SPEAKER

    def of_speaker(self, speaker_id: str) -> Transcript:
        """The turns of one speaker with their own numbers; all of them for an empty id."""
        if not speaker_id:
            return self
        own = (t for t in self.turns if (t.speaker_id or UNKNOWN_SPEAKER) == speaker_id)
        return replace(self, turns=tuple(own))

    def as_text(self) -> str:
        """The dialog in the words that prompts use; one line a speaker, TURNS_TOLD turns at most:
        a model's context has an end."""
        told = self.turns[-TURNS_TOLD:]
        lines = [line for t in told for line in (f"Robot: {t.question}", f"Human: {t.utterance}")]
        if len(told) < len(self.turns):
            lines.insert(0, f"({len(self.turns) - len(told)} earlier turns are left out)")
        return "\n".join(lines) if lines else "(nothing has been said yet)"
