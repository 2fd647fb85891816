"""Generation over HTTP, against a real server on loopback."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from good_ros.core.errors import ModelCancelled, ModelError, ModelTimeout
from good_ros.language import openai_generator
from good_ros.language.generator import Message, Sampling
from good_ros.language.openai_generator import OpenAIGenerator

ASK = [Message("system", "Help."), Message("user", "Hello?")]


class Server(ThreadingHTTPServer):
    """Answers chat requests by a script of steps: a text, a status code, 'hang' or 'drop';
    the last step is repeated."""

    daemon_threads = True

    def __init__(self, *script: str | int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.requests: list[dict] = []
        self.headers: list[str] = []
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self.answer(200, {"object": "list", "data": [{"id": "served", "object": "model"}]})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        self.server.headers.append(self.headers["Authorization"])
        script = self.server.script
        step = script.pop(0) if len(script) > 1 else script[0]
        if step == "hang":
            self.server.released.wait(20)
            self.close_connection = True
        elif step == "drop":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [')
            self.close_connection = True
        elif isinstance(step, int):
            self.answer(step, {"error": {"message": f"status {step}"}})
        else:
            self.answer(200, completion(step))

    def answer(self, code: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def completion(text: str) -> dict:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(openai_generator, "FIRST_WAIT_S", 0.01)
    servers = []

    def start(*script):
        server = Server(*script)
        servers.append(server)
        return server, OpenAIGenerator(server.url)

    yield start
    for server in servers:
        server.released.set()
        server.shutdown()
        server.server_close()


def test_a_reply_with_its_counts(serve):
    server, generator = serve("Hello.")
    schema = {"type": "array", "items": {"enum": ["a"]}}
    reply = generator.generate(ASK, Sampling(5, 0.5, 9, ("\n",)), schema)
    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.finished) == ("Hello.", 7, 3, True)
    request = server.requests[0]
    assert request["model"] == generator.model_name == "served"
    assert request["messages"][0] == {"role": "system", "content": "Help."}
    assert (request["max_tokens"], request["temperature"], request["seed"]) == (5, 0.5, 9)
    assert request["stop"] == ["\n"]
    assert request["response_format"]["json_schema"]["schema"] == schema


def test_the_key_comes_from_the_environment(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    server, generator = serve("Hello.")
    generator.generate(ASK, Sampling())
    assert server.headers == ["Bearer secret-1"]


@pytest.mark.parametrize("trouble", [429, 500, 503, "drop"])
def test_what_may_pass_is_tried_again(serve, trouble):
    server, generator = serve(trouble, trouble, "Hello.")
    assert generator.generate(ASK, Sampling(), deadline_s=20).text == "Hello."
    assert len(server.requests) == 3


@pytest.mark.parametrize("trouble", [429, 500])
def test_what_does_not_pass_ends_at_the_deadline(serve, trouble):
    _, generator = serve(trouble)
    with pytest.raises(ModelTimeout, match=str(trouble)):
        generator.generate(ASK, Sampling(), deadline_s=0.3)


@pytest.mark.parametrize("code", [400, 401, 404])
def test_what_cannot_pass_is_an_error_at_once(serve, code):
    server, generator = serve(code)
    with pytest.raises(ModelError, match=str(code)) as caught:
        generator.generate(ASK, Sampling(), deadline_s=20)
    assert len(server.requests) == 1
    assert "\n" not in str(caught.value)


def test_a_server_that_never_replies(serve):
    _, generator = serve("hang")
    began = time.monotonic()
    with pytest.raises(ModelTimeout, match=r"127\.0\.0\.1"):
        generator.generate(ASK, Sampling(), deadline_s=0.3)
    assert time.monotonic() - began < 5


def test_cancel_does_not_wait_for_the_server(serve):
    server, generator = serve("hang")
    cancel = threading.Event()

    def cancel_once_asked():
        while not server.requests:
            threading.Event().wait(0.01)
        cancel.set()

    threading.Thread(target=cancel_once_asked, daemon=True).start()
    with pytest.raises(ModelCancelled):
        generator.generate(ASK, Sampling(), deadline_s=20, cancel=cancel)


def test_a_server_that_is_not_there():
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9") as caught:
        OpenAIGenerator("http://127.0.0.1:9/v1")
    assert "\n" not in str(caught.value)
