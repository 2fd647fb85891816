"""What every scoring session keeps: the dialog, the goals, and the scores that are known."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.layout import Dialog, Layout, reading, utterance_message
from good_ros.language.generator import Message


@dataclass
class GoalState:
    """One goal and the log-likelihoods (nats) of the first utterances under it."""

    goal: Goal
    scores: list[float] = field(default_factory=list)


State = TypeVar("State", bound=GoalState)


class DialogSession(Generic[State]):
    """A ``ScoringSession`` but for the scoring itself: a back end fills in ``_score``."""

    def __init__(self) -> None:
        self.tokens_scored = 0
        self.tokens_reused = 0
        self._states: dict[str, State] = {}
        self._dialog: list[tuple[str, str]] = []

    def set_goals(self, goals: Sequence[Goal]) -> None:
        kept: dict[str, State] = {}
        for goal in goals:
            state = self._states.pop(goal.id, None)
            if state is not None and state.goal.text != goal.text:
                self._drop(state)
                state = None
            kept[goal.id] = state or self._new_state(goal)
        for state in self._states.values():
            self._drop(state)
        self._states = kept

    def append(self, question: str, utterance: str) -> None:
        self._dialog.append((question, utterance))

    def log_likelihoods(
        self, cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        waiting = [s for s in self._states.values() if len(s.scores) < len(self._dialog)]
        if waiting:
            self._score(waiting, cancel)
        return {goal_id: tuple(state.scores) for goal_id, state in self._states.items()}

    def what_if(
        self, question: str, answers: Sequence[str], cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        states = list(self._states.values())
        if not states or not answers:
            return {state.goal.id: () for state in states}
        return {
            state.goal.id: tuple(values)
            for state, values in zip(
                states, self._what_if(states, question, answers, cancel), strict=True
            )
        }

    def close(self) -> None:
        for state in self._states.values():
            self._drop(state)
        self._states = {}

    def _new_state(self, goal: Goal) -> State:
        """The state of a goal that was just added."""
        raise NotImplementedError

    def _drop(self, state: State) -> None:
        """Free what is held for a goal; its scores stay true."""

    def _score(self, waiting: Sequence[State], cancel: threading.Event | None) -> None:
        """Bring the scores of these goals up to the dialog.

        Where it raises, each goal's scores are those of whole turns still.
        """
        raise NotImplementedError

    def _what_if(
        self,
        states: Sequence[State],
        question: str,
        answers: Sequence[str],
        cancel: threading.Event | None,
    ) -> list[list[float]]:
        """For each goal the log-likelihood of each answer as the next utterance; what is kept
        of the dialog stays as it is."""
        raise NotImplementedError


class ChatTokenizer(Protocol):
    """What turns a chat into tokens: a model, or a server that has one."""

    def chat_tokens(
        self, messages: Sequence[Message], add_assistant: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Tokens of a chat, and each message's content as a span (start, end) in them."""


def shared_start(model: ChatTokenizer) -> list[int]:
    """The tokens with which every goal's ``goal_first`` reading begins."""
    unspecified, other = (
        model.chat_tokens(reading(Layout.GOAL_FIRST, goal, []), add_assistant=False)[0]
        for goal in (unspecified_goal(), Goal("other", "other"))
    )
    return unspecified[: common_start(unspecified, other)]


def goal_first_tokens(
    model: ChatTokenizer, goal: Goal, dialog: Dialog
) -> tuple[list[int], list[tuple[int, int]]]:
    """A goal's ``goal_first`` chat up to the end of the last utterance, and the utterances' spans
    in it."""
    chat = reading(Layout.GOAL_FIRST, goal, dialog)
    tokens, spans = model.chat_tokens(chat, add_assistant=False)
    utterances = [spans[utterance_message(i)] for i in range(len(dialog))]
    return tokens[: utterances[-1][1]], utterances


def last_utterance(
    model: ChatTokenizer, layout: Layout, goal: Goal, dialog: Dialog
) -> tuple[list[int], int]:
    """The chat's tokens up to the end of the last utterance, and where that begins."""
    tokens, spans = model.chat_tokens(reading(layout, goal, dialog), add_assistant=False)
    start, end = spans[-1]
    return tokens[:end], start


def common_start(first: Sequence[int], second: Sequence[int]) -> int:
    """Length of the common start of two token lists."""
    count = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        count += 1
    return count
