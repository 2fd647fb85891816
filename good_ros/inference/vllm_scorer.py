"""Scoring on a vLLM server over HTTP: one request a turn, a prompt for each goal.

vLLM reads a prompt in full where log-probabilities of the prompt are asked for, so nothing is
kept between turns but the scores.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from good_ros.core.goals import Goal
from good_ros.inference.joining import split_join
from good_ros.inference.layout import DEFAULT_LAYOUT, Layout, reading, utterance_message
from good_ros.inference.proof import prove
from good_ros.inference.scorer import Score, ScoringSession
from good_ros.inference.session import DialogSession, GoalState, last_utterance
from good_ros.language.vllm_server import VllmServer

SERVER_TOLERANCE = 0.05
"""Nats a token by which two answers of a server may differ: other prompts share its batches,
and its weights are often of 16 bits."""


class VllmScorer:
    """Log-probabilities of given text from a vLLM server."""

    def __init__(self, server: VllmServer, layout: Layout = DEFAULT_LAYOUT) -> None:
        self.server = server
        self.layout = layout
        self.model_name = server.model_name

    def close(self) -> None:
        self.server.close()

    def session(self) -> ScoringSession:
        return VllmSession(self.server, self.layout)

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        texts = [
            split_join(context, continuation, self.server.tokenize, self.server.beginning)
            for context in contexts
        ]
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i][0]))
        values = self.server.log_probabilities(
            [texts[i][0] for i in order], [texts[i][1] for i in order]
        )
        scores = {i: Score(sum(v), tuple(v)) for i, v in zip(order, values, strict=True)}
        return [scores[i] for i in range(len(texts))]

    def self_test(self) -> None:
        prove(self, lambda text: len(self.server.tokenize(text)), SERVER_TOLERANCE)


class VllmSession(DialogSession[GoalState]):
    """The scoring session of one dialog. A request that fails leaves the scores as they were."""

    def __init__(self, server: VllmServer, layout: Layout) -> None:
        super().__init__()
        self.server = server
        self.layout = layout

    def _new_state(self, goal: Goal) -> GoalState:
        return GoalState(goal)

    def _score(self, waiting: Sequence[GoalState], cancel: threading.Event | None) -> None:
        prompts: list[list[int]] = []
        wanted: list[tuple[GoalState, list[tuple[int, int]]]] = []
        for state in waiting:
            for tokens, spans in self._readings(state):
                prompts.append(tokens)
                wanted.append((state, spans))
        starts = [spans[0][0] for _, spans in wanted]
        values = self.server.log_probabilities(prompts, starts, cancel)
        for (state, spans), start, value in zip(wanted, starts, values, strict=True):
            for first, end in spans:
                state.scores.append(sum(value[first - start : end - start]))
        self.tokens_scored += sum(len(tokens) for tokens in prompts)

    def _what_if(
        self,
        states: Sequence[GoalState],
        question: str,
        answers: Sequence[str],
        cancel: threading.Event | None,
    ) -> list[list[float]]:
        chats = []
        for state in states:
            for answer in answers:
                dialog = [*self._dialog, (question, answer)]
                chats.append(last_utterance(self.server, self.layout, state.goal, dialog))
        values = self.server.log_probabilities(
            [tokens for tokens, _ in chats], [start for _, start in chats], cancel
        )
        self.tokens_scored += sum(len(tokens) for tokens, _ in chats)
        sums = [sum(value) for value in values]
        return [sums[i : i + len(answers)] for i in range(0, len(sums), len(answers))]

    def _readings(self, state: GoalState) -> list[tuple[list[int], list[tuple[int, int]]]]:
        """The chats to be read for a goal, each with the spans of the utterances to score."""
        known, said = len(state.scores), len(self._dialog)
        if self.layout is Layout.GOAL_FIRST:
            return [
                self._chat(state.goal, said, [utterance_message(i) for i in range(known, said)])
            ]
        return [self._chat(state.goal, turn, [-1]) for turn in range(known + 1, said + 1)]

    def _chat(
        self, goal: Goal, turns: int, messages: Sequence[int]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        tokens, spans = self.server.chat_tokens(
            reading(self.layout, goal, self._dialog[:turns]), add_assistant=False
        )
        return tokens[: spans[-1][1]], [spans[i] for i in messages]
