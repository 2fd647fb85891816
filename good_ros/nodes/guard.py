"""Callbacks that may fail: rclpy lets what they raise end the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from good_ros.nodes.worker import in_full


def guarded(node: Node, callback: Callable[[Any], Any], what: str) -> Callable[[Any], None]:
    """``callback`` for one message: what it raises is told by ``node``, and the message passed
    over."""

    def call(message: Any) -> None:
        try:
            callback(message)
        except Exception as error:
            node.get_logger().error(f"{what} is passed over: {in_full(error)}")

    return call
