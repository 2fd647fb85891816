"""Scoring on a GGUF model in this process: one llama.cpp sequence a goal, new tokens only."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from good_ros.core.errors import CannotScore, ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.layout import role_play, utterance_message
from good_ros.inference.scorer import Score
from good_ros.language.llama_runtime import BatchToken, LlamaContext, LlamaRuntime

FIRST_ROOM = 1024
"""Tokens that there is room for in a sequence at first."""
FIRST_SEQUENCES = 8
MAX_SEQUENCES = 64
SELF_TEST_TOLERANCE = 1e-3
"""Nats a token by which cached may differ from uncached. They are equal to the last bit where
measured (AVX2): a dialog is always read in the same pieces, see ``LlamaCppSession``."""


class LlamaCppScorer:
    """Log-probabilities of given text from a GGUF model.

    ``max_cells``: tokens whose keys and values are held at once over all goals; past it the
    state of the least likely goals is dropped and built anew when needed, with the same result.
    """

    def __init__(self, runtime: LlamaRuntime, max_cells: int = 32768) -> None:
        self.runtime = runtime
        self.model_name = runtime.model_name
        self.max_cells = max_cells

    def close(self) -> None:
        self.runtime.close()

    def session(self) -> LlamaCppSession:
        return LlamaCppSession(self.runtime, self.max_cells)

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        tokenized = [self._split(context, continuation) for context in contexts]
        longest = max((len(tokens) for tokens, _ in tokenized), default=0)
        if not longest:
            return []
        holder = self.runtime.context(longest + 8)
        scores: dict[int, Score] = {}
        try:
            order = sorted(range(len(contexts)), key=lambda i: -len(tokenized[i][0]))
            for i in order:
                tokens, start = tokenized[i]
                holder.forget(0)
                batch = [
                    BatchToken(token, p, 0, logits=start - 1 <= p < len(tokens) - 1)
                    for p, token in enumerate(tokens)
                ]
                values = [
                    log_probability(row, tokens[index + 1]) for index, row in holder.read(batch)
                ]
                scores[i] = Score(float(np.sum(values)), tuple(values))
        finally:
            holder.close()
        return [scores[i] for i in range(len(contexts))]

    def _split(self, context: str, continuation: str) -> tuple[list[int], int]:
        """Tokens of the whole, and where the continuation's begin.

        The whole is encoded at once; the continuation begins with the first token that the
        context alone does not have, so that a token across the join counts as its own.
        """
        if not context or not continuation:
            raise CannotScore("a context and a continuation of at least one character are needed")
        whole = self.runtime.tokenize(context + continuation)
        alone = self.runtime.tokenize(context)
        start = 0
        while start < min(len(alone), len(whole) - 1) and alone[start] == whole[start]:
            start += 1
        beginning = self.runtime.beginning
        if not beginning and start == 0:
            raise CannotScore("the context is part of the continuation's first token")
        return beginning + whole, len(beginning) + start

    def self_test(self) -> None:
        likely, unlikely = (
            self.score(["The capital of France is"], text)[0]
            for text in (" Paris.", " qux zebra lamp.")
        )
        if likely.tokens != len(self.runtime.tokenize(" Paris.")):
            raise CannotScore(
                f"{self.model_name}: {likely.tokens} tokens were scored where there are "
                f"{len(self.runtime.tokenize(' Paris.'))}"
            )
        if not likely.log_probability / likely.tokens > unlikely.log_probability / unlikely.tokens:
            raise CannotScore(f"{self.model_name}: an unlikely text scores above a likely one")
        dialog = [("What would you like?", "Some tea, please."), ("With milk?", "Yes, a little.")]
        goals = [unspecified_goal(), Goal("test", "have tea with milk")]
        cached = self._dialog_scores(goals, [dialog[:1], dialog])
        fresh = self._dialog_scores(goals, [dialog])
        for goal in goals:
            tokens = sum(len(self.runtime.tokenize(u)) for _, u in dialog)
            difference = abs(sum(cached[goal.id]) - sum(fresh[goal.id])) / tokens
            if difference > SELF_TEST_TOLERANCE:
                raise CannotScore(
                    f"{self.model_name}: cached and uncached scores differ by {difference:.3g} "
                    f"nats a token, over {SELF_TEST_TOLERANCE}"
                )

    def _dialog_scores(
        self, goals: Sequence[Goal], dialogs: Sequence[Sequence[tuple[str, str]]]
    ) -> dict[str, tuple[float, ...]]:
        """The scores of the last dialog, asked for after each of the growing dialogs."""
        session = self.session()
        try:
            session.set_goals(goals)
            said = 0
            result: dict[str, tuple[float, ...]] = {}
            for dialog in dialogs:
                for question, utterance in dialog[said:]:
                    session.append(question, utterance)
                said = len(dialog)
                result = session.log_likelihoods()
            return result
        finally:
            session.close()


def log_probability(logits: npt.NDArray[np.float32], token: int) -> float:
    """log softmax(logits)[token], in nats."""
    top = float(logits.max())
    return float(logits[token]) - top - float(np.log(np.exp(logits - top).sum(dtype=np.float64)))


@dataclass
class _GoalState:
    """One goal: what has been read of it, and the scores so far."""

    goal: Goal
    sequence: int = -1
    """Its llama.cpp sequence, or -1 where nothing is kept."""
    kept: int = 0
    """Tokens that its sequence holds: always a whole number of pieces."""
    shares: bool = False
    """Whether these begin with the start that all goals share."""
    scores: list[float] = field(default_factory=list)


class LlamaCppSession:
    """The scoring session of one dialog; the tokens that count are the utterances' alone,
    without the marker that ends the turn.

    llama.cpp rounds otherwise where a batch has another shape or other sequences' cells lie
    between, which on 4-bit weights grows to 0.4 nats an utterance. So each goal has cells of its
    own and is read in pieces that depend on its dialog alone: the start that all goals share,
    then each turn up to the end of its utterance. Scores are then the same whatever was kept,
    and whichever other goals there are.
    """

    def __init__(self, runtime: LlamaRuntime, max_cells: int) -> None:
        self.runtime = runtime
        self.max_cells = max_cells
        self.tokens_scored = 0
        self.tokens_reused = 0
        self._states: dict[str, _GoalState] = {}
        self._dialog: list[tuple[str, str]] = []
        self._context: LlamaContext | None = None
        unspecified, other = (
            runtime.chat_tokens(role_play(goal, []), add_assistant=False)[0]
            for goal in (unspecified_goal(), Goal("other", "other"))
        )
        self._shared = unspecified[: _common(unspecified, other)]

    def close(self) -> None:
        if self._context is not None:
            self._context.close()
            self._context = None
        self._states = {}

    def set_goals(self, goals: Sequence[Goal]) -> None:
        kept: dict[str, _GoalState] = {}
        for goal in goals:
            state = self._states.pop(goal.id, None)
            if state is not None and state.goal.text != goal.text:
                self._drop(state)
                state = None
            kept[goal.id] = state or _GoalState(goal)
        for state in self._states.values():
            self._drop(state)
        self._states = kept

    def append(self, question: str, utterance: str) -> None:
        self._dialog.append((question, utterance))

    def log_likelihoods(
        self, cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        waiting = [s for s in self._states.values() if len(s.scores) < len(self._dialog)]
        layouts = {id(state): self._layout(state.goal) for state in waiting}
        longest = max((len(tokens) for tokens, _ in layouts.values()), default=0)
        if longest:
            self._make_room(longest)
        # Those that are held go first: once they are scored, their place can be given away.
        for state in sorted(waiting, key=lambda s: s.sequence < 0):
            self._score(state, *layouts[id(state)], cancel)
        return {goal_id: tuple(state.scores) for goal_id, state in self._states.items()}

    # Room.

    def _make_room(self, longest: int) -> None:
        """A context with room for dialogs of ``longest`` tokens, and as many as can be held."""
        limit = min(self.max_cells, self.runtime.trained_context)
        if longest > limit:
            raise ModelError(
                f"the dialog has {longest} tokens, more than the {limit} that "
                f"{self.runtime.path.name} can hold: begin a new session with reset_session"
            )
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

    def _place(self, state: _GoalState) -> None:
        """Give the goal a sequence, if need be that of the least likely goal."""
        assert self._context is not None
        held = [s for s in self._states.values() if s.sequence >= 0]
        if len(held) == self._context.sequences:
            self._drop(min(held, key=lambda s: (len(s.scores), sum(s.scores))))
        used = {s.sequence for s in self._states.values()}
        state.sequence = next(i for i in range(self._context.sequences) if i not in used)
        state.kept = 0

    def _drop(self, state: _GoalState) -> None:
        if state.sequence >= 0 and self._context is not None:
            self._context.forget(state.sequence)
        state.sequence, state.kept = -1, 0

    # Reading.

    def _layout(self, goal: Goal) -> tuple[list[int], list[tuple[int, int]]]:
        """The goal's chat up to the end of the last utterance, and the utterances' spans."""
        tokens, spans = self.runtime.chat_tokens(role_play(goal, self._dialog), add_assistant=False)
        utterances = [spans[utterance_message(i)] for i in range(len(self._dialog))]
        return tokens[: utterances[-1][1]], utterances

    def _score(
        self,
        state: _GoalState,
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

    def _read_shared(self, state: _GoalState, cancel: threading.Event | None) -> None:
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
        state: _GoalState,
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


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """Length of the common start."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count
