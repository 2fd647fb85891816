"""Robots that share one scoring server."""

from __future__ import annotations

import json
import threading

import pytest

from good_ros.cli import main
from good_ros.core.errors import InputError, ModelError
from good_ros.experiments import fleet
from good_ros.experiments.loopback_server import Cost, Device, LoopbackServer
from good_ros.inference.vllm_scorer import VllmScorer
from good_ros.language.vllm_server import VllmServer


def test_waiting_requests_are_read_together_and_cost_what_is_stated():
    slept: list[float] = []
    busy, go_on = threading.Event(), threading.Event()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        busy.set()
        assert go_on.wait(20)

    device = Device(Cost(step_s=1.0, token_s=0.1, batch_tokens=10), sleep)
    threads = [threading.Thread(target=device.read_tokens, args=(2,))]
    threads[0].start()
    assert busy.wait(20)
    for tokens in (4, 9):
        threads.append(threading.Thread(target=device.read_tokens, args=(tokens,)))
        threads[-1].start()
    with device._changed:
        assert device._changed.wait_for(lambda: len(device._waiting) == 2, 20)
    go_on.set()
    for thread in threads:
        thread.join(20)
    # 2 alone; then 10 of the 13 that waited, then the rest.
    assert slept == pytest.approx([1.2, 2.0, 1.3])
    assert (device.steps, device.read) == (3, 15)


def test_the_server_answers_as_vllm_does():
    server = LoopbackServer(Cost(0.0, 0.0))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    scorer = VllmScorer(VllmServer(server.url))
    try:
        first = scorer.score(["Please put the bread"], " in the fridge.")
        assert first == scorer.score(["Please put the bread"], " in the fridge.")
        assert first[0].tokens == len(server.tokenize(" in the fridge."))
        assert first[0].log_probability < 0
    finally:
        scorer.close()
        server.shutdown()


def test_more_robots_are_served_together(capsys):
    """A step is the dear part here, and one step serves all that wait."""
    arguments = ["--turns", "12", "--goals", "3", "--step-ms", "100", "--token-us", "0"]
    assert main(["bench", "fleet", "--robots", "1,4", *arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert list(result) == ["robots", "throughput", "p99_seconds"]
    assert result["robots"] == [1, 4]
    assert result["throughput"][1] > 1.3 * result["throughput"][0]
    assert min(result["p99_seconds"]) >= 0.1


def test_a_fleet_without_a_server_ends_at_once():
    with pytest.raises(ModelError, match="cannot be reached"):
        fleet.run("http://127.0.0.1:9/v1", [2], turns=2)


@pytest.mark.parametrize("sizes", [[], [0], [-1, 2]])
def test_sizes_that_cannot_be(sizes):
    with pytest.raises(InputError):
        fleet.run("http://127.0.0.1:9/v1", sizes)


def test_sizes_that_are_no_numbers(capsys):
    assert main(["bench", "fleet", "--robots", "few"]) == 1
    assert "--robots" in capsys.readouterr().err
