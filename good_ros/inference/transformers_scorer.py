"""Scoring with transformers and torch: all goals in one packed pass, new tokens only."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from good_ros.core.errors import ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.joining import split_join
from good_ros.inference.layout import DEFAULT_LAYOUT, Layout
from good_ros.inference.proof import TOLERANCE, prove
from good_ros.inference.scorer import DEFAULT_CACHE_MIB, Score, ScoringSession
from good_ros.inference.session import (
    DialogSession,
    GoalState,
    common_start,
    goal_first_tokens,
    last_utterance,
    shared_start,
)
from good_ros.language.transformers_runtime import KeyValues, LoadedModel, Text

HALF_TOLERANCE = 0.1
"""Nats a token by which cached may differ from uncached in bfloat16, whose steps are coarse."""


class TransformersScorer:
    """Log-probabilities of given text from a transformers model.

    ``cache_mib``: keys and values that a session holds at most, in MiB.
    """

    def __init__(
        self,
        model: LoadedModel,
        layout: Layout = DEFAULT_LAYOUT,
        cache_mib: float = DEFAULT_CACHE_MIB,
    ) -> None:
        self.model = model
        self.layout = layout
        self.model_name = model.model_name
        self.cache_bytes = int(cache_mib * 2**20)

    def close(self) -> None:
        """The weights go with the last that holds them."""

    def session(self) -> ScoringSession:
        if self.layout is Layout.GOAL_FIRST:
            return GoalFirstSession(self.model, self.cache_bytes)
        return GoalLastSession(self.model, self.cache_bytes)

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        texts = []
        for context in contexts:
            tokens, start = split_join(
                context, continuation, self.model.tokenize, self.model.beginning
            )
            texts.append(Text(tokens, range(start, len(tokens))))
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i].tokens))
        values = self.model.read([texts[i] for i in order])
        scores = {i: Score(sum(v), tuple(v)) for i, v in zip(order, values, strict=True)}
        return [scores[i] for i in range(len(texts))]

    def self_test(self) -> None:
        exact = self.model.model.dtype == self.model.torch.float32
        prove(
            self,
            lambda text: len(self.model.tokenize(text)),
            TOLERANCE if exact else HALF_TOLERANCE,
        )


@dataclass
class _KeptGoal(GoalState):
    """One goal, and the keys and values of its dialog."""

    kept: KeyValues | None = None


class GoalFirstSession(DialogSession[_KeptGoal]):
    """Scores with the goal told first: keys and values are kept for each goal.

    Past ``cache_bytes`` those of the least likely goals are dropped; these goals are then read
    from the start each turn, with the same result.
    """

    def __init__(self, model: LoadedModel, cache_bytes: int) -> None:
        super().__init__()
        self.model = model
        self.cache_bytes = cache_bytes
        self._prefix: KeyValues | None = None
        """Of the start that all goals share."""
        self._shared = shared_start(model)

    @property
    def kept_bytes(self) -> int:
        return sum(s.kept.nbytes for s in self._states.values() if s.kept is not None)

    def close(self) -> None:
        super().close()
        self._prefix = None

    def _new_state(self, goal: Goal) -> _KeptGoal:
        return _KeptGoal(goal)

    def _drop(self, state: _KeptGoal) -> None:
        state.kept = None

    def _score(self, waiting: Sequence[_KeptGoal], cancel: threading.Event | None) -> None:
        if self._prefix is None and self._shared:
            prefix = KeyValues()
            self.model.read([Text(self._shared, past=prefix, keep=True)], cancel)
            self.tokens_scored += len(self._shared)
            self._prefix = prefix
        # Likeliest first: their state is what is kept where there is not room for all.
        order = sorted(waiting, key=lambda s: (-len(s.scores), -sum(s.scores)))
        layouts = [self._layout(state.goal) for state in order]
        room = float(self.cache_bytes) - sum(
            s.kept.nbytes for s in self._states.values() if s.kept is not None and s not in order
        )
        per_token = self._bytes_per_token()
        texts = []
        for state, (tokens, spans) in zip(order, layouts, strict=True):
            # What a buffer of this length takes once it has grown.
            room -= per_token * max(len(tokens) + 32, len(tokens) * 5 // 4)
            texts.append(self._text(state, tokens, spans[len(state.scores) :], room >= 0))
        try:
            values = self.model.read(texts, cancel)
        except BaseException:
            for state in order:
                self._drop(state)
            raise
        for state, (tokens, spans), text, value in zip(order, layouts, texts, values, strict=True):
            self.tokens_scored += len(text.tokens)
            self.tokens_reused += len(tokens) - len(text.tokens)
            if not text.keep:
                self._drop(state)
            for start, end in spans[len(state.scores) :]:
                state.scores.append(float(sum(value[: end - start])))
                value = value[end - start :]

    def _layout(self, goal: Goal) -> tuple[list[int], list[tuple[int, int]]]:
        return goal_first_tokens(self.model, goal, self._dialog)

    def _text(
        self,
        state: _KeptGoal,
        tokens: list[int],
        utterances: Sequence[tuple[int, int]],
        keep: bool,
    ) -> Text:
        """What is to be read for a goal: what is new, or all behind the shared start."""
        past = state.kept
        shared = len(self._shared)
        if past is None and self._prefix is not None and tokens[:shared] == self._shared:
            past = self._prefix.copy(shared) if keep else self._prefix
        elif past is None and keep:
            past = KeyValues()
        if keep:
            state.kept = past
        held = past.length if past is not None else 0
        wanted = [p - held for start, end in utterances for p in range(start, end)]
        return Text(tokens[held:], wanted, past, held, keep)

    def _what_if(
        self,
        states: Sequence[_KeptGoal],
        question: str,
        answers: Sequence[str],
        cancel: threading.Event | None,
    ) -> list[list[float]]:
        """One packed pass over every answer under every goal."""
        texts = []
        for state in states:
            for answer in answers:
                dialog = [*self._dialog, (question, answer)]
                tokens, start = last_utterance(self.model, Layout.GOAL_FIRST, state.goal, dialog)
                held = state.kept.length if state.kept is not None else 0
                wanted = range(start - held, len(tokens) - held)
                texts.append(Text(tokens[held:], wanted, state.kept, held))
        return _sums(self, texts, len(answers), cancel)

    def _bytes_per_token(self) -> float:
        assert self._prefix is not None or not self._shared
        if self._prefix is None:
            return 0.0
        return self._prefix.nbytes / max(len(self._shared) + 32, len(self._shared) * 5 // 4)


class GoalLastSession(DialogSession[GoalState]):
    """Scores with the goal told last: the dialog's keys and values are kept once, and each goal
    is a short branch off them, which is not kept."""

    def __init__(self, model: LoadedModel, cache_bytes: int) -> None:
        super().__init__()
        self.model = model
        self.cache_bytes = cache_bytes
        self._trunk = KeyValues()

    def close(self) -> None:
        super().close()
        self._trunk = KeyValues()

    def _new_state(self, goal: Goal) -> GoalState:
        return GoalState(goal)

    def _score(self, waiting: Sequence[GoalState], cancel: threading.Event | None) -> None:
        first = min(len(state.scores) for state in waiting)
        for turn in range(first, len(self._dialog)):
            due = [state for state in waiting if len(state.scores) == turn]
            self._score_turn(self._dialog[: turn + 1], due, cancel)

    def _score_turn(
        self,
        dialog: Sequence[tuple[str, str]],
        due: Sequence[GoalState],
        cancel: threading.Event | None,
    ) -> None:
        trunk, trunk_start = self._tokens(unspecified_goal(), dialog)
        branches = [self._tokens(state.goal, dialog) for state in due]
        shared = [min(common_start(trunk, tokens), start - 1) for tokens, start in branches]
        common = min([trunk_start - 1, *shared])
        held = self._trunk.length
        if held < common:
            self.model.read([Text(trunk[held:common], (), self._trunk, held, keep=True)], cancel)
            self.tokens_scored += common - held
            self._require_room()
        texts = [
            Text(tokens[common:], range(start - common, len(tokens) - common), self._trunk, common)
            for tokens, start in branches
        ]
        values = self.model.read(texts, cancel)
        for state, text, value in zip(due, texts, values, strict=True):
            self.tokens_scored += len(text.tokens)
            self.tokens_reused += common
            state.scores.append(float(sum(value)))

    def _what_if(
        self,
        states: Sequence[GoalState],
        question: str,
        answers: Sequence[str],
        cancel: threading.Event | None,
    ) -> list[list[float]]:
        """One packed pass over every answer under every goal, off the dialog as it stands."""
        readings = [
            self._tokens(state.goal, [*self._dialog, (question, answer)])
            for state in states
            for answer in answers
        ]
        if self._dialog:
            # The last utterance is no goal's own: it is read into the trunk once.
            said, _ = self._tokens(unspecified_goal(), self._dialog)
            end = min(common_start(said, tokens) for tokens, _ in readings)
            held = self._trunk.length
            if held < end:
                self.model.read([Text(said[held:end], (), self._trunk, held, keep=True)], cancel)
                self.tokens_scored += end - held
                self._require_room()
        held = self._trunk.length
        texts = [
            Text(tokens[held:], range(start - held, len(tokens) - held), self._trunk, held)
            for tokens, start in readings
        ]
        return _sums(self, texts, len(answers), cancel)

    def _require_room(self) -> None:
        if self._trunk.nbytes > self.cache_bytes:
            taken = self._trunk.nbytes / 2**20
            self._trunk = KeyValues()
            raise ModelError(
                f"the dialog's keys and values take {taken:.0f} MiB, more than cache_mib "
                f"({self.cache_bytes / 2**20:.0f}): raise it, or begin a new session with "
                "reset_session"
            )

    def _tokens(self, goal: Goal, dialog: Sequence[tuple[str, str]]) -> tuple[list[int], int]:
        """Tokens up to the end of the last utterance, and where that begins."""
        return last_utterance(self.model, Layout.GOAL_LAST, goal, dialog)


def _sums(
    session: GoalFirstSession | GoalLastSession,
    texts: Sequence[Text],
    answers: int,
    cancel: threading.Event | None,
) -> list[list[float]]:
    """The texts' log-probabilities, ``answers`` of them a goal."""
    values = [float(sum(value)) for value in session.model.read(texts, cancel)]
    session.tokens_scored += sum(len(text.tokens) for text in texts)
    session.tokens_reused += sum(text.past_length for text in texts)
    return [values[i : i + answers] for i in range(0, len(values), answers)]
