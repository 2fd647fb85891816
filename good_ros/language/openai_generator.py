"""Text generation on an OpenAI-compatible server, by its base URL."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from good_ros.core.errors import ModelError
from good_ros.language.generator import Message, Reply, Sampling, ToolCall
from good_ros.language.openai_server import UNREADABLE, OpenAIServer

DEFAULT_DEADLINE_S = 300.0
WRAP = "reply"


class OpenAIGenerator:
    """Asks a server's chat end point.

    A schema of another type than object is asked for as the one member of an object, which is
    taken off again: OpenAI's own server answers 400 to any other. A server that refuses every
    schema is asked without one from then on. Raises ModelError at construction as
    ``OpenAIServer`` does.
    """

    def __init__(self, base_url: str, served_model: str = "") -> None:
        self.server = OpenAIServer(base_url, served_model)
        self.model_name = self.server.model_name
        self._constrains = True

    @property
    def on_trouble(self) -> Callable[[str], None]:
        """As ``OpenAIServer.on_trouble``."""
        return self.server.on_trouble

    @on_trouble.setter
    def on_trouble(self, tell: Callable[[str], None]) -> None:
        self.server.on_trouble = tell

    def close(self) -> None:
        self.server.close()

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """As the interface says; a ``deadline_s`` of None is DEFAULT_DEADLINE_S seconds.

        Raises ModelTimeout, ModelCancelled, or ModelError where the server refuses the request
        or answers something else.
        """
        began = time.monotonic()
        request: dict[str, Any] = {
            "model": self.model_name,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "seed": sampling.seed,
        }
        if sampling.stop:
            request["stop"] = list(sampling.stop)
        constrained = json_schema is not None and self._constrains
        wrapped = constrained and json_schema is not None and json_schema.get("type") != "object"
        if json_schema is not None and constrained:
            schema = _in_object(json_schema) if wrapped else dict(json_schema)
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": WRAP, "schema": schema, "strict": True},
            }
        end = began + (DEFAULT_DEADLINE_S if deadline_s is None else deadline_s)
        try:
            answer = self._ask(request, end, cancel)
        except ModelError as error:
            if not (constrained and self.server.refuses_schemas(error.__cause__)):
                raise
            # The caller checks the reply anyway, and asks for it again where it must.
            self._constrains = wrapped = False
            del request["response_format"]
            answer = self._ask(request, end, cancel)
        reply = self._reply(answer, time.monotonic() - began)
        return replace(reply, text=_out_of_object(reply.text)) if wrapped else reply

    def call_tools(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        tools: Sequence[Mapping[str, Any]],
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Sequence[ToolCall] | None:
        """The functions that the model wants called; None where the server refuses tools.

        A call whose arguments are no JSON object is given without any. Raises as ``generate``.
        """
        request: dict[str, Any] = {
            "model": self.model_name,
            "messages": [{"role": m.role, "content": m.content} for m in messages],
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "seed": sampling.seed,
            "tools": [dict(tool) for tool in tools],
            "tool_choice": "auto",
        }
        end = time.monotonic() + (DEFAULT_DEADLINE_S if deadline_s is None else deadline_s)
        try:
            answer = self._ask(request, end, cancel)
        except ModelError as error:
            if self.server.refuses_tools(error.__cause__):
                return None
            raise
        try:
            called = answer.choices[0].message.tool_calls or ()
            return [ToolCall(c.function.name, _arguments(c.function.arguments)) for c in called]
        except UNREADABLE as error:
            raise self._not_a_chat("no tool calls that can be read") from error

    def _ask(self, request: Mapping[str, Any], end: float, cancel: threading.Event | None) -> Any:
        try:
            return self.server.ask(
                lambda client: client.chat.completions.create(**request),
                end - time.monotonic(),
                cancel,
            )
        except UNREADABLE as error:
            raise self._not_a_chat(self.server.reason(error)) from error

    def _reply(self, answer: Any, seconds: float) -> Reply:
        # The openai package builds its objects unchecked, so any part may be missing.
        try:
            choice, usage = answer.choices[0], answer.usage
            text = choice.message.content
            counts = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
            finished = choice.finish_reason != "length"
        except UNREADABLE as error:
            raise self._not_a_chat("no choice with a message") from error
        if not isinstance(text, str | None):
            raise self._not_a_chat("its content is not text")
        return Reply(text or "", counts[0] or 0, counts[1] or 0, seconds, finished)

    def _not_a_chat(self, reason: str) -> ModelError:
        return ModelError(
            f"{self.server.base_url} answered, but not with a chat completion ({reason}): "
            "check that the URL is that of an OpenAI-compatible server"
        )


def _in_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {WRAP: dict(schema)},
        "required": [WRAP],
        "additionalProperties": False,
    }


def _out_of_object(text: str) -> str:
    """The member of the wrapping object; the text as it is where a server did not follow."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(document, dict) and document.keys() == {WRAP}:
        return json.dumps(document[WRAP], ensure_ascii=False)
    return text


def _arguments(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
