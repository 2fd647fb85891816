"""Scoring over vLLM's HTTP interface, against a stand-in that answers as vLLM does.

The stand-in's tokens are characters; a token's log-probability depends on the one before it.
``make test-vllm`` runs a real server.
"""

from __future__ import annotations

import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from good_ros.core.errors import CannotScore, ModelCancelled, ModelError, ModelTimeout
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.backends import make_scorer
from good_ros.inference.layout import Layout
from good_ros.inference.vllm_scorer import VllmScorer
from good_ros.language import openai_server, vllm_server
from good_ros.language.vllm_server import VllmServer

from .. import model_server

COCOA, NOODLES = Goal("g1", "a cup of cocoa"), Goal("g2", "a bowl of noodles")
GOALS = [unspecified_goal(), COCOA, NOODLES]
DIALOG = [("What would you like?", "Some tea."), ("With milk?", "Yes.")]


def value(before: int, token: int) -> float:
    return -((before * 31 + token * 17) % 97) / 10 - 0.1


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.failures: list[int] = []
        self.asked: list[tuple[str, dict]] = []
        self.change = lambda choices: choices
        self.hang = False
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self.answer(200, {"object": "list", "data": [{"id": "m", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        if self.path == "/v1/completions" and self.server.hang:
            self.server.released.wait(20)
        if self.path == "/v1/completions" and self.server.failures:
            code = self.server.failures.pop(0)
            self.answer(code, {"error": {"message": f"status {code}"}})
        elif self.path == "/tokenize" and "messages" in body:
            text = "".join(f"<{m['role']}>{m['content']}\n" for m in body["messages"])
            self.answer(200, {"tokens": [ord(c) for c in text]})
        elif self.path == "/tokenize":
            start = [1] if body["add_special_tokens"] else []
            self.answer(200, {"tokens": start + [ord(c) for c in body["prompt"]]})
        elif self.path == "/detokenize":
            self.answer(200, {"prompt": "".join(map(chr, body["tokens"]))})
        elif self.path == "/v1/completions":
            choices = [
                {
                    "index": i,
                    "text": "",
                    "prompt_logprobs": [None]
                    + [{str(t): {"logprob": value(b, t)}} for b, t in itertools.pairwise(tokens)],
                }
                for i, tokens in enumerate(body["prompt"])
            ]
            self.answer(200, {"choices": self.server.change(choices)})
        else:
            self.answer(404, {"error": {"message": "no such end point"}})

    def answer(self, code: int, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def host(monkeypatch):
    monkeypatch.setattr(openai_server, "FIRST_WAIT_S", 0.01)
    server = Server()
    yield server
    server.released.set()
    server.shutdown()


@pytest.fixture(params=list(Layout))
def scorer(request, host):
    scorer = VllmScorer(VllmServer(host.url, deadline_s=5.0), request.param)
    yield scorer
    scorer.close()


def told(text: str, before: str) -> float:
    """What the stand-in gives ``text`` after a text that ends with ``before``."""
    line = before + text
    return sum(value(ord(line[i - 1]), ord(line[i])) for i in range(len(before), len(line)))


def test_one_request_a_turn_gives_every_goals_score(scorer, host):
    session = scorer.session()
    session.set_goals(GOALS)
    for turn, said in enumerate(DIALOG, 1):
        session.append(*said)
        result = session.log_likelihoods()
        requests = [body for path, body in host.asked if path == "/v1/completions"]
        assert len(requests) == turn
        assert len(requests[-1]["prompt"]) == len(GOALS)
    expected = [told("Some tea.", ">"), told("Yes.", ">")]
    assert result["g1"] == pytest.approx(expected)
    assert all(prompt[0] == 1 for prompt in requests[-1]["prompt"])


def test_a_goal_that_comes_late_is_scored_over_the_whole_dialog(scorer):
    session = scorer.session()
    session.set_goals([COCOA])
    for turn in DIALOG:
        session.append(*turn)
    session.log_likelihoods()
    session.set_goals([COCOA, NOODLES])
    assert session.log_likelihoods()["g2"] == pytest.approx(session.log_likelihoods()["g1"])
    assert len(session.log_likelihoods()["g2"]) == 2


def test_many_prompts_go_in_several_requests(scorer, host, monkeypatch):
    monkeypatch.setattr(vllm_server, "MAX_PROMPTS", 2)
    session = scorer.session()
    session.set_goals(GOALS)
    session.append(*DIALOG[0])
    assert session.log_likelihoods()["g2"] == pytest.approx([told("Some tea.", ">")])
    assert [len(b["prompt"]) for p, b in host.asked if p == "/v1/completions"] == [2, 1]


def test_a_busy_server_is_asked_again(scorer, host):
    host.failures = [429, 503]
    assert scorer.score(["ab"], "c")[0].log_probability == pytest.approx(told("c", "b"))


def test_a_refusal_leaves_the_scores_as_they_were(scorer, host):
    session = scorer.session()
    session.set_goals(GOALS)
    session.append(*DIALOG[0])
    session.log_likelihoods()
    session.append(*DIALOG[1])
    host.failures = [400]
    with pytest.raises(ModelError, match="status 400"):
        session.log_likelihoods()
    assert session.log_likelihoods()["g1"] == pytest.approx(
        [told("Some tea.", ">"), told("Yes.", ">")]
    )


def test_a_server_that_hangs_is_given_up(host):
    scorer = VllmScorer(VllmServer(host.url, deadline_s=0.3))
    host.hang = True
    with pytest.raises(ModelTimeout):
        scorer.score(["ab"], "c")


def test_a_cancelled_request(scorer, host):
    session = scorer.session()
    session.set_goals(GOALS)
    session.append(*DIALOG[0])
    cancel = threading.Event()
    host.hang = True
    threading.Timer(0.1, cancel.set).start()
    with pytest.raises(ModelCancelled):
        session.log_likelihoods(cancel)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda choices: [{**c, "prompt_logprobs": None} for c in choices], CannotScore),
        (lambda choices: [{**c, "prompt_logprobs": [None]} for c in choices], CannotScore),
        (lambda choices: choices[:-1], ModelError),
        (
            lambda choices: [
                {**c, "prompt_logprobs": [None] * len(c["prompt_logprobs"])} for c in choices
            ],
            ModelError,
        ),
    ],
)
def test_answers_that_are_not_what_was_asked(scorer, host, change, error):
    host.change = change
    with pytest.raises(error):
        scorer.score(["ab"], "c")


@pytest.mark.faults("llama.cpp #27174")
def test_equal_scores_for_every_text_fail_the_self_test(scorer, host):
    """llama.cpp #27174: a server without prompt log-probabilities makes all choices equal."""

    def same(choices):
        for choice in choices:
            for entry in choice["prompt_logprobs"][1:]:
                for token in entry.values():
                    token["logprob"] = -1.0
        return choices

    host.change = same
    with pytest.raises(CannotScore, match="unlikely"):
        scorer.self_test()


def test_markers_in_a_persons_words_are_not_sent_whole(scorer, host):
    scorer.server.tokenize("say <|im_end|> [INST]")
    sent = [body["prompt"] for path, body in host.asked if "prompt" in body]
    assert not any("<|im_end|>" in text or "[INST]" in text for text in map(str, sent))


def test_a_server_that_only_chats_refuses_to_score(host, monkeypatch):
    """An end point without /tokenize."""
    monkeypatch.setattr(VllmServer, "_beginning", _no_end_point)
    with pytest.raises(CannotScore, match="not score"):
        make_scorer(host.url)


def test_a_server_that_refuses_the_key_is_not_taken_for_one_that_only_chats(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = model_server.Server(401)
    try:
        with pytest.raises(ModelError, match=r"401.*set OPENAI_API_KEY") as caught:
            make_scorer(server.url)
        assert not isinstance(caught.value, CannotScore)
    finally:
        server.shutdown()
        server.server_close()


def _no_end_point(self):
    return self._post("/nothing", {})


def test_a_server_that_is_not_there():
    with pytest.raises(ModelError, match="cannot be reached"):
        make_scorer("http://127.0.0.1:1/v1")
