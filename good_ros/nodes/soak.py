"""A long session with scripted models: is a turn lost or doubled, does memory or time grow?"""

from __future__ import annotations

import contextlib
import gc
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from good_ros import recording
from good_ros.language.generator import Message, Reply, Sampling
from good_ros.language.scripted import ScriptedGenerator
from good_ros.node_names import NODES
from good_ros.nodes import monitor_bench as bench
from good_ros.nodes.stack import Stack, StackOptions

SETTLING_TURNS = 50
"""Not counted for memory: caches fill, and Python's allocator finds its size."""
YARDSTICK = 200_000
WINDOW = 50
"""Turns at each end whose median times are compared."""


@dataclass(frozen=True)
class Soak:
    """``memory_slope_kb_per_turn``: least squares over the resident memory after each turn, in
    kB of 1,000 bytes. ``turn_time_ratio_last_first``: medians of the last and the first turns, each
    turn's time taken over that of a fixed piece of work right after it, since other programs on
    the machine stretch both; ``turn_seconds_ratio_last_first`` without that."""

    turns: int
    turns_lost: int
    turns_doubled: int
    memory_slope_kb_per_turn: float
    turn_time_ratio_last_first: float
    turn_seconds_ratio_last_first: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class EndlessGenerator(ScriptedGenerator):
    """A scripted generator that forgets what it was asked, so that it does not grow itself."""

    def generate(self, messages: Sequence[Message], sampling: Sampling, *a: Any, **k: Any) -> Reply:
        try:
            return super().generate(messages, sampling, *a, **k)
        finally:
            self.calls.clear()


def run(turns: int, on_turn: Callable[[int], None] = lambda turn: None) -> Soak:
    """One session of so many turns on a composed stack, every node and the recording included.

    Raises GoodError where the stack stops answering.
    """
    with contextlib.ExitStack() as opened:
        for name, say in (
            ("dialog", bench._question),
            ("goal_manager", bench._goals),
            ("executor", bench._plan),
        ):
            lines = bench.working_generator(lambda: None, say)._lines  # type: ignore[arg-type]
            opened.enter_context(
                mock.patch(
                    f"good_ros.nodes.{name}.make_generator", return_value=EndlessGenerator(lines)
                )
            )
        opened.enter_context(
            mock.patch(
                "good_ros.nodes.goal_belief.make_scorer",
                return_value=bench.WorkingScorer(lambda: None),  # type: ignore[arg-type]
            )
        )
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        parameters = {"*": {"sessions_folder": str(folder), "max_turns": turns}}
        stack = Stack(
            StackOptions(NODES, parameters=parameters, ros_arguments=["--disable-stdout-logs"])
        )
        opened.callback(stack.close)
        talker = bench.Talker(context=stack.context)
        stack.add(talker)
        stack.start()
        memory, yardsticks = [], []
        for turn in range(1, turns + 1):
            bench._block(stack, talker, 1)
            yardsticks.append(_yardstick_s())
            memory.append(_resident_kb())
            on_turn(turn)
        monitor: Any = stack.nodes["monitor"]
        recorded = recording.read(monitor.folder, "beliefs")
        said = recording.read(monitor.folder, "transcript")
    return measure(turns, talker.seconds, yardsticks, memory, recorded, said)


def measure(
    turns: int,
    seconds: Sequence[float],
    yardsticks: Sequence[float],
    memory_kb: Sequence[float],
    beliefs: Sequence[Mapping[str, Any]],
    transcript: Sequence[Mapping[str, Any]],
) -> Soak:
    """From the times and the memory after each turn, and what was recorded."""
    settled = Counter(b["turn"] for b in beliefs if b["settled"])
    heard = {line["turn"]: line for line in transcript if line.get("turn")}
    wanted = range(1, turns + 1)
    lost = [t for t in wanted if not settled[t] or t not in heard]
    doubled = [t for t in wanted if settled[t] > 1]
    counted = memory_kb[SETTLING_TURNS:] if len(memory_kb) > 2 * SETTLING_TURNS else memory_kb
    slope = float(np.polyfit(range(len(counted)), counted, 1)[0]) if len(counted) > 1 else 0.0
    measured = [s / yard for s, yard in zip(seconds, yardsticks, strict=True)]
    ratios = [_last_to_first(values) for values in (measured, seconds)]
    return Soak(turns, len(lost), len(doubled), round(slope, 2), *(round(r, 3) for r in ratios))


def _last_to_first(values: Sequence[float]) -> float:
    window = max(1, min(WINDOW, len(values) // 4))
    return statistics.median(values[-window:]) / statistics.median(values[:window])


def _yardstick_s() -> float:
    """Seconds that a fixed piece of work takes now."""
    began = time.perf_counter()
    sum(number % 7 for number in range(YARDSTICK))
    return time.perf_counter() - began


def _resident_kb() -> float:
    """Resident memory of this process in kB of 1,000 bytes."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1000
