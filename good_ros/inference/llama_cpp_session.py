"""Dialogs scored turn by turn on llama.cpp: new tokens only.

llama.cpp rounds otherwise where a batch has another shape or other sequences' cells lie
between, which on 4-bit weights grows to 0.4 nats an utterance. So texts are read in pieces that
depend on the dialog alone, in cells of their own: scores are then the same whatever was kept,
and whichever other goals there are.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from good_ros.core.errors import ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.layout import Layout
from good_ros.inference.session import (
    DialogSession,
    GoalState,
    common_start,
    goal_first_tokens,
    last_utterance,
    shared_start,
)
from good_ros.language.llama_runtime import BatchToken, LlamaContext, LlamaRuntime

FIRST_ROOM = 1024
"""Tokens that there is room for in a sequence at first."""
FIRST_SEQUENCES = 8
MAX_SEQUENCES = 64
TRUNK, BRANCH = 0, 1
"""The sequences of a ``GoalLastSession``."""


def log_probability(logits: npt.NDArray[np.float32], token: int) -> float:
    """log softmax(logits)[token], in nats."""
    top = float(logits.max())
    return float(logits[token]) - top - float(np.log(np.exp(logits - top).sum(dtype=np.float64)))


class Branch:
    """A sequence on which texts are read that are not kept: one after the other, each from where
    it departs from the one before. ``held`` are the tokens that the sequence has."""

    def __init__(self, context: LlamaContext, sequence: int, held: Sequence[int]) -> None:
        self.context = context
        self.sequence = sequence
        self.held = list(held)
        self.tokens_scored = 0

    def score(self, tokens: list[int], start: int, cancel: threading.Event | None) -> float:
        """The log-probability, in nats, of the tokens from ``start`` on."""
        same = min(common_start(self.held, tokens), start - 1)
        self.context.forget(self.sequence, same)
        self.held = self.held[:same]
        batch = [
            BatchToken(tokens[p], p, self.sequence, logits=start <= p + 1 < len(tokens))
            for p in range(same, len(tokens))
        ]
        values = [
            log_probability(logits, tokens[same + index + 1])
            for index, logits in self.context.read(batch, cancel)
        ]
        self.held = list(tokens)
        self.tokens_scored += len(batch)
        return float(np.sum(values))


@dataclass
class _KeptGoal(GoalState):
    """One goal, and what is kept of its dialog."""

    sequence: int = -1
    """Its llama.cpp sequence, or -1 where nothing is kept."""
    kept: int = 0
    """Tokens that its sequence holds: always a whole number of pieces."""
    shares: bool = False
    """Whether these begin with the start that all goals share."""


class GoalFirstSession(DialogSession[_KeptGoal]):
    """Scores with the goal told first: one llama.cpp sequence a goal.

    The pieces are the start that all goals share, then each turn up to the end of its
    utterance. The tokens that count are the utterances' alone, without the marker that ends the
    turn.
    """

    def __init__(self, runtime: LlamaRuntime, max_cells: int) -> None:
        super().__init__()
        self.runtime = runtime
        self.max_cells = max_cells
        self._context: LlamaContext | None = None
        self._shared = shared_start(runtime)

    def close(self) -> None:
        super().close()
        if self._context is not None:
            self._context.close()
            self._context = None

    def _new_state(self, goal: Goal) -> _KeptGoal:
        return _KeptGoal(goal)

    def _score(self, waiting: Sequence[_KeptGoal], cancel: threading.Event | None) -> None:
        layouts = {id(state): self._layout(state.goal) for state in waiting}
        self._make_room(max(len(tokens) for tokens, _ in layouts.values()))
        # Those that are held go first: once they are scored, their place can be given away.
        for state in sorted(waiting, key=lambda s: s.sequence < 0):
            self._score_goal(state, *layouts[id(state)], cancel)

    # Room.

    def _make_room(self, longest: int) -> None:
        """A context with room for dialogs of ``longest`` tokens, and as many as can be held."""
        limit = _require_room(self.runtime, self.max_cells, longest)
        room, sequences = FIRST_ROOM, FIRST_SEQUENCES
        if self._context is not None:
            room, sequences = self._context.room, self._context.sequences
        # Growing costs a reading of everything once; large steps keep it rare.
        while room < longest:
            room += room // 2
        while sequences < len(self._states):
            sequences *= 2
        room = min(room, limit)
        sequences = max(1, min(sequences, MAX_SEQUENCES, self.max_cells // room))
        if self._context is not None:
            if (room, sequences) == (self._context.room, self._context.sequences):
                return
            self._context.close()
            self._context = None
        for state in self._states.values():
            state.sequence, state.kept = -1, 0
        self._context = self.runtime.context(room, sequences)

    def _place(self, state: _KeptGoal) -> None:
        """Give the goal a sequence, if need be that of the least likely goal."""
        assert self._context is not None
        held = [s for s in self._states.values() if s.sequence >= 0]
        if len(held) == self._context.sequences:
            self._drop(min(held, key=lambda s: (len(s.scores), sum(s.scores))))
        used = {s.sequence for s in self._states.values()}
        state.sequence = next(i for i in range(self._context.sequences) if i not in used)
        state.kept = 0

    def _drop(self, state: _KeptGoal) -> None:
        if state.sequence >= 0 and self._context is not None:
            self._context.forget(state.sequence)
        state.sequence, state.kept = -1, 0

    def _what_if(
        self,
        states: Sequence[_KeptGoal],
        question: str,
        answers: Sequence[str],
        cancel: threading.Event | None,
    ) -> list[list[float]]:
        dialogs = [[*self._dialog, (question, answer)] for answer in answers]
        readings = {
            id(state): [
                last_utterance(self.runtime, Layout.GOAL_FIRST, state.goal, dialog)
                for dialog in dialogs
            ]
            for state in states
        }
        self._make_room(max(len(tokens) for texts in readings.values() for tokens, _ in texts))
        results = []
        for state in states:
            if self._dialog:
                self._score_goal(state, *self._layout(state.goal), cancel)
            elif state.sequence < 0:
                self._place(state)
            assert self._context is not None
            kept = state.kept
            try:
                results.append(self._branches(state.sequence, readings[id(state)], kept, cancel))
                self._context.forget(state.sequence, kept)
            except BaseException:
                self._drop(state)
                raise
        return results

    def _branches(
        self,
        sequence: int,
        texts: Sequence[tuple[list[int], int]],
        kept: int,
        cancel: threading.Event | None,
    ) -> list[float]:
        """Each text's utterance, read behind the first ``kept`` tokens of a sequence."""
        assert self._context is not None
        branch = Branch(self._context, sequence, texts[0][0][:kept])
        values = [branch.score(tokens, start, cancel) for tokens, start in texts]
        self.tokens_scored += branch.tokens_scored
        return values

    # Reading.

    def _layout(self, goal: Goal) -> tuple[list[int], list[tuple[int, int]]]:
        return goal_first_tokens(self.runtime, goal, self._dialog)

    def _score_goal(
        self,
        state: _KeptGoal,
        tokens: list[int],
        utterances: list[tuple[int, int]],
        cancel: threading.Event | None,
    ) -> None:
        if state.sequence < 0:
            self._place(state)
        scores = list(state.scores)
        try:
            state.shares = tokens[: len(self._shared)] == self._shared
            if state.shares and not state.kept:
                self._read_shared(state, cancel)
            self.tokens_reused += state.kept
            for turn, (start, end) in enumerate(utterances):
                if end <= state.kept:
                    continue
                known = turn < len(state.scores)
                values = self._read(state, tokens[:end], end if known else start, cancel)
                if not known:
                    scores.append(float(np.sum(values)))
        except BaseException:
            # How far llama.cpp came is not worth finding out: this goal is read anew.
            self._drop(state)
            raise
        state.scores = scores

    def _read_shared(self, state: _KeptGoal, cancel: threading.Event | None) -> None:
        """Give the goal the start that all share: from one that has it, else by reading."""
        assert self._context is not None
        end = len(self._shared)
        source = next((s for s in self._states.values() if s.shares and s.kept > end), None)
        if source is None:
            self._read(state, self._shared, end, cancel)
        else:
            self._context.copy(source.sequence, state.sequence, end)
            state.kept = end

    def _read(
        self,
        state: _KeptGoal,
        tokens: list[int],
        first: int,
        cancel: threading.Event | None,
    ) -> list[float]:
        """Read what is new of ``tokens``; the log-probability of each token from ``first`` on."""
        assert self._context is not None
        start, end = state.kept, len(tokens)
        batch = [
            BatchToken(tokens[p], p, state.sequence, logits=first <= p + 1 < end)
            for p in range(start, end)
        ]
        values = [
            log_probability(logits, tokens[start + index + 1])
            for index, logits in self._context.read(batch, cancel)
        ]
        self.tokens_scored += len(batch)
        state.kept = end
        return values


@dataclass(frozen=True)
class _TurnReading:
    """One turn laid out goal last: the tokens all goals share, and where these end."""

    tokens: list[int]
    """Of 'Unspecified', up to the end of the utterance."""
    shared: int
    """How many of them are the same for every goal."""


class GoalLastSession(DialogSession[GoalState]):
    """Scores with the goal told last: the dialog is read once, in a trunk, and each goal as a
    short branch off it, which is not kept.

    The pieces are the trunk between the places where goals branch off, and each branch.
    """

    def __init__(self, runtime: LlamaRuntime, max_cells: int) -> None:
        super().__init__()
        self.runtime = runtime
        self.max_cells = max_cells
        self._context: LlamaContext | None = None
        self._turns: list[_TurnReading] = []
        self._trunk = 0
        """Tokens that the trunk's sequence holds."""
        self._branch = 0
        """Tokens of the trunk that the branch's sequence begins with."""

    def close(self) -> None:
        super().close()
        if self._context is not None:
            self._context.close()
            self._context = None

    def _new_state(self, goal: Goal) -> GoalState:
        return GoalState(goal)

    def _score(self, waiting: Sequence[GoalState], cancel: threading.Event | None) -> None:
        while len(self._turns) < len(self._dialog):
            self._turns.append(self._turn(self._dialog[: len(self._turns) + 1]))
        first = min(len(state.scores) for state in waiting)
        try:
            for turn in range(first, len(self._dialog)):
                due = [state for state in waiting if len(state.scores) == turn]
                self._score_turn(turn, due, cancel)
        except BaseException:
            # How far llama.cpp came is not worth finding out: the trunk is read anew.
            self._forget_all()
            raise

    def _score_turn(
        self, turn: int, due: Sequence[GoalState], cancel: threading.Event | None
    ) -> None:
        layouts = [self._tokens(state.goal, self._dialog[: turn + 1]) for state in due]
        self._make_room(max(len(tokens) for tokens, _ in layouts))
        self._read_trunk(turn, cancel)
        for state, (tokens, start) in zip(due, layouts, strict=True):
            values = self._read_branch(turn, tokens, start, cancel)
            state.scores.append(float(np.sum(values)))

    def _what_if(
        self,
        states: Sequence[GoalState],
        question: str,
        answers: Sequence[str],
        cancel: threading.Event | None,
    ) -> list[list[float]]:
        """Off the trunk as it stands: the last utterance and the question are read once, each
        goal's note once, and each answer. The trunk is not grown, since the places where it is
        cut must depend on the dialog alone."""
        readings = [
            [self._tokens(state.goal, [*self._dialog, (question, answer)]) for answer in answers]
            for state in states
        ]
        self._make_room(max(len(tokens) for texts in readings for tokens, _ in texts))
        assert self._context is not None
        while len(self._turns) < len(self._dialog):
            self._turns.append(self._turn(self._dialog[: len(self._turns) + 1]))
        if self._turns:
            self._read_trunk(len(self._turns) - 1, cancel)
        trunk = self._turns[-1].tokens[: self._trunk] if self._trunk else []
        self._context.forget(BRANCH)
        self._branch = 0
        if trunk:
            self._context.copy(TRUNK, BRANCH, len(trunk))
        branch = Branch(self._context, BRANCH, trunk)
        try:
            return [
                [branch.score(tokens, start, cancel) for tokens, start in texts]
                for texts in readings
            ]
        except BaseException:
            self._forget_all()
            raise
        finally:
            self._context.forget(BRANCH)
            self.tokens_scored += branch.tokens_scored
            whole = sum(len(tokens) for texts in readings for tokens, _ in texts)
            self.tokens_reused += whole - branch.tokens_scored

    def _tokens(self, goal: Goal, dialog: Sequence[tuple[str, str]]) -> tuple[list[int], int]:
        """Tokens up to the end of the last utterance, and where that begins."""
        return last_utterance(self.runtime, Layout.GOAL_LAST, goal, dialog)

    def _turn(self, dialog: Sequence[tuple[str, str]]) -> _TurnReading:
        tokens, start = self._tokens(unspecified_goal(), dialog)
        other, _ = self._tokens(Goal("other", "other"), dialog)
        return _TurnReading(tokens, min(common_start(tokens, other), start - 1))

    def _make_room(self, longest: int) -> None:
        limit = _require_room(self.runtime, self.max_cells // 2, longest)
        room = FIRST_ROOM
        if self._context is not None:
            room = self._context.room
        while room < longest:
            room += room // 2
        room = min(room, limit)
        if self._context is not None and self._context.room == room:
            return
        if self._context is not None:
            self._context.close()
            self._context = None
        self._context = self.runtime.context(room, 2)
        self._trunk = self._branch = 0

    def _forget_all(self) -> None:
        if self._context is not None:
            self._context.forget(TRUNK)
            self._context.forget(BRANCH)
        self._trunk = self._branch = 0

    def _read_trunk(self, turn: int, cancel: threading.Event | None) -> None:
        """Have the trunk reach at least to where the goals of this turn branch off."""
        for reading_ in self._turns[: turn + 1]:
            if self._trunk < reading_.shared:
                self._read(TRUNK, reading_.tokens[: reading_.shared], self._trunk, cancel)
                self._trunk = reading_.shared

    def _read_branch(
        self, turn: int, tokens: list[int], start: int, cancel: threading.Event | None
    ) -> list[float]:
        """The log-probability of each token from ``start`` on."""
        assert self._context is not None
        shared = min(
            self._turns[turn].shared, common_start(self._turns[turn].tokens, tokens), start - 1
        )
        if self._branch == shared:
            self._context.forget(BRANCH, shared)
        else:
            self._context.forget(BRANCH)
            self._context.copy(TRUNK, BRANCH, shared)
            self._branch = shared
        self.tokens_reused += shared
        return self._read(BRANCH, tokens, shared, cancel, start)

    def _read(
        self,
        sequence: int,
        tokens: list[int],
        kept: int,
        cancel: threading.Event | None,
        start: int | None = None,
    ) -> list[float]:
        """Read what is new of ``tokens``; the log-probabilities from ``start`` on, if given."""
        assert self._context is not None
        end = len(tokens)
        first = end if start is None else start
        batch = [
            BatchToken(tokens[p], p, sequence, logits=first <= p + 1 < end)
            for p in range(kept, end)
        ]
        values = [
            log_probability(logits, tokens[kept + index + 1])
            for index, logits in self._context.read(batch, cancel)
        ]
        self.tokens_scored += len(batch)
        return values


def _require_room(runtime: LlamaRuntime, cells: int, longest: int) -> int:
    """Tokens that a sequence can have at most. Raises ModelError where ``longest`` is more."""
    limit = min(cells, runtime.trained_context)
    if longest > limit:
        raise ModelError(
            f"the dialog has {longest} tokens, more than the {limit} that "
            f"{runtime.path.name} can hold: begin a new session with reset_session, or raise "
            "cache_mib"
        )
    return limit
