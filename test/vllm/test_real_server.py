"""A real vLLM server scores as transformers does. Run by ``make test-vllm``, which installs and
names the server's Python in GOOD_ROS_VLLM_PYTHON."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

PYTHON = os.environ.get("GOOD_ROS_VLLM_PYTHON", "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="no vLLM: make test-vllm installs it")

from good_ros.core.goals import Goal, unspecified_goal  # noqa: E402
from good_ros.inference.backends import make_scorer  # noqa: E402
from good_ros.inference.layout import Layout  # noqa: E402
from test.inference.tiny_model import make_tiny_model  # noqa: E402

START_S = 180.0
NATS_A_TOKEN = 0.05
GOALS = [unspecified_goal(), Goal("g1", "a cup of cocoa"), Goal("g2", "a bowl of noodles")]
DIALOG = [
    ("What would you like?", "I'd like something sweet."),
    ("Hot or cold?", "Something hot to drink, please."),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def url(folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder)]
    command += ["--port", str(port), "--host", "127.0.0.1", "--enforce-eager"]
    command += ["--dtype", "float32", "--max-model-len", "2048"]
    log = folder / "server.log"
    with log.open("w") as file:
        server = subprocess.Popen(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "PYTHONPATH": ""},
        )
    try:
        wait_until_up(port, server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


def wait_until_up(port, server, log):
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.fail(f"the server ended with {server.returncode}: {log.read_text()[-3000:]}")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).close()
            return
        except (urllib.error.URLError, OSError):
            # Nothing tells when it is up but its own answer.
            time.sleep(0.5)
    pytest.fail(f"the server did not start in {START_S:.0f} s: {log.read_text()[-3000:]}")


@pytest.mark.parametrize("layout", list(Layout))
def test_the_same_scores_as_transformers(url, folder, layout):
    """The self-test is left out: random weights know no likely text, and it says so."""
    results = []
    for scorer in (make_scorer(url, layout=layout), make_scorer(str(folder), layout=layout)):
        session = scorer.session()
        session.set_goals(GOALS)
        for turn in DIALOG:
            session.append(*turn)
            scores = session.log_likelihoods()
        results.append(scores)
        scorer.close()
    served, own = results
    largest = 0.0
    for goal in GOALS:
        for index, (_, utterance) in enumerate(DIALOG):
            tokens = len(make_tokens(folder, utterance))
            largest = max(largest, abs(served[goal.id][index] - own[goal.id][index]) / tokens)
    print(f"largest difference, {layout.value}: {largest:.2e} nats a token")
    assert largest <= NATS_A_TOKEN
    assert served["g1"] != served["g2"]


def make_tokens(folder, text):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder).encode(text, add_special_tokens=False)
