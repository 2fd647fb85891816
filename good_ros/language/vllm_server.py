"""A vLLM server: its tokenizer, its chat template, and log-probabilities of given tokens.

vLLM's own end points beside the OpenAI ones are used: ``/tokenize``, ``/detokenize``, and
``prompt_logprobs`` of ``/v1/completions``, which take a list of prompts in one request.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from good_ros.core.errors import CannotScore, ModelError
from good_ros.language.chat import chat_tokens
from good_ros.language.generator import Message
from good_ros.language.openai_server import UNREADABLE, OpenAIServer

MAX_PROMPTS = 256
"""Prompts of one request at most."""
MAX_REMEMBERED = 20_000
"""Texts whose tokens are remembered."""
MARKER_PARTS = re.compile(r"(?<=[<\[])")
"""Where a text from people is cut for tokenizing: no marker such as ``<|im_end|>`` or ``[INST]``
is whole then, and the server cannot read one."""


class VllmServer:
    """Raises ModelError where the server is not there, CannotScore where it is no vLLM."""

    def __init__(self, base_url: str, served_model: str = "", deadline_s: float = 300.0) -> None:
        self.server = OpenAIServer(base_url, served_model)
        self.model_name = self.server.model_name
        self.deadline_s = deadline_s
        self.root = re.sub(r"/v1/?$", "", base_url.rstrip("/"))
        self._tokens: dict[tuple[str, bool], list[int]] = {}
        self._templates: dict[tuple[tuple[str, ...], bool], str] = {}
        try:
            self.beginning = self._beginning()
        except ModelError as error:
            self.server.close()
            cause = error.__cause__
            if self.server.refuses_key(cause):
                raise
            reason = self.server.reason(cause) if isinstance(cause, Exception) else str(error)
            raise CannotScore(
                f"{base_url} can generate but not score given text, since it has no vLLM end "
                f"points ({reason}): set goal_belief's `model` to default, small or a .gguf file, "
                "or to a vLLM server"
            ) from error

    def close(self) -> None:
        self.server.close()

    def _beginning(self) -> list[int]:
        """The tokens that the server puts before every text."""
        bare = self._post("/tokenize", {"prompt": "a", "add_special_tokens": False})
        whole = self._post("/tokenize", {"prompt": "a", "add_special_tokens": True})
        with_start: list[int] = _field(whole, "tokens", list)
        without: list[int] = _field(bare, "tokens", list)
        # Some put an end behind the text as well.
        for cut in range(len(with_start)):
            if with_start[cut : cut + len(without)] == without:
                return with_start[:cut]
        return []

    def tokenize(self, text: str, special: bool = False) -> list[int]:
        """Tokens of ``text``; markers such as an end of turn are read as such only where
        ``special``."""
        key = (text, special)
        if key not in self._tokens:
            parts = [text] if special else MARKER_PARTS.split(text)
            tokens: list[int] = []
            for part in filter(None, parts):
                answer = self._post("/tokenize", {"prompt": part, "add_special_tokens": False})
                tokens += _field(answer, "tokens", list)
            if len(self._tokens) >= MAX_REMEMBERED:
                self._tokens.clear()
            self._tokens[key] = tokens
        return list(self._tokens[key])

    def chat_tokens(
        self, messages: Sequence[Message], add_assistant: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """As ``chat.chat_tokens``, with the template that the server has."""
        return chat_tokens(
            messages,
            add_assistant,
            self._apply_template,
            self.tokenize,
            self.beginning,
            self.model_name,
        )

    def _apply_template(self, messages: Sequence[Message], add_assistant: bool) -> str:
        # Only the server has the template: what it makes of the messages is tokens, and these are
        # turned back into text. ``chat_tokens`` calls with marks that depend on the count alone.
        key = (tuple(m.role for m in messages), add_assistant)
        if key not in self._templates:
            answer = self._post(
                "/tokenize",
                {
                    "messages": [{"role": m.role, "content": m.content} for m in messages],
                    "add_generation_prompt": add_assistant,
                    "add_special_tokens": False,
                },
            )
            text = self._post("/detokenize", {"tokens": _field(answer, "tokens", list)})
            self._templates[key] = str(_field(text, "prompt", str))
        return self._templates[key]

    def log_probabilities(
        self,
        prompts: Sequence[Sequence[int]],
        starts: Sequence[int],
        cancel: threading.Event | None = None,
    ) -> list[list[float]]:
        """For each prompt the log-probabilities (nats) of its tokens from its start on.

        One request for up to MAX_PROMPTS prompts. Raises ModelError where the server fails, and
        CannotScore where it leaves the log-probabilities out.
        """
        results: list[list[float]] = []
        for begin in range(0, len(prompts), MAX_PROMPTS):
            part = [list(p) for p in prompts[begin : begin + MAX_PROMPTS]]
            body = {
                "model": self.model_name,
                "prompt": part,
                "max_tokens": 1,
                "temperature": 0.0,
                "prompt_logprobs": 0,
            }
            answer = self._post("/v1/completions", body, cancel)
            choices = sorted(_field(answer, "choices", list), key=lambda c: c.get("index", 0))
            if len(choices) != len(part):
                raise self._not_readable(f"{len(choices)} answers to {len(part)} prompts")
            for choice, tokens, start in zip(choices, part, starts[begin:], strict=False):
                results.append(self._values(choice, tokens, start))
        return results

    def _values(self, choice: Mapping[str, Any], tokens: list[int], start: int) -> list[float]:
        listed = choice.get("prompt_logprobs")
        if not isinstance(listed, list) or len(listed) != len(tokens):
            raise CannotScore(
                f"{self.server.base_url} leaves prompt_logprobs out: it can generate but not "
                "score given text"
            )
        try:
            return [float(listed[p][str(tokens[p])]["logprob"]) for p in range(start, len(tokens))]
        except UNREADABLE as error:
            raise self._not_readable("a token without its log-probability") from error

    def _post(
        self, path: str, body: Mapping[str, Any], cancel: threading.Event | None = None
    ) -> dict[str, Any]:
        request = {"model": self.model_name, **body}
        call: Callable[[Any], Any] = lambda client: client.post(  # noqa: E731
            self.root + path, body=request, cast_to=object
        )
        try:
            answer = self.server.ask(call, self.deadline_s, cancel)
        except UNREADABLE as error:
            raise self._not_readable(self.server.reason(error)) from error
        if not isinstance(answer, dict):
            raise self._not_readable(f"{path} gave no JSON object")
        return answer

    def _not_readable(self, reason: str) -> ModelError:
        return ModelError(
            f"{self.server.base_url} answered, but not as vLLM does ({reason}): check that the "
            "URL is that of a vLLM server"
        )


def _field(answer: Mapping[str, Any], name: str, kind: type) -> Any:
    value = answer.get(name)
    if not isinstance(value, kind):
        raise ModelError(f"the server's answer has no {name}")
    return value
