"""A stand-in for a language model, for tests alone: it says what its script says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from good_ros.language.generator import Message, Reply, Sampling

Line = str | Reply | Exception | Callable[[Sequence[Message], Mapping[str, Any] | None], str]


class ScriptedGenerator:
    """Gives the lines of a script, in order: a text, a whole reply, an exception to raise, or a
    function of the messages and the schema. Raises AssertionError once the script has run out.

    ``calls`` keeps the messages of every call.
    """

    model_name = "scripted"

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = iter(lines)
        self.calls: list[Sequence[Message]] = []

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        self.calls.append(tuple(messages))
        try:
            line = next(self._lines)
        except StopIteration:
            raise AssertionError(
                f"the script of the model ran out at call {len(self.calls)}: "
                f"{messages[-1].content[:200]!r}"
            ) from None
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        text = line if isinstance(line, str) else line(messages, json_schema)
        return Reply(text, sum(len(m.content.split()) for m in messages), len(text.split()), 0.0)

    def close(self) -> None:
        """Nothing is held."""
