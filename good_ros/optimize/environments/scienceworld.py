"""ScienceWorld through its own package, which needs Java (extra ``scienceworld``).

An instance is a task and one of its variations; S is the engine's score of 100. What the engine
does not understand gets feedback, and changes nothing.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from typing import Any, ClassVar

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply

STEP_LIMIT = 100
NOT_UNDERSTOOD = ("No known action matches", "Ambiguous request", "Unknown action")


class ScienceWorld(Environment):
    """Text rooms with things to experiment with; the actions are the engine's commands."""

    name: ClassVar[str] = "scienceworld"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SYNTAX, Kind.STUCK, Kind.LIMIT, Kind.INVALID)
    sizes = (
        {"task": "find-plant"},
        {"task": "find-living-thing"},
        {"task": "find-animal"},
        {"task": "boil"},
    )
    max_steps = STEP_LIMIT
    stuck_after = 10
    start_prompt = (
        "You act in a house with laboratories. Commands are, among others: look around, inventory, "
        "go to PLACE, open THING, close THING, pick up THING, move THING to THING, pour THING in "
        "THING, activate THING, use THING on THING, wait, examine THING, focus on THING.\n"
        "Reply with the next command alone."
    )

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._engine = _engine()
        try:
            self._engine.load(layout["task"], int(layout["variation"]), "", generateGoldPath=True)
            self._seen_last, info = self._engine.reset()
        except Exception as error:
            raise InputError(f"ScienceWorld cannot load {layout}: {error}") from error
        self._score = max(0, int(info["score"]))
        self._ended = False
        self._task = self._engine.get_task_description()

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        engine = _engine()
        try:
            # The variations are those of the task that was loaded last.
            engine.load(size["task"], 0, "")
            variation = rng.choice(list(engine.get_variations_test()))
        finally:
            engine.close()
        return {"task": size["task"], "variation": int(variation)}

    def state_text(self) -> str:
        return f"{self._task}\n{self._seen_last}"

    def state_key(self) -> str:
        return f"{self._score} {self._seen_last}"

    def do(self, reply: str) -> str:
        lines = [line.strip() for line in reply.strip().splitlines() if line.strip()]
        if len(lines) != 1:
            raise WrongReply(Kind.SYNTAX, "the reply must be one command in one line.")
        observation, _, ended, info = self._engine.step(lines[0])
        self._seen_last = str(observation).strip()
        self._score, self._ended = max(0, int(info["score"])), bool(ended)
        if self._seen_last.startswith(NOT_UNDERSTOOD):
            raise WrongReply(Kind.INVALID, self._seen_last[:300], ends=False)
        return self._seen_last

    def progress(self) -> float:
        return self._score / 100

    def done(self) -> bool:
        return self._ended or self.progress() >= 1.0

    def solution(self) -> list[str]:
        """The engine's own gold path, from the start."""
        return list(self._engine.get_gold_action_sequence())

    def close(self) -> None:
        self._engine.close()


def _engine() -> Any:
    """The engine, in a Java process of its own. Raises InputError where it cannot be had."""
    if shutil.which("java") is None:
        raise InputError("ScienceWorld needs Java: sudo apt-get install -y default-jre-headless")
    try:
        from scienceworld import ScienceWorldEnv
    except ImportError as error:
        raise InputError(
            f"ScienceWorld is not installed ({error}): pip install 'good_ros[scienceworld]'"
        ) from error
    return ScienceWorldEnv("", "", envStepLimit=STEP_LIMIT + 1)
