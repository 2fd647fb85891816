"""A server on loopback that answers as vLLM does, in front of a stated cost instead of a model.

``python -m good_ros.experiments.loopback_server`` prints its URL and serves until its standard
input ends. Requests that wait are read together, up to ``batch_tokens`` tokens a step, as a server
with continuous batching does; a step takes ``step_s`` and ``token_s`` for each token. Prompts are
read in full, as vLLM reads them where log-probabilities of the prompt are asked for. The
log-probabilities are made up from the tokens, so that equal texts get equal ones.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECES = re.compile(r"\w{1,5}|\W", re.DOTALL)
"""A token is at most five letters, which is near what language models make of English."""
LATEST_S = 600.0


@dataclass(frozen=True)
class Cost:
    """``step_s``, ``token_s``: seconds; ``batch_tokens``: most tokens of one step."""

    step_s: float = 0.005
    token_s: float = 20e-6
    batch_tokens: int = 8192


@dataclass
class Work:
    """The tokens of one request, and whether they have been read."""

    tokens: int
    done: threading.Event = field(default_factory=threading.Event)


class Device:
    """Reads tokens one step at a time, in the order in which requests came."""

    def __init__(self, cost: Cost, sleep: Callable[[float], None] = time.sleep) -> None:
        self.cost = cost
        self.steps = 0
        self.read = 0
        self._sleep = sleep
        self._waiting: deque[Work] = deque()
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="device", daemon=True).start()

    def read_tokens(self, tokens: int) -> None:
        """Waits until so many tokens have been read."""
        work = Work(tokens)
        with self._changed:
            self._waiting.append(work)
            self._changed.notify()
        work.done.wait(LATEST_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                left, finished = self.cost.batch_tokens, []
                while self._waiting and left:
                    work = self._waiting[0]
                    part = min(work.tokens, left)
                    work.tokens -= part
                    left -= part
                    if not work.tokens:
                        finished.append(self._waiting.popleft())
            count = self.cost.batch_tokens - left
            self._sleep(self.cost.step_s + count * self.cost.token_s)
            self.steps += 1
            self.read += count
            for work in finished:
                work.done.set()


class LoopbackServer(ThreadingHTTPServer):
    """Listens to this machine alone, on any free port."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, cost: Cost) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.device = Device(cost)
        self._ids: dict[str, int] = {}
        self._texts: list[str] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def tokenize(self, text: str) -> list[int]:
        with self._lock:
            tokens = []
            for piece in PIECES.findall(text):
                if piece not in self._ids:
                    self._ids[piece] = len(self._texts)
                    self._texts.append(piece)
                tokens.append(self._ids[piece])
        return tokens

    def detokenize(self, tokens: list[int]) -> str:
        return "".join(self._texts[token] for token in tokens)


class Handler(BaseHTTPRequestHandler):
    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [{"id": "loopback", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize" and "messages" in body:
            chat = "".join(f"<{m['role']}>{m['content']}\n" for m in body["messages"])
            self._answer({"tokens": self.server.tokenize(chat)})
        elif self.path == "/tokenize":
            self._answer({"tokens": self.server.tokenize(body["prompt"])})
        elif self.path == "/detokenize":
            self._answer({"prompt": self.server.detokenize(body["tokens"])})
        elif self.path == "/v1/completions":
            self.server.device.read_tokens(sum(len(prompt) for prompt in body["prompt"]))
            self._answer({"choices": [choice(*pair) for pair in enumerate(body["prompt"])]})
        else:
            self.send_error(404)

    def _answer(self, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def choice(index: int, tokens: list[int]) -> dict[str, Any]:
    """vLLM's answer to one prompt: no log-probability for the first token."""
    listed: list[dict[str, Any] | None] = [None]
    for before, token in itertools.pairwise(tokens):
        listed.append({str(token): {"logprob": -((before * 31 + token * 17) % 97) / 10 - 0.1}})
    return {"index": index, "text": "", "prompt_logprobs": listed}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step-ms", type=float, required=True)
    parser.add_argument("--token-us", type=float, required=True)
    parser.add_argument("--batch-tokens", type=int, required=True)
    options = parser.parse_args()
    server = LoopbackServer(
        Cost(options.step_ms / 1e3, options.token_us / 1e6, options.batch_tokens)
    )
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    print(server.url, flush=True)
    sys.stdin.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
