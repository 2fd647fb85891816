"""What model calls take: tokens, seconds, and money where prices are given."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from good_ros.language.generator import Generator, Message, Reply, Sampling

MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """Of a million tokens, read and written, in any one currency."""

    read: float = 0.0
    written: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int = 0) -> float:
        return (self.read * tokens_in + self.written * tokens_out) / MILLION


@dataclass
class Usage:
    """Calls of one role in one session; ``seconds`` are those that its caller waited."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def add(self, reply: Reply) -> None:
        self.calls += 1
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out
        self.seconds += reply.seconds

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "seconds": round(self.seconds, 3)}


class CountingGenerator:
    """A generator whose calls are counted in ``usage``; it does not own what it wraps."""

    def __init__(self, inner: Generator, usage: Usage | None = None) -> None:
        self.inner = inner
        self.usage = usage or Usage()
        self.model_name = inner.model_name

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        reply = self.inner.generate(messages, sampling, json_schema, deadline_s, cancel)
        self.usage.add(reply)
        return reply

    def close(self) -> None:
        """The inner one is closed by whom it belongs to."""
