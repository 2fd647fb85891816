"""How many robots one scoring server serves: turns a second and the slowest ones, by number of
robots.

A robot here is what its goal_belief does in a turn: the dialog grows by one question and one
utterance, and all goals are scored over it, by a client of its own and in a thread of its own.
Each asks again as soon as it has its answer: the server is never idle, as in the worst moment of
a fleet whose people speak every 20 s or so.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from good_ros.core.errors import InputError, ModelError
from good_ros.experiments.bench_belief import make_workload
from good_ros.experiments.loopback_server import Cost
from good_ros.inference.vllm_scorer import VllmScorer
from good_ros.language.vllm_server import VllmServer

SESSION_TURNS = 10
"""Turns after which a robot begins a new session, so that dialogs are as long as in use."""
STOP_S = 10.0


@dataclass(frozen=True)
class FleetSize:
    """``throughput``: turns a second of all robots together; seconds are of one turn.

    ``tokens``: tokens of all prompts of a turn, on the average.
    """

    robots: int
    turns: int
    throughput: float
    median_seconds: float
    p99_seconds: float
    tokens: float


@dataclass
class Fleet:
    """The outcome of a run, by number of robots."""

    sizes: list[FleetSize] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "robots": [size.robots for size in self.sizes],
            "throughput": [round(size.throughput, 2) for size in self.sizes],
            "p99_seconds": [round(size.p99_seconds, 4) for size in self.sizes],
        }


@contextlib.contextmanager
def loopback_server(cost: Cost) -> Iterator[str]:
    """The URL of a server of stated cost, in a process of its own. Raises ModelError."""
    command = [
        *(sys.executable, "-m", "good_ros.experiments.loopback_server"),
        *("--step-ms", str(cost.step_s * 1e3), "--token-us", str(cost.token_s * 1e6)),
        *("--batch-tokens", str(cost.batch_tokens)),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                raise ModelError("the server on loopback did not start")
            yield url
        finally:
            process.stdin.close()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def run(
    url: str,
    robots: Sequence[int],
    *,
    turns: int = 200,
    goals: int = 9,
    seed: int = 0,
    on_size: Callable[[FleetSize], None] = lambda size: None,
) -> Fleet:
    """Measure each number of robots, ``turns`` turns in all at each, every robot the same number.

    ``goals`` counts 'Unspecified'. Raises ModelError where the server fails, InputError for
    sizes that cannot be.
    """
    if not robots or min(robots) < 1 or turns < 1 or goals < 2:
        raise InputError("there must be at least 1 robot, 1 turn and 2 goals")
    fleet = Fleet()
    for count in robots:
        size = _measure(url, count, max(1, -(-turns // count)), goals, seed)
        fleet.sizes.append(size)
        on_size(size)
    return fleet


def _measure(url: str, count: int, turns_each: int, goals: int, seed: int) -> FleetSize:
    start = threading.Barrier(count + 1)
    with ThreadPoolExecutor(count) as pool:
        works = [
            pool.submit(_robot, url, turns_each, goals, seed + robot, start)
            for robot in range(count)
        ]
        with contextlib.suppress(threading.BrokenBarrierError):
            start.wait()
        began = time.monotonic()
        results = [work.result() for work in works]
        elapsed = time.monotonic() - began
    seconds = [second for taken, _ in results for second in taken]
    return FleetSize(
        count,
        len(seconds),
        len(seconds) / elapsed,
        float(np.median(seconds)),
        float(np.percentile(seconds, 99)),
        sum(tokens for _, tokens in results) / len(seconds),
    )


def _robot(
    url: str, turns: int, goals: int, seed: int, start: threading.Barrier
) -> tuple[list[float], int]:
    """The seconds of each turn, and the tokens that were scored."""
    try:
        scorer = VllmScorer(VllmServer(url))
    except BaseException:
        start.abort()
        raise
    with contextlib.closing(scorer):
        start.wait()
        seconds: list[float] = []
        tokens = 0
        while len(seconds) < turns:
            work = make_workload(goals, SESSION_TURNS, seed + len(seconds))
            session = scorer.session()
            session.set_goals(work.goals)
            for question, utterance in work.dialog[: turns - len(seconds)]:
                session.append(question, utterance)
                began = time.monotonic()
                session.log_likelihoods()
                seconds.append(time.monotonic() - began)
            tokens += session.tokens_scored
            session.close()
    return seconds, tokens
