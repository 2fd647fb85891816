"""Text generation on an OpenAI-compatible server, by its base URL."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from good_ros.core.errors import ModelCancelled, ModelError, ModelTimeout
from good_ros.language.generator import Message, Reply, Sampling

CONNECT_S = 10.0
DEFAULT_DEADLINE_S = 300.0
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 20.0
POLL_S = 0.05
KEY_VARIABLE = "OPENAI_API_KEY"


class OpenAIGenerator:
    """Asks a server's chat end point; the key comes from OPENAI_API_KEY alone.

    A busy or failing server (429, 5xx, a dropped connection) is asked again with growing
    pauses until the deadline. Raises ModelError at construction where ``openai`` is missing
    or the server does not answer; an empty ``served_model`` takes the first one served.
    """

    def __init__(self, base_url: str, served_model: str = "") -> None:
        try:
            import openai
        except ImportError as error:
            raise ModelError(
                f"the openai package is not installed ({error}): pip install 'good_ros[openai]'"
            ) from error
        self._openai = openai
        self.base_url = base_url
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=os.environ.get(KEY_VARIABLE) or "no-key-is-needed",
            max_retries=0,
            timeout=CONNECT_S,
        )
        self.model_name = served_model or self._first_model()

    def close(self) -> None:
        self._client.close()

    def _first_model(self) -> str:
        try:
            models = self._client.models.list().data
        except self._openai.OpenAIError as error:
            raise ModelError(self._line(error)) from error
        if not models:
            raise ModelError(f"{self.base_url} serves no model: start one there")
        return str(models[0].id)

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
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
        if json_schema is not None:
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": dict(json_schema), "strict": True},
            }
        wait = FIRST_WAIT_S
        while True:
            left = max(end - time.monotonic(), POLL_S)
            ask = self._client.with_options(timeout=left).chat.completions.create
            try:
                answer = self._wait_for(lambda ask=ask: ask(**request), end, cancel)  # type: ignore[misc]
                break
            except self._openai.OpenAIError as error:
                if not self._may_pass(error):
                    raise ModelError(self._line(error)) from error
                # Random pauses keep many robots from asking again all at once.
                pause = wait * random.uniform(0.5, 1.0)
                if time.monotonic() + pause >= end:
                    raise self._timeout(self._line(error)) from error
                if (cancel or threading.Event()).wait(pause):
                    raise ModelCancelled("the model call was cancelled") from error
                wait = min(2 * wait, LONGEST_WAIT_S)
        if not getattr(answer, "choices", None):
            raise ModelError(f"{self.base_url} answered without a choice")
        choice, usage = answer.choices[0], answer.usage
        return Reply(
            choice.message.content or "",
            usage.prompt_tokens if usage else 0,
            usage.completion_tokens if usage else 0,
            time.monotonic() - began,
            choice.finish_reason != "length",
        )

    def _wait_for(self, call: Callable[[], Any], end: float, cancel: threading.Event | None) -> Any:
        """Make the call in a thread, so that a server that trickles or hangs holds nobody."""
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

    def _may_pass(self, error: Exception) -> bool:
        if isinstance(error, self._openai.APIStatusError):
            return error.status_code == 429 or error.status_code >= 500
        return isinstance(error, self._openai.APIConnectionError)

    def _timeout(self, reason: str) -> ModelTimeout:
        return ModelTimeout(f"{self.base_url} did not answer in time ({reason}): is it up?")

    def _line(self, error: Exception) -> str:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        return f"{self.base_url}: {first[:200]}"
