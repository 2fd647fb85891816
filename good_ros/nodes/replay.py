"""Publishing a recorded session again, as it was or faster."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from good_ros import recording
from good_ros.core.errors import InputError
from good_ros.nodes.convert import dict_to_message
from good_ros.nodes.qos import LATCHED_STREAM
from good_ros.nodes.topics import STREAM_TOPICS

TICK_S = 0.02
AT_ONCE = 20
"""Messages a tick, so that no listener's queue overflows however fast a session goes."""


class ReplayNode(Node):
    """Publishes a session's messages in the order and at the times of its record.

    ``rate``: 1 is the session's own time, 2 twice as fast, 0 as fast as it can be heard.
    ``longest_pause_s``: pauses in the record are cut to this; 0 leaves them.
    """

    def __init__(
        self, session: Path, rate: float = 1.0, longest_pause_s: float = 0.0, **node_arguments: Any
    ) -> None:
        messages = recording.read_all(session)
        if not messages:
            raise InputError(f"{session} holds no messages")
        super().__init__("replay", **node_arguments)
        self._due = deque(self._schedule(messages, rate, longest_pause_s))
        self.total = len(self._due)
        self._outputs = {
            kind: self.create_publisher(message_type, topic, LATCHED_STREAM)
            for kind, (topic, message_type) in STREAM_TOPICS.items()
        }
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)
        self._began: float | None = None
        self.create_timer(TICK_S, self._publish_due, clock=self._clock)

    @staticmethod
    def _schedule(
        messages: list[tuple[str, dict[str, Any]]], rate: float, longest_pause_s: float
    ) -> list[tuple[float, str, dict[str, Any]]]:
        """(seconds after the start, kind, line) in order."""
        result = []
        at, last = 0.0, float(messages[0][1]["time"])
        for kind, line in messages:
            pause = float(line["time"]) - last
            last += pause
            at += min(pause, longest_pause_s) if longest_pause_s > 0 else pause
            result.append((at / rate if rate > 0 else 0.0, kind, line))
        return result

    @property
    def published(self) -> int:
        return self.total - len(self._due)

    def is_over(self) -> bool:
        return not self._due

    def _publish_due(self) -> None:
        now = float(self._clock.now().nanoseconds) * 1e-9
        if self._began is None:
            self._began = now
        for _ in range(AT_ONCE):
            if not self._due or self._due[0][0] > now - self._began:
                return
            _, kind, line = self._due.popleft()
            self._outputs[kind].publish(dict_to_message(STREAM_TOPICS[kind][1], line))
