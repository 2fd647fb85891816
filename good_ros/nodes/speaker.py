"""Publishing what a person typed, so that dialog surely hears it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_msgs.msg import Header

from good_ros.msg import Utterance

SEND_S = 0.1
SETTLE_S = 1.0
"""How long a match with dialog is let settle: a publisher knows of it before the subscription
does, and what is published in between is lost on a best-effort subscription."""


class Speaker:
    """Holds typed texts until dialog is there to hear them; ``publisher`` is of ``utterance``."""

    def __init__(self, node: Node, publisher: Any, name: str) -> None:
        self._node = node
        self._publisher = publisher
        self._name = name
        self._count = 0
        self._matched_s = 0.0
        self._typed: deque[tuple[str, Callable[[], None]]] = deque()
        self._timer = node.create_timer(SEND_S, self._send_typed)

    def say(self, text: str, when_sent: Callable[[], None] = lambda: None) -> None:
        """Publish ``text`` as soon as dialog hears it. Callable from any thread."""
        self._typed.append((text, when_sent))

    def close(self) -> None:
        self._node.destroy_timer(self._timer)

    def _send_typed(self) -> None:
        matched = self._publisher.get_subscription_count() > 0
        self._matched_s = self._matched_s + SEND_S if matched else 0.0
        while self._typed and self._matched_s >= SETTLE_S:
            text, when_sent = self._typed.popleft()
            self._send(text)
            when_sent()

    def _send(self, text: str) -> None:
        self._count += 1
        now = self._node.get_clock().now()
        self._publisher.publish(
            Utterance(
                header=Header(stamp=now.to_msg()),
                utterance_id=f"{self._name}-{now.nanoseconds}-{self._count}",
                text=text,
                confidence=1.0,
                is_final=True,
            )
        )
