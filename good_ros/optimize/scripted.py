"""Stand-ins for both models of a run, for ``config/optimize/smoke.yaml`` and tests.

The one that acts plays Gridworld2 and errs in a way of its own for every rule that the prompt does
not state, and for every piece of bad advice that it does. The one that writes prompts adds what
the feedback is about, now and then, and bad advice as often.
"""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from good_ros.core.errors import InputError
from good_ros.language.generator import Generator, Message, Reply, Sampling
from good_ros.optimize.environments.base import Kind
from good_ros.optimize.environments.gridworld import MOVES, Gridworld2

CELL = re.compile(r"\((\d+), (\d+)\)")
RULES: Mapping[Kind, str] = {
    Kind.SYNTAX: "Put the action in braces.",
    Kind.WRONG_ORDER: "Pick goal_0 first, then the others by their numbers.",
    Kind.OFF_GRID: "Stay inside the grid.",
    Kind.COLLISION: "Keep clear of obstacles.",
    Kind.STUCK: "Do not repeat yourself.",
    Kind.LIMIT: "Do not repeat yourself.",
}
"""What the feedback of a type should lead to."""
BAD = (
    "Be creative.",
    "Answer at length.",
    "Explain the map first.",
    "Guess when in doubt.",
    "Hurry.",
    "Think of the weather.",
)
"""Advice that makes the model err before its time."""
FILLER = ("Take care.", "Look at the state.", "This is a grid.", "Good luck.")
ADD, SPOIL, DROP = 0.5, 0.6, 0.1
"""How often a written prompt gets a rule, bad advice, and loses a sentence."""


class ScriptedActor:
    """Plays Gridworld2 by its solver, but for the errors that the prompt leaves it."""

    model_name = "scripted actor"

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        prompt, asked = messages[0].content, messages[-1].content
        text = self._reply(prompt, asked.rpartition("The state now:")[2])
        words = sum(len(m.content.split()) for m in messages)
        return Reply(text, words, len(text.split()), 0.0)

    def close(self) -> None:
        """Nothing is held."""

    @staticmethod
    def _reply(prompt: str, state: str) -> str:
        world = _read_state(state)
        right = world.solution()[0]
        numbers = sorted(world.goals)
        first = numbers[0]
        if RULES[Kind.SYNTAX] not in prompt:
            return right.strip("{}")
        if any(advice in prompt for advice in BAD):
            return "I wonder what to do."
        if RULES[Kind.WRONG_ORDER] not in prompt and first >= 1 and len(numbers) > 1:
            if world.robot == world.goals[numbers[-1]]:
                return "{Pick goal}"
            path = world._path(world.robot, {world.goals[numbers[-1]]}) or ["up"]
            return f"{{Move {path[0]}}}"
        if RULES[Kind.OFF_GRID] not in prompt and first >= 2:
            for way in MOVES:
                row, column = world._neighbour(world.robot, way)
                if not (0 <= row < world.n and 0 <= column < world.n):
                    return f"{{Move {way}}}"
        if RULES[Kind.COLLISION] not in prompt and first >= 3:
            for way in MOVES:
                if world._neighbour(world.robot, way) in world.obstacles:
                    return f"{{Move {way}}}"
        if RULES[Kind.STUCK] not in prompt and len(numbers) == 1 and right != "{Pick goal}":
            return "{Pick goal}"
        return right


class ScriptedWriter:
    """Writes prompts from the feedback it is told, at random by the call's seed."""

    model_name = "scripted writer"

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        asked = messages[-1].content
        text = self._reply(asked, random.Random(f"{sampling.seed} {asked}"))
        return Reply(text, len(asked.split()), len(text.split()), 0.0)

    def close(self) -> None:
        """Nothing is held."""

    @staticmethod
    def _reply(asked: str, rng: random.Random) -> str:
        if "Say briefly and clearly why they happen" in asked:
            kinds = [kind for kind in RULES if f"(type: {kind.value})" in asked]
            return " ".join(RULES[kind] for kind in kinds) or "Nothing can be said."
        parts = asked.split("---\n")
        prompt = parts[1].strip() if len(parts) > 2 else asked.strip()
        lines = prompt.splitlines()
        advised = [
            rule
            for rule in dict.fromkeys(RULES.values())
            if rule in parts[-1].partition("The prompts")[0]
        ]
        advised = [rule for rule in advised if rule not in prompt]
        if advised and rng.random() < ADD:
            lines.append(rng.choice(advised))
        if rng.random() < SPOIL:
            lines.append(rng.choice(BAD))
        if len(lines) > 2 and rng.random() < DROP:
            lines.pop(rng.randrange(1, len(lines)))
        lines.append(rng.choice(FILLER))
        return "\n".join(dict.fromkeys(lines))


def _read_state(text: str) -> Gridworld2:
    """The world that a state's text tells of."""
    n = int(re.search(r"has (\d+) rows", text)[1])  # type: ignore[index]
    robot, _, rest = text.partition("Goals left: ")
    goals, _, obstacles = rest.partition("Obstacles: ")
    cells = [[int(row), int(column)] for row, column in CELL.findall(obstacles)]
    named = re.findall(r"goal_(\d+) at \((\d+), (\d+)\)", goals)
    here = CELL.findall(robot)[-1]
    world = Gridworld2(
        {"n": n, "robot": [int(here[0]), int(here[1])], "goals": [], "obstacles": cells}
    )
    world.goals = {int(number): (int(row), int(column)) for number, row, column in named}
    return world


def make_scripted(name: str) -> Generator:
    """``scripted:actor`` or ``scripted:writer``. Raises InputError for another."""
    if name == "scripted:actor":
        return ScriptedActor()
    if name == "scripted:writer":
        return ScriptedWriter()
    raise InputError(f"there is no model {name!r}; there are scripted:actor and scripted:writer")
