"""One OpenAI-compatible server: calls with a deadline, asked again where that may help."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any

from good_ros.core.errors import ModelCancelled, ModelError, ModelTimeout

CONNECT_S = 9.0
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 20.0
POLL_S = 0.05
KEY_VARIABLE = "OPENAI_API_KEY"
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError)
"""What the openai package raises, untyped, for a body that is not what the API promises."""


class OpenAIServer:
    """A server by its base URL, such as ``http://localhost:8000/v1``.

    The key comes from OPENAI_API_KEY alone. Raises ModelError at construction where ``openai``
    is missing or the server does not answer within CONNECT_S seconds; an empty ``served_model``
    takes the first one served.
    """

    def __init__(self, base_url: str, served_model: str = "") -> None:
        try:
            import openai
        except ImportError as error:
            raise ModelError(
                f"the openai package is not installed ({error}): pip install 'good_ros[openai]'"
            ) from error
        self.openai = openai
        self.base_url = base_url
        self.on_trouble: Callable[[str], None] = lambda reason: None
        """Told why a call is being made again, from the thread that makes it; and '' once one
        has been answered after that."""
        self.client = openai.OpenAI(
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
        self.client.close()

    def ask(
        self,
        call: Callable[[Any], Any],
        deadline_s: float,
        cancel: threading.Event | None = None,
    ) -> Any:
        """What ``call`` makes of a client of the openai package.

        A busy or failing server (429, 5xx, a dropped connection) is asked again with growing
        pauses until the deadline. A cancelled or late call is left to itself. Raises
        ModelTimeout, ModelCancelled, or ModelError where the server refuses the request; what
        the package raises for an unreadable body, one of UNREADABLE, goes through.
        """
        end = time.monotonic() + deadline_s
        wait = FIRST_WAIT_S
        in_trouble = False
        while True:
            left = max(end - time.monotonic(), POLL_S)
            client = self.client.with_options(timeout=left)
            try:
                answer = self._wait_for(lambda client=client: call(client), end, cancel)  # type: ignore[misc]
                break
            except self.openai.OpenAIError as error:
                if not self._may_pass(error):
                    raise ModelError(
                        f"{self.base_url}: {self.reason(error)}{self._advice(error)}"
                    ) from error
                in_trouble = True
                self.on_trouble(f"{self.base_url}: {self.reason(error)}")
                # Random pauses keep many robots from asking again all at once.
                pause = wait * random.uniform(0.5, 1.0)
                if time.monotonic() + pause >= end:
                    raise self._timeout(self.reason(error)) from error
                if (cancel or threading.Event()).wait(pause):
                    raise ModelCancelled("the model call was cancelled") from error
                wait = min(2 * wait, LONGEST_WAIT_S)
        if in_trouble:
            self.on_trouble("")
        return answer

    def _find_model(self, served_model: str) -> str:
        """The model to ask for; a named one need not be listed, but the server must be there."""
        end = time.monotonic() + CONNECT_S
        try:
            # In a thread: the client's own timeout is for each read, not for the whole answer.
            models = self._wait_for(lambda: self.client.models.list().data, end, None)
            first = models[0].id if models else ""
        except self.openai.APIConnectionError as error:
            raise ModelError(
                f"{self.base_url} cannot be reached ({self.reason(error)}): "
                "start the server or correct the URL"
            ) from error
        except (self.openai.OpenAIError, *UNREADABLE) as error:
            if self.refuses_key(error):
                raise ModelError(
                    f"{self.base_url}: {self.reason(error)}{self._advice(error)}"
                ) from error
            if served_model:
                return served_model
            raise ModelError(
                f"{self.base_url} does not list its models ({self.reason(error)}): correct the "
                "URL, which ends in /v1 on most servers, or name the model with served_model"
            ) from error
        if served_model:
            return served_model
        if not first:
            raise ModelError(f"{self.base_url} serves no model: start one there")
        return str(first)

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

    def _may_pass(self, error: Exception) -> bool:
        if isinstance(error, self.openai.APIStatusError):
            return error.status_code == 429 or error.status_code >= 500
        return isinstance(error, self.openai.APIConnectionError)

    def _timeout(self, reason: str) -> ModelTimeout:
        return ModelTimeout(f"{self.base_url} did not answer in time ({reason}): is it up?")

    def refuses_key(self, error: BaseException | None) -> bool:
        """Whether a request was refused for the key, or for want of one."""
        return isinstance(error, self.openai.APIStatusError) and error.status_code in (401, 403)

    def _advice(self, error: Exception) -> str:
        """What to do about a refusal, to be put behind it; empty where that is not known."""
        if self.refuses_key(error):
            given = os.environ.get(KEY_VARIABLE, "").strip()
            what = f"correct the key in {KEY_VARIABLE}" if given else f"set {KEY_VARIABLE}"
            return f": {what} where the node is started"
        if isinstance(error, self.openai.NotFoundError):
            return (
                f": correct served_model, which is {self.model_name!r}, or the URL, which ends in "
                "/v1 on most servers"
            )
        return ""

    def refuses_schemas(self, error: BaseException | None) -> bool:
        """Whether a request was refused for the JSON schema that went with it."""
        return (
            isinstance(error, self.openai.APIStatusError)
            and error.status_code in (400, 422)
            and any(word in str(error) for word in ("response_format", "json_schema", "schema"))
        )

    def refuses_tools(self, error: BaseException | None) -> bool:
        """Whether a request was refused for the functions that went with it."""
        return (
            isinstance(error, self.openai.APIStatusError)
            and error.status_code in (400, 404, 422)
            and any(word in str(error) for word in ("tool", "function"))
        )

    def reason(self, error: Exception) -> str:
        """The error in one line, without the key."""
        # Servers that refuse a key like to quote it.
        text = str(error).replace(self.client.api_key, "…")
        return " ".join(text.split())[:200] or type(error).__name__
