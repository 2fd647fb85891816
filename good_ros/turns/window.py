"""What a long session publishes, and how its hearers put the whole together again.

A turn must cost the same after a thousand others, so no message grows with the session: a
transcript carries its last turns, those before go out once, in blocks that stay latched; a status
carries the steps of its last turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from good_ros.core.dialog import Transcript, Turn
from good_ros.core.plan import StepResult, TaskStatus

WINDOW = 20
"""Turns that a published transcript has at most; a session of the paper (III-B) is always whole."""
BLOCK = 10
"""Turns of a block. A block is final: only the last turn of a transcript ever changes."""
STATUS_TURNS = 10
"""A status carries every step of its own turn and of the nine before."""


def blocks_of(turn: int) -> int:
    """How many blocks are behind the window once ``turn`` is the last one."""
    return max(0, -(-(turn - WINDOW) // BLOCK))


def block(transcript: Transcript, number: int) -> Transcript:
    """The ``number``-th block of a whole transcript, from 1."""
    turns = transcript.turns[BLOCK * (number - 1) : BLOCK * number]
    return Transcript(transcript.session_id, turns)


def window(transcript: Transcript) -> Transcript:
    """What of a whole transcript is published next to its blocks."""
    return replace(transcript, turns=transcript.turns[BLOCK * blocks_of(transcript.turn) :])


def steps_of_last_turns(history: Sequence[StepResult], turn: int) -> tuple[StepResult, ...]:
    """What of a session's steps a status of ``turn`` carries."""
    return tuple(history[_first_of(history, turn - STATUS_TURNS + 1) :])


def _first_of(history: Sequence[StepResult], turn: int) -> int:
    """The index of the first step of ``turn`` or a later one; turns never fall."""
    index = len(history)
    while index and history[index - 1].turn >= turn:
        index -= 1
    return index


class WholeTranscript:
    """Puts windows and blocks together, in whatever order they come."""

    def __init__(self) -> None:
        self._latest: Transcript | None = None
        self._turns: tuple[Turn, ...] = ()
        self._blocks: dict[str, dict[int, tuple[Turn, ...]]] = {}

    def hear(self, shown: Transcript) -> Transcript | None:
        """The whole transcript that a window is the end of; None while a block is missing."""
        if self._latest is None or shown.session_id != self._latest.session_id:
            self._turns = ()
            own = self._blocks.get(shown.session_id, {})
            self._blocks = {shown.session_id: own}
        self._latest = shown
        return self._whole()

    def hear_block(self, past: Transcript) -> Transcript | None:
        """The whole transcript, where this block is what it waited for."""
        is_ours = self._latest is not None and past.session_id == self._latest.session_id
        if not past.turns or (is_ours and len(self._turns) >= past.turn):
            return None
        waited = is_ours and self._whole() is None
        self._blocks.setdefault(past.session_id, {})[past.turns[0].turn] = past.turns
        return self._whole() if waited else None

    def _whole(self) -> Transcript | None:
        shown = self._latest
        if shown is None or not shown.turns:
            return shown
        before = shown.turns[0].turn - 1
        blocks = self._blocks.get(shown.session_id, {})
        while len(self._turns) < before and len(self._turns) + 1 in blocks:
            self._turns += blocks[len(self._turns) + 1]
        if len(self._turns) < before:
            return None
        blocks.clear()
        self._turns = (*self._turns[:before], *shown.turns)
        return replace(shown, turns=self._turns)


class WholeHistory:
    """Every step of a session, from statuses that carry those of their last turns."""

    def __init__(self) -> None:
        self.steps: tuple[StepResult, ...] = ()
        self._session_id = ""

    def hear(self, status: TaskStatus) -> int:
        """Take a status in; the index of the first step that it speaks of."""
        if status.session_id != self._session_id:
            self.resume(status.session_id, ())
        turn = status.turn - STATUS_TURNS + 1
        if status.history:
            # One that carries more, as those without a graph do, is taken at its word.
            turn = min(turn, status.history[0].turn)
        first = _first_of(self.steps, turn)
        self.steps = (*self.steps[:first], *status.history)
        return first

    def resume(self, session_id: str, steps: Sequence[StepResult]) -> None:
        """Go on with a session of which ``steps`` are known."""
        self._session_id, self.steps = session_id, tuple(steps)
