"""Text generation on an OpenAI-compatible server, by its base URL."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from good_ros.core.errors import ModelCancelled, ModelError, ModelTimeout
from good_ros.language.generator import Message, Reply, Sampling

CONNECT_S = 9.0
DEFAULT_DEADLINE_S = 300.0
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 20.0
POLL_S = 0.05
KEY_VARIABLE = "OPENAI_API_KEY"
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)
"""What the openai package raises, untyped, for a body that is not what the API promises."""

WRAP = "reply"


class OpenAIGenerator:
    """Asks a server's chat end point; the key comes from OPENAI_API_KEY alone.

    A busy or failing server (429, 5xx, a dropped connection) is asked again with growing
    pauses until the deadline. Raises ModelError at construction where ``openai`` is missing
    or the server does not answer within CONNECT_S seconds; an empty ``served_model`` takes the
    first one served. A schema of another type than object is asked for as the one member of
    an object, which is taken off again: OpenAI's own server answers 400 to any other. A server
    that refuses every schema is asked without one from then on.
    """

    def __init__(self, base_url: str, served_model: str = "") -> None:
        try:
            import openai
        except ImportError as error:
            raise ModelError(
                f"the openai package is not installed ({error}): pip install 'good_ros[openai]'"
            ) from error
        self._openai = openai
        self._constrains = True
        self.on_trouble: Callable[[str], None] = lambda reason: None
        """Told why a call is being made again, from the thread that makes it; and '' once one
        has been answered after that."""
        self.base_url = base_url
        self._client = openai.OpenAI(
            base_url=base_url,
            # A key read from a file often ends in a newline, which no header may hold.
            api_key=os.environ.get(KEY_VARIABLE, "").strip() or "no-key-is-needed",
            max_retries=0,
            timeout=CONNECT_S,
        )
        try:
            self.model_name = self._find_model(served_model)
        except ModelError:
            self.close()
            raise

    def close(self) -> None:
        self._client.close()

    def _find_model(self, served_model: str) -> str:
        """The model to ask for; a named one need not be listed, but the server must be there."""
        end = time.monotonic() + CONNECT_S
        try:
            # In a thread: the client's own timeout is for each read, not for the whole answer.
            models = self._wait_for(lambda: self._client.models.list().data, end, None)
            first = models[0].id if models else ""
        except self._openai.APIConnectionError as error:
            raise ModelError(
                f"{self.base_url} cannot be reached ({self._reason(error)}): "
                "start the server or correct the URL"
            ) from error
        except (self._openai.OpenAIError, *UNREADABLE) as error:
            if served_model:
                return served_model
            raise ModelError(
                f"{self.base_url} does not list its models ({self._reason(error)}): "
                "correct the URL, or name the model with served_model"
            ) from error
        if served_model:
            return served_model
        if not first:
            raise ModelError(f"{self.base_url} serves no model: start one there")
        return str(first)

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """As the interface says; a ``deadline_s`` of None is DEFAULT_DEADLINE_S seconds.

        A cancelled or late call is left to itself. Raises ModelTimeout, ModelCancelled, or
        ModelError where the server refuses the request or answers something else.
        """
        began = time.monotonic()
        end = began + (DEFAULT_DEADLINE_S if deadline_s is None else deadline_s)
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
        wait = FIRST_WAIT_S
        in_trouble = False
        while True:
            left = max(end - time.monotonic(), POLL_S)
            ask = self._client.with_options(timeout=left).chat.completions.create
            try:
                answer = self._wait_for(lambda ask=ask: ask(**request), end, cancel)  # type: ignore[misc]
                break
            except self._openai.OpenAIError as error:
                if "response_format" in request and self._cannot_constrain(error):
                    # The caller checks the reply anyway, and asks for it again where it must.
                    self._constrains = wrapped = False
                    del request["response_format"]
                    continue
                if not self._may_pass(error):
                    raise ModelError(f"{self.base_url}: {self._reason(error)}") from error
                in_trouble = True
                self.on_trouble(f"{self.base_url}: {self._reason(error)}")
                # Random pauses keep many robots from asking again all at once.
                pause = wait * random.uniform(0.5, 1.0)
                if time.monotonic() + pause >= end:
                    raise self._timeout(self._reason(error)) from error
                if (cancel or threading.Event()).wait(pause):
                    raise ModelCancelled("the model call was cancelled") from error
                wait = min(2 * wait, LONGEST_WAIT_S)
            except UNREADABLE as error:
                raise self._not_a_chat(self._reason(error)) from error
        if in_trouble:
            self.on_trouble("")
        reply = self._reply(answer, time.monotonic() - began)
        return replace(reply, text=_out_of_object(reply.text)) if wrapped else reply

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

    def _wait_for(self, call: Callable[[], Any], end: float, cancel: threading.Event | None) -> Any:
        """Make the call in a thread, so that a server that trickles or hangs holds nobody."""
        if cancel is not None and cancel.is_set():
            raise ModelCancelled("the model call was cancelled")
        box: list[Any] = []
        done = threading.Event()

        def work() -> None:
            try:
                box.append((call(), None))
            except Exception as error:
                box.append((None, error))
            done.set()

        threading.Thread(target=work, daemon=True).start()
        while not done.wait(POLL_S):
            if cancel is not None and cancel.is_set():
                raise ModelCancelled("the model call was cancelled")
            if time.monotonic() > end:
                raise self._timeout("no answer")
        answer, error = box[0]
        if error is not None:
            raise error
        return answer

    def _cannot_constrain(self, error: Exception) -> bool:
        """Whether a server refuses the request for the schema that goes with it."""
        return (
            isinstance(error, self._openai.APIStatusError)
            and error.status_code in (400, 422)
            and any(word in str(error) for word in ("response_format", "json_schema", "schema"))
        )

    def _may_pass(self, error: Exception) -> bool:
        if isinstance(error, self._openai.APIStatusError):
            return error.status_code == 429 or error.status_code >= 500
        return isinstance(error, self._openai.APIConnectionError)

    def _timeout(self, reason: str) -> ModelTimeout:
        return ModelTimeout(f"{self.base_url} did not answer in time ({reason}): is it up?")

    def _not_a_chat(self, reason: str) -> ModelError:
        return ModelError(
            f"{self.base_url} answered, but not with a chat completion ({reason}): "
            "check that the URL is that of an OpenAI-compatible server"
        )

    def _reason(self, error: Exception) -> str:
        # Servers that refuse a key like to quote it.
        text = str(error).replace(self._client.api_key, "…")
        return " ".join(text.split())[:200] or type(error).__name__


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
