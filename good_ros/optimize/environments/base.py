"""What every environment offers: a state as text, acting on a reply, feedback, progress.

An environment is made from a layout, a JSON object that says where everything is at the start.
Layouts are drawn by a size and a seed, the same ones on every machine (PROMST, 4.1).
"""

from __future__ import annotations

import hashlib
import json
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from good_ros.core.errors import GoodError, InputError

Layout = dict[str, Any]
MAX_DRAWS = 1000


class Kind(str, Enum):
    """The types of feedback (PROMST, Figure 2 and Table 6)."""

    SYNTAX = "syntactic error"
    STUCK = "stuck in the loop"
    LIMIT = "failure over query time limit"
    COLLISION = "collision"
    OFF_GRID = "move out of the grid"
    WRONG_ORDER = "wrong picking up order"
    INVALID = "invalid action"
    WRONG_OBJECT = "wrong object action"
    CORRECTION = "correction by a person"
    """Not in the paper: what people said against the robot in recorded sessions."""


@dataclass(frozen=True)
class Feedback:
    """What a rule says of an error, in words for the model that writes prompts."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Outcome:
    """What became of a reply: ``text`` for the model that acts, ``feedback`` where a rule saw an
    error, ``ends`` where the trial is over with it."""

    text: str
    feedback: Feedback | None = None
    ends: bool = False


class WrongReply(GoodError):
    """A reply that a rule finds fault with; raised within an environment alone."""

    def __init__(self, kind: Kind, detail: str, ends: bool = True) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.ends = ends


class Environment(ABC):
    """One instance of a task. ``act`` is called until it ends or ``done`` is true."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]]
    """The types of feedback that can come up here (Table 6)."""
    start_prompt: ClassVar[str]
    """What a person would write, where the search begins."""
    sizes: ClassVar[tuple[Mapping[str, Any], ...]] = ({},)
    max_steps: int
    stuck_after: int
    """Steps that bring no state that was not there before, after which the trial is given up."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.steps = 0
        self._since_new = 0
        self._seen: set[str] = set()
        self._rounds: list[str] = []

    @classmethod
    @abstractmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        """A layout of a size, which need not be solvable."""

    @abstractmethod
    def state_text(self) -> str:
        """The state as the model that acts reads it; the same bytes for the same state."""

    @abstractmethod
    def do(self, reply: str) -> str:
        """Act on a reply and say what happened. Raises WrongReply, after which the state is as
        before unless the error changed it."""

    @abstractmethod
    def progress(self) -> float:
        """S: the share of sub-goals that are reached, from 0 to 1 (Equation 4)."""

    @abstractmethod
    def solution(self) -> list[str]:
        """Replies that reach S = 1 from here, by a solver that knows all of the state."""

    def done(self) -> bool:
        """Whether every sub-goal is reached."""
        return self.progress() >= 1.0

    def state_key(self) -> str:
        """What has to change for something to be new; the state's text unless said otherwise."""
        return self.state_text()

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Free what is held."""

    def act(self, reply: str) -> Outcome:
        """Act on one reply, and hold the rules of feedback against it (3.2)."""
        before = self.state_text()
        self._seen.add(self.state_key())
        try:
            text = self.do(reply)
            wrong = None
        except WrongReply as error:
            text, wrong = error.detail, error
        self.steps += 1
        after = self.state_key()
        self._since_new = self._since_new + 1 if after in self._seen else 0
        self._seen.add(after)
        self._rounds.append(
            f"State: {before}\nAction: {reply.strip()[:500]}\nFeedback of the environment: {text}"
        )
        if wrong is not None and wrong.ends:
            return Outcome(text, self._feedback(wrong.kind, reply, text), ends=True)
        if self.done():
            return Outcome(text, ends=True)
        if self._since_new >= self.stuck_after:
            return Outcome(text, self._feedback(Kind.STUCK, reply, text), ends=True)
        if self.steps >= self.max_steps:
            return Outcome(text, self._feedback(Kind.LIMIT, reply, text), ends=True)
        if wrong is not None:
            return Outcome(text, self._feedback(wrong.kind, reply, text))
        return Outcome(text)

    def _feedback(self, kind: Kind, reply: str, detail: str) -> Feedback:
        return feedback(kind, reply, detail, self._rounds)


def feedback(kind: Kind, reply: str, detail: str, rounds: list[str]) -> Feedback:
    """The rule's words on an error, with the reply in them, which helps (Figure 2, Table 5)."""
    said = " ".join(reply.split())[:400] or "(nothing)"
    answer = f"The reply was: {said}. "
    if kind is Kind.SYNTAX:
        text = f"{answer}It is not in the form that is asked for: {detail}"
    elif kind is Kind.STUCK:
        last = "\n".join(f"Round {n}:\n{r}" for n, r in enumerate(rounds[-2:], start=1))
        text = (
            f"{last}\nThe task is stuck: the last rounds repeat themselves and nothing new is "
            "reached. Another action has to be tried."
        )
    elif kind is Kind.LIMIT:
        text = f"The task was not completed within the steps that are allowed ({len(rounds)})."
    elif kind is Kind.COLLISION:
        text = f"{answer}The action leads to a collision: {detail}"
    elif kind is Kind.OFF_GRID:
        text = f"{answer}The action leads out of the grid: {detail}"
    elif kind is Kind.WRONG_ORDER:
        text = (
            f"{answer}A goal was picked in the wrong order: {detail} Goal_0 comes first, then "
            "goal_1, goal_2 and so on."
        )
    elif kind is Kind.WRONG_OBJECT:
        text = f"{answer}It names something that does not exist here: {detail}"
    else:
        text = f"{answer}The action is not possible: {detail}"
    return Feedback(kind, text)


def generate(kind: type[Environment], size: Mapping[str, Any], seed: int) -> Layout:
    """A layout that the environment's own solver brings to S = 1; the same for the same seed.

    Raises InputError where none is found in MAX_DRAWS draws.
    """
    rng = random.Random(f"{kind.name} {json.dumps(dict(size), sort_keys=True)} {seed}")
    for _ in range(MAX_DRAWS):
        layout = kind.draw(size, rng)
        if is_solved(kind, layout):
            return layout
    raise InputError(f"{kind.name}: no solvable layout of size {dict(size)} was drawn")


def is_solved(kind: type[Environment], layout: Layout) -> bool:
    """Whether the solver's replies bring a layout to S = 1 by the rules, from below 1."""
    environment = kind(json.loads(json.dumps(layout)))
    try:
        if environment.done():
            return False
        for reply in environment.solution():
            outcome = environment.act(reply)
            if outcome.feedback is not None:
                return False
            if outcome.ends:
                break
        return environment.done()
    finally:
        environment.close()


def digest(layout: Layout) -> str:
    """A name for a layout's content."""
    return hashlib.sha256(json.dumps(layout, sort_keys=True).encode()).hexdigest()[:16]
