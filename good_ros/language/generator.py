"""Text generation, the interface: what a prompt goes into and a reply comes out of.

Scoring given text is another interface (``inference.scorer``): a chat end point can
generate but cannot score.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Message:
    """One chat message; ``role`` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True)
class Sampling:
    """How to draw a reply. ``temperature`` 0 is greedy; ``seed`` makes it repeatable."""

    max_tokens: int = 256
    temperature: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    text: str
    tokens_in: int
    tokens_out: int
    seconds: float
    finished: bool = True
    """False where ``max_tokens`` cut the reply short."""


class Generator(Protocol):
    """A model that writes text."""

    model_name: str

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """Continue the chat by one assistant message.

        With ``json_schema`` the reply is a JSON document of that schema, enforced
        while sampling where the back end can, else checked by the caller.
        Raises ModelTimeout past ``deadline_s`` seconds, ModelCancelled soon after
        ``cancel`` is set, ModelError where the back end fails.
        """

    def close(self) -> None:
        """Free what is held; a shared model goes with its last user."""


@dataclass(frozen=True)
class ToolCall:
    """A function that a model asks to have called, by name, with its arguments by name."""

    name: str
    arguments: Mapping[str, Any]


class ToolCaller(Protocol):
    """A generator that can call functions (OpenAI's tools)."""

    def call_tools(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]],
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Sequence[ToolCall] | None:
        """The calls of one assistant message, in order; None where the server has no tools, and
        () where it called none. Raises as ``Generator.generate`` does."""


def can_call_tools(generator: Generator) -> bool:
    """Whether a generator may be a ToolCaller: its server may still refuse."""
    return callable(getattr(generator, "call_tools", None))
