"""Generation over HTTP, against a real server on loopback."""

from __future__ import annotations

import json
import sys
import threading
import time

import pytest

from good_ros.core.errors import ModelCancelled, ModelError, ModelTimeout
from good_ros.language import openai_server
from good_ros.language.generator import Message, Sampling
from good_ros.language.openai_generator import OpenAIGenerator

from ..model_server import Server

ASK = [Message("system", "Help."), Message("user", "Hello?")]


@pytest.fixture
def host(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(openai_server, "FIRST_WAIT_S", 0.01)
    servers = []

    def start(*script):
        server = Server(*script)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.released.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def serve(host):
    def start(*script):
        server = host(*script)
        return server, OpenAIGenerator(server.url)

    return start


def test_a_reply_with_its_counts(serve):
    server, generator = serve("Hello.")
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    reply = generator.generate(ASK, Sampling(5, 0.5, 9, ("\n",)), schema)
    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.finished) == ("Hello.", 7, 3, True)
    request = server.requests[0]
    assert request["model"] == generator.model_name == "served"
    assert request["messages"][0] == {"role": "system", "content": "Help."}
    assert (request["max_tokens"], request["temperature"], request["seed"]) == (5, 0.5, 9)
    assert request["stop"] == ["\n"]
    assert request["response_format"]["type"] == "json_schema"
    assert request["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ('{"reply": ["a", "é"]}', '["a", "é"]'),
        ('["a"]', '["a"]'),
        ('{"reply": ["a", ', '{"reply": ["a", '),
        ('{"reply": [], "why": ""}', '{"reply": [], "why": ""}'),
    ],
)
def test_a_list_is_asked_for_inside_an_object(serve, sent, text):
    """OpenAI's own server refuses any other schema at the top."""
    server, generator = serve(sent)
    schema = {"type": "array", "items": {"enum": ["a", "é"]}}
    assert generator.generate(ASK, Sampling(), schema).text == text
    asked = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert asked["type"] == "object"
    assert asked["properties"] == {"reply": schema}
    assert (asked["required"], asked["additionalProperties"]) == (["reply"], False)


def test_a_reply_without_a_schema_or_stop_words(serve):
    server, generator = serve("Hello.")
    generator.generate(ASK, Sampling())
    assert not {"response_format", "stop"} & set(server.requests[0])


@pytest.mark.parametrize("key", ["secret-1", "secret-1\n"])
def test_the_key_comes_from_the_environment(serve, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server, generator = serve("Hello.")
    generator.generate(ASK, Sampling(), deadline_s=20)
    assert server.headers == ["Bearer secret-1"]


@pytest.mark.parametrize(
    ("key", "words"),
    [("", "set OPENAI_API_KEY"), ("secret-1", "correct the key in OPENAI_API_KEY")],
)
@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_is_told_with_what_to_do(serve, monkeypatch, key, words, code):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    server, generator = serve(code)
    with pytest.raises(ModelError, match=rf"{code}.*: {words} where the node is started$"):
        generator.generate(ASK, Sampling())
    # At the start it is the key as well, and neither the URL nor the model's name.
    server.listing = code
    for served_model in ("", "mine"):
        with pytest.raises(ModelError, match=words):
            OpenAIGenerator(server.url, served_model)


def test_a_model_that_is_not_served_is_told_by_its_name(serve):
    server, _ = serve(404)
    generator = OpenAIGenerator(server.url, "mine")
    with pytest.raises(
        ModelError, match=r"404.*: correct served_model, which is 'mine', or the URL"
    ):
        generator.generate(ASK, Sampling())


def test_no_key_is_needed(serve):
    server, generator = serve("Hello.")
    generator.generate(ASK, Sampling())
    assert server.headers == ["Bearer no-key-is-needed"]


def test_a_key_that_the_server_quotes_is_not_passed_on(serve, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    server, generator = serve(401)
    with caplog.at_level("DEBUG"), pytest.raises(ModelError, match="key Bearer …") as caught:
        generator.generate(ASK, Sampling())
    assert server.headers == ["Bearer secret-1"]
    assert "secret-1" not in str(caught.value)
    assert "secret-1" not in caplog.text


@pytest.mark.parametrize("trouble", [429, 500, 503, "drop"])
def test_what_may_pass_is_tried_again(serve, trouble):
    server, generator = serve(trouble, trouble, "Hello.")
    assert generator.generate(ASK, Sampling(), deadline_s=20).text == "Hello."
    assert len(server.requests) == 3


def test_pauses_grow(serve, monkeypatch):
    pauses = []
    monkeypatch.setattr(openai_server.random, "uniform", lambda low, high: high)
    monkeypatch.setattr(openai_server, "LONGEST_WAIT_S", 0.04)

    class Cancel(threading.Event):
        def wait(self, timeout=None):
            pauses.append(timeout)
            return False

    _, generator = serve(500, 500, 500, 500, "Hello.")
    generator.generate(ASK, Sampling(), deadline_s=20, cancel=Cancel())
    assert pauses == [0.01, 0.02, 0.04, 0.04]


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
        if server.asked.wait(20):
            cancel.set()

    threading.Thread(target=cancel_once_asked, daemon=True).start()
    with pytest.raises(ModelCancelled):
        generator.generate(ASK, Sampling(), deadline_s=20, cancel=cancel)
    assert len(server.requests) == 1


def test_cancel_ends_a_pause(serve, monkeypatch):
    monkeypatch.setattr(openai_server, "FIRST_WAIT_S", 1000.0)
    server, generator = serve(500)
    cancel = threading.Event()

    def cancel_once_asked():
        if server.asked.wait(20):
            cancel.set()

    threading.Thread(target=cancel_once_asked, daemon=True).start()
    began = time.monotonic()
    with pytest.raises(ModelCancelled):
        generator.generate(ASK, Sampling(), deadline_s=5000, cancel=cancel)
    assert time.monotonic() - began < 20


def test_what_is_cancelled_before_it_begins_is_not_asked(serve):
    server, generator = serve("Hello.")
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(ModelCancelled):
        generator.generate(ASK, Sampling(), cancel=cancel)
    assert server.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"{oops",
        b"\xff\xfe",
        b"[1]",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": "ab"}',
        b'{"choices": [{"message": {"content": [1]}}]}',
    ],
)
def test_a_body_that_is_no_completion_is_one_line(serve, body):
    server, generator = serve(body)
    with pytest.raises(ModelError, match="not with a chat completion") as caught:
        generator.generate(ASK, Sampling(), deadline_s=20)
    assert "\n" not in str(caught.value)
    assert len(server.requests) == 1


def test_missing_counts_are_zero_and_a_cut_reply_says_so(serve):
    choice = {"finish_reason": "length", "message": {"content": "Hel"}}
    _, generator = serve(json.dumps({"choices": [choice], "usage": {}}).encode())
    reply = generator.generate(ASK, Sampling())
    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.finished) == ("Hel", 0, 0, False)


@pytest.mark.parametrize("listing", [404, b"<html>", b"{oops", b"[1]"])
def test_a_named_model_need_not_be_listed(host, listing):
    server = host("Hello.")
    server.listing = listing
    with pytest.raises(ModelError, match=r"does not list its models.*served_model") as caught:
        OpenAIGenerator(server.url)
    assert "\n" not in str(caught.value)
    generator = OpenAIGenerator(server.url, "mine")
    assert generator.model_name == "mine"
    generator.generate(ASK, Sampling())
    assert server.requests[0]["model"] == "mine"


@pytest.mark.parametrize("data", [[], None, [{}]])
def test_a_server_without_a_model(host, data):
    server = host("Hello.")
    server.listing = {"object": "list", "data": data}
    with pytest.raises(ModelError, match="serves no model"):
        OpenAIGenerator(server.url)


def test_construction_does_not_wait_for_a_server_that_trickles(host, monkeypatch):
    monkeypatch.setattr(openai_server, "CONNECT_S", 0.3)
    server = host("Hello.")
    server.listing = "trickle"
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"127\.0\.0\.1"):
        OpenAIGenerator(server.url)
    assert time.monotonic() - began < 5


def test_a_package_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ModelError, match=r"pip install 'good_ros\[openai\]'") as caught:
        OpenAIGenerator("http://127.0.0.1:9/v1")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("served_model", ["", "mine"])
def test_a_server_that_is_not_there(served_model):
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1 cannot be reached") as caught:
        OpenAIGenerator("http://127.0.0.1:9/v1", served_model)
    assert "\n" not in str(caught.value)


def test_a_server_that_refuses_every_schema_is_asked_without_one(host, monkeypatch):
    server = host("no schema", '["a"]', '["a"]')
    generator = OpenAIGenerator(server.url)
    schema = {"type": "array", "items": {"enum": ["a"]}}
    for _ in range(2):
        assert generator.generate(ASK, Sampling(10), schema).text == '["a"]'
    assert ["response_format" in request for request in server.requests] == [True, False, False]


def test_trouble_is_told_while_it_lasts(host):
    server = host(429, "drop", "fine")
    generator = OpenAIGenerator(server.url)
    told: list[str] = []
    generator.on_trouble = told.append
    assert generator.generate(ASK, Sampling(10)).text == "fine"
    assert len(told) == 3
    assert "429" in told[0]
    assert told[2] == ""
