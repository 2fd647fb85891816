"""What the page costs the loop: turn times with it open and without it, paired in one run.

The models are scripted, and each of their calls does a fixed amount of matrix arithmetic on all
cores, as a language model does, so that whatever the page takes from it shows as a longer turn.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from unittest import mock

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter

from good_ros.core.errors import GoodError
from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.language.generator import Message
from good_ros.language.scripted import ScriptedGenerator
from good_ros.msg import GoalBelief, Question, TaskStatus, Utterance
from good_ros.node_names import NODES
from good_ros.nodes.qos import LATCHED_STREAM, SPEECH_OUT
from good_ros.nodes.stack import Stack, StackOptions

TURN_S = 120.0
SIDE = 384
GOALS = ("the bread put in the fridge", "the knife put in the sink", "tea made")
LAG_LINES = 10_000


@dataclass(frozen=True)
class MonitorCost:
    """Seconds a turn without and with the page (medians).

    ``pair_differences_percent``: with against without, of the medians of each pair of
    neighbouring blocks; ``difference_percent`` is their median, which a machine that others use
    too disturbs least.
    ``page_cpu_ms_a_turn``: processor time of the page's thread (mean), which says the same where
    other processes' load hides the difference.
    ``page_delay_ms``: from a settled belief's publication to its arrival at a client.
    """

    clients: int
    turns: int
    turn_s_without: float
    turn_s_with: float
    difference_percent: float
    pair_differences_percent: list[float]
    page_cpu_ms_a_turn: float
    page_delay_ms_median: float
    page_delay_ms_most: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Work:
    """A fixed amount of arithmetic that takes about ``seconds`` on the idle machine."""

    def __init__(self, seconds: float) -> None:
        self._matrix = np.random.default_rng(0).random((SIDE, SIDE), dtype=np.float32) / SIDE
        self._rounds = 1
        self()
        began = time.perf_counter()
        self._rounds = 20
        self()
        each = (time.perf_counter() - began) / self._rounds
        self._rounds = max(1, round(seconds / each))

    def __call__(self) -> None:
        for _ in range(self._rounds):
            self._matrix @ self._matrix


class WorkingScorer(ScriptedScorer):
    """Knows a score for every goal, after some work on each utterance that is new.

    A turn late in the session thus costs what an early one does, as with a real scorer's cache.
    """

    def __init__(self, work: Work) -> None:
        super().__init__({})
        self._work = work
        self._worked_on: set[str] = set()

    def look_up(self, goal: str, utterance: str) -> float:
        if utterance not in self._worked_on:
            self._worked_on.add(utterance)
            self._work()
        if goal == UNSPECIFIED_TEXT:
            return -6.0
        return -5.0 - (len(goal) * 7 + len(utterance)) % 5


def working_generator(work: Work, say: Callable[..., str]) -> ScriptedGenerator:
    """Says ``say(messages, schema)`` for ever, after some work."""

    def line(messages: Sequence[Message], schema: Mapping[str, Any] | None) -> str:
        work()
        return say(messages, schema)

    def lines() -> Iterator[Any]:
        while True:
            yield line

    return ScriptedGenerator(lines())


def _question(messages: Sequence[Message], schema: Any) -> str:
    return f"What next, after {len(messages[-1].content)} characters?"


def _goals(messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
    if schema["type"] == "array":
        return json.dumps(list(GOALS))
    return json.dumps(dict.fromkeys(schema["properties"], "fits"))


def _plan(messages: Sequence[Message], schema: Any) -> str:
    return json.dumps(["put Bread in Fridge"])


class Talker(Node):
    """Answers every question at once, and times each turn."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__("talker", **node_arguments)
        self.seconds: list[float] = []
        self.published: dict[int, float] = {}
        self._said_turn = self._reported_turn = 0
        self._asked: Question | None = None
        self._began = 0.0
        self.utterance = self.create_publisher(Utterance, "utterance", SPEECH_OUT)
        self.create_subscription(Question, "question", self._on_question, LATCHED_STREAM)
        self.create_subscription(TaskStatus, "task_status", self._on_status, LATCHED_STREAM)
        self.create_subscription(GoalBelief, "goal_belief", self._on_belief, LATCHED_STREAM)

    def is_asked(self) -> bool:
        return self._asked is not None and self._asked.turn > self._said_turn

    def answer(self) -> None:
        assert self._asked is not None
        self._said_turn = self._asked.turn
        self._began = time.perf_counter()
        self.utterance.publish(
            Utterance(
                utterance_id=f"bench-{self._said_turn}",
                text=f"Something else, number {self._said_turn}",
                confidence=1.0,
                is_final=True,
            )
        )

    def _on_question(self, message: Question) -> None:
        self._asked = message

    def _on_belief(self, message: GoalBelief) -> None:
        if message.settled:
            stamp = message.header.stamp
            self.published[message.turn] = stamp.sec + stamp.nanosec * 1e-9

    def _on_status(self, message: TaskStatus) -> None:
        ends = message.state >= TaskStatus.NO_ACTION
        if ends and message.turn == self._said_turn > self._reported_turn:
            self._reported_turn = message.turn
            self.seconds.append(time.perf_counter() - self._began)


def measure(
    *, pairs: int = 10, turns: int = 3, clients: int = 10, work_s: float = 0.3
) -> MonitorCost:
    """Turn times in blocks of ``turns``, without and with the page, in alternating order.

    Without: the monitor has no page. With: it has one, and ``clients`` read its events in a
    process of their own. Raises GoodError where the stack stops answering.
    """
    work = Work(work_s)
    generators = {
        "dialog": working_generator(work, _question),
        "goal_manager": working_generator(work, _goals),
        "executor": working_generator(work, _plan),
    }
    with contextlib.ExitStack() as opened:
        for name, generator in generators.items():
            opened.enter_context(
                mock.patch(f"good_ros.nodes.{name}.make_generator", return_value=generator)
            )
        opened.enter_context(
            mock.patch("good_ros.nodes.goal_belief.make_scorer", return_value=WorkingScorer(work))
        )
        folder = opened.enter_context(tempfile.TemporaryDirectory())
        parameters = {"*": {"sessions_folder": folder, "max_turns": 1000}}
        stack = Stack(
            StackOptions(NODES, parameters=parameters, ros_arguments=["--disable-stdout-logs"])
        )
        opened.callback(stack.close)
        talker = Talker(context=stack.context)
        stack.add(talker)
        stack.start()
        return _run(stack, talker, pairs, turns, clients)


def _run(stack: Stack, talker: Talker, pairs: int, turns: int, clients: int) -> MonitorCost:
    _block(stack, talker, 2)  # Not counted: discovery, first goals.
    medians: dict[bool, list[float]] = {False: [], True: []}
    every: dict[bool, list[float]] = {False: [], True: []}
    page_cpu_s = 0.0
    delays: list[float] = []
    for pair in range(pairs):
        for with_page in (False, True) if pair % 2 == 0 else (True, False):
            _set_page(stack, with_page)
            with _visitors(stack, clients if with_page else 0) as arrivals:
                before = _page_cpu_s(stack)
                seconds = _block(stack, talker, turns)
                page_cpu_s += _page_cpu_s(stack) - before
            every[with_page] += seconds
            medians[with_page].append(statistics.median(seconds))
            delays += [at - talker.published[turn] for turn, at in arrivals]
    without, opened = statistics.median(every[False]), statistics.median(every[True])
    differences = [100 * (b / a - 1) for a, b in zip(medians[False], medians[True], strict=True)]
    return MonitorCost(
        clients=clients,
        turns=pairs * turns,
        turn_s_without=round(without, 5),
        turn_s_with=round(opened, 5),
        difference_percent=round(statistics.median(differences), 2),
        pair_differences_percent=[round(value, 2) for value in differences],
        page_cpu_ms_a_turn=round(1000 * page_cpu_s / (pairs * turns), 2),
        page_delay_ms_median=round(1000 * statistics.median(delays), 1) if delays else 0.0,
        page_delay_ms_most=round(1000 * max(delays), 1) if delays else 0.0,
    )


def _block(stack: Stack, talker: Talker, turns: int) -> list[float]:
    """The seconds of so many turns."""
    first = len(talker.seconds)
    for done in range(turns):
        _wait(stack, talker.is_asked, "a question")
        talker.answer()
        _wait(stack, lambda n=first + done: len(talker.seconds) > n, "a turn's end")  # type: ignore[misc]
    return talker.seconds[first:]


def _wait(stack: Stack, until: Callable[[], bool], what: str) -> None:
    if not stack.spin(until, TURN_S):
        raise GoodError(f"waited {TURN_S:g} s for {what}: run good bench monitor again")


def _page_cpu_s(stack: Stack) -> float:
    """Processor time that the page's thread has taken so far; 0 where there is no page."""
    monitor: Any = stack.nodes["monitor"]
    return monitor.page.server.processor_seconds() if monitor.page else 0.0


def _set_page(stack: Stack, on: bool) -> None:
    monitor = stack.nodes["monitor"]
    monitor.trigger_deactivate()
    monitor.trigger_cleanup()
    monitor.set_parameters([Parameter("web_port", value=0 if on else -1)])
    if not monitor.autostart():
        raise GoodError(f"the monitor could not be configured: {monitor.failure}")


@contextlib.contextmanager
def _visitors(stack: Stack, count: int) -> Iterator[list[tuple[int, float]]]:
    """``count`` clients of the page in another process.

    Yields a list of (turn, when its settled belief arrived in seconds since the epoch), which is
    filled at the end.
    """
    arrivals: list[tuple[int, float]] = []
    if not count:
        yield arrivals
        return
    monitor: Any = stack.nodes["monitor"]
    process = subprocess.Popen(
        [sys.executable, __file__, str(monitor.page.server.port), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    lines: list[str] = []
    reader = threading.Thread(target=lambda out=process.stdout: lines.extend(out))
    reader.start()
    try:
        _wait(stack, lambda: len(monitor.page.server.hub.visitors) == count, "the clients")
        yield arrivals
    finally:
        process.stdin.close()
        process.wait(10)
        reader.join(10)
    arrivals += [(int(turn), float(at)) for turn, at in (line.split() for line in lines)]


def _visit(port: int, count: int) -> None:
    """Read a page's events with ``count`` clients until the input ends; print beliefs' arrivals."""
    import http.client

    arrivals: list[tuple[int, float]] = []

    def read() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/api/events")
        reply = connection.getresponse()
        first = True
        while line := reply.readline():
            at = time.time()
            if line.startswith(b"data: "):
                # Cheap, so that it is the page that is measured and not its clients.
                if not first and b'"settled":true' not in line:
                    continue
                belief = json.loads(line[6:]).get("belief")
                # The first holds the whole session, which is older.
                if belief and belief["settled"] and not first and len(arrivals) < LAG_LINES:
                    arrivals.append((belief["turn"], at))
                first = False

    for _ in range(count):
        threading.Thread(target=read, daemon=True).start()
    sys.stdin.read()
    for turn, at in list(arrivals):
        print(turn, at)


if __name__ == "__main__":
    _visit(int(sys.argv[1]), int(sys.argv[2]))
