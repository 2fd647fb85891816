"""Scoring on a GGUF model in this process: one llama.cpp sequence a goal, new tokens only."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from good_ros.core.errors import CannotScore, ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.layout import role_play, utterance_message
from good_ros.inference.scorer import Score
from good_ros.language.llama_runtime import BatchToken, LlamaContext, LlamaRuntime

FIRST_CELLS = 4096
MAX_SEQUENCES = 64
SELF_TEST_TOLERANCE = 0.1
"""Nats a token by which cached may differ from uncached on quantised weights, where llama.cpp
computes batches of different shapes with different kernels."""


class LlamaCppScorer:
    """Log-probabilities of given text from a GGUF model.

    ``max_cells``: tokens whose keys and values are held at once over all goals; past it the
    state of goals that were scored longest ago is dropped and built anew when needed.
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
        if start == 0:
            raise CannotScore("the context is part of the continuation's first token")
        return whole, start

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
    kept: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


class LlamaCppSession:
    """The scoring session of one dialog; the tokens that count are the utterances' alone,
    without the marker that ends the turn."""

    def __init__(self, runtime: LlamaRuntime, max_cells: int) -> None:
        self.runtime = runtime
        self.max_cells = min(max_cells, runtime.trained_context * MAX_SEQUENCES)
        self.tokens_scored = 0
        self.tokens_reused = 0
        self._states: dict[str, _GoalState] = {}
        self._dialog: list[tuple[str, str]] = []
        self._context: LlamaContext | None = None

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
        while waiting:
            group, waiting = self._next_group(waiting)
            self._score(group, cancel)
        return {goal_id: tuple(state.scores) for goal_id, state in self._states.items()}

    # Room.

    def _next_group(
        self, waiting: list[_GoalState]
    ) -> tuple[list[tuple[_GoalState, list[int], list[tuple[int, int]]]], list[_GoalState]]:
        """As many goals as there is room for, with their tokens and utterances' spans."""
        group: list[tuple[_GoalState, list[int], list[tuple[int, int]]]] = []
        needed = 0
        for i, state in enumerate(waiting):
            tokens, spans = self._tokens(state.goal)
            if len(tokens) > min(self.max_cells, self.runtime.trained_context):
                raise ModelError(
                    f"the dialog has {len(tokens)} tokens, more than {self.runtime.path.name} "
                    "can hold: begin a new session with reset_session"
                )
            if group and (needed + len(tokens) > self.max_cells or len(group) == MAX_SEQUENCES):
                self._make_room(needed, [s for s, _, _ in group])
                return group, waiting[i:]
            group.append((state, tokens, spans))
            needed += len(tokens)
        self._make_room(needed, [state for state, _, _ in group])
        return group, []

    def _make_room(self, needed: int, group: list[_GoalState]) -> None:
        """A context with room for the group, and a sequence for each goal in it."""
        names = {id(state) for state in group}
        others = [s for s in self._states.values() if s.sequence >= 0 and id(s) not in names]
        total = needed + sum(len(state.kept) for state in others)
        if self._context is None or (
            total > self._context.cells and self._context.cells < self.max_cells
        ):
            # Growing costs a reading of everything once; doubling keeps it rare.
            cells = FIRST_CELLS
            while cells < min(total, self.max_cells):
                cells *= 2
            self._new_context(min(cells, self.max_cells))
            return
        free = self._context.cells - total
        used = {s.sequence for s in self._states.values()}
        lacking = sum(s.sequence < 0 for s in group) - (MAX_SEQUENCES - len(used - {-1}))
        for state in others:
            if free >= 0 and lacking <= 0:
                break
            free += len(state.kept)
            lacking -= 1
            self._drop(state)

    def _new_context(self, cells: int) -> None:
        if self._context is not None:
            self._context.close()
        for state in self._states.values():
            state.sequence = -1
            state.kept = []
        self._context = self.runtime.context(cells, MAX_SEQUENCES)

    def _drop(self, state: _GoalState) -> None:
        if state.sequence >= 0 and self._context is not None:
            self._context.forget(state.sequence)
        state.sequence = -1
        state.kept = []

    # Reading.

    def _tokens(self, goal: Goal) -> tuple[list[int], list[tuple[int, int]]]:
        tokens, spans = self.runtime.chat_tokens(role_play(goal, self._dialog), add_assistant=False)
        utterances = [spans[utterance_message(i)] for i in range(len(self._dialog))]
        # What follows the last utterance is read only once there is more dialog.
        return tokens[: utterances[-1][1]], utterances

    def _score(
        self,
        group: list[tuple[_GoalState, list[int], list[tuple[int, int]]]],
        cancel: threading.Event | None,
    ) -> None:
        assert self._context is not None
        batch: list[BatchToken] = []
        targets: list[tuple[_GoalState, int, int]] = []
        values: dict[tuple[str, int], list[float]] = {}
        starts: list[int] = []
        for state, tokens, spans in group:
            done = len(state.scores)
            first_wanted = spans[done][0] - 1
            start = min(self._prepare(state, tokens), first_wanted)
            self._context.forget(state.sequence, start)
            state.kept = state.kept[:start]
            starts.append(start)
            wanted = {
                p: turn
                for turn in range(done, len(spans))
                for p in range(spans[turn][0], spans[turn][1])
            }
            for position in range(start, len(tokens)):
                turn = wanted.get(position + 1, -1)
                batch.append(
                    BatchToken(tokens[position], position, state.sequence, logits=turn >= 0)
                )
                target = tokens[position + 1] if turn >= 0 else -1
                targets.append((state, turn, target))
            for turn in range(done, len(spans)):
                values[state.goal.id, turn] = []
        try:
            for index, logits in self._context.read(batch, cancel):
                state, turn, target = targets[index]
                values[state.goal.id, turn].append(log_probability(logits, target))
        except BaseException:
            # Which sequences hold what is not worth finding out: they are read anew.
            for state, _, _ in group:
                self._drop(state)
            raise
        self.tokens_scored += len(batch)
        self.tokens_reused += sum(starts)
        for state, tokens, spans in group:
            state.kept = list(tokens)
            for turn in range(len(state.scores), len(spans)):
                state.scores.append(float(np.sum(values[state.goal.id, turn])))

    def _prepare(self, state: _GoalState, tokens: list[int]) -> int:
        """Give the goal a sequence with what is known of its start; how much that is."""
        assert self._context is not None
        if state.sequence >= 0:
            return _common(state.kept, tokens)
        used = {s.sequence for s in self._states.values()}
        state.sequence = next(i for i in range(MAX_SEQUENCES) if i not in used)
        others = [s for s in self._states.values() if s.kept and s.sequence >= 0]
        best = max(others, key=lambda s: _common(s.kept, tokens), default=None)
        if best is None:
            return 0
        shared = _common(best.kept, tokens)
        self._context.copy(best.sequence, state.sequence, shared)
        state.kept = list(tokens[:shared])
        return shared


def _common(first: Iterable[int], second: Iterable[int]) -> int:
    """Length of the common start."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count
