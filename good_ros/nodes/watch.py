"""Following a session from outside its stack, whatever its namespace."""

from __future__ import annotations

from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from good_ros.monitor.health import Level
from good_ros.monitor.session import SessionView
from good_ros.msg import GoalBelief
from good_ros.nodes import diagnostics
from good_ros.nodes.convert import message_to_dict
from good_ros.nodes.definitions import type_name
from good_ros.nodes.guard import guarded
from good_ros.nodes.qos import DIAGNOSTICS, LATCHED_STREAM
from good_ros.nodes.topics import STREAM_TOPICS


def belief_namespaces(node: Node) -> list[str]:
    """The namespaces in which a belief is published, found by its type; ``""`` is the root."""
    return sorted(
        {
            name.rpartition("/")[0]
            for name, types in node.get_topic_names_and_types()
            if type_name(GoalBelief) in types and node.get_publishers_info_by_topic(name)
        }
    )


class WatchNode(Node):
    """Builds up the view of the session of one namespace from its latched topics."""

    def __init__(self, namespace: str, **node_arguments: Any) -> None:
        super().__init__("watch", namespace=namespace or None, **node_arguments)
        self.view = SessionView(self.get_namespace())
        self.changes = 0
        self._early: list[tuple[str, Any]] = []
        for kind, (topic, message_type) in STREAM_TOPICS.items():
            heard = guarded(self, partial(self._hear, kind), f"a message on {topic}")
            self.create_subscription(message_type, topic, heard, LATCHED_STREAM)
        self.create_subscription(
            DiagnosticArray, diagnostics.TOPIC, self._on_diagnostics, DIAGNOSTICS
        )

    def _hear(self, kind: str, message: Any) -> None:
        if kind == "transcript" and message.session_id != self.view.session_id:
            self.view.begin(message.session_id)
            early, self._early = self._early, []
            for early_kind, early_message in early:
                self._hear(early_kind, early_message)
        if message.session_id != self.view.session_id:
            self._early = [*self._early[-20:], (kind, message)]
            return
        self.view.hear(kind, message_to_dict(message))
        self.changes += 1

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            ours = status.name.rpartition("/")[0] == self.get_namespace().rstrip("/")
            if status.hardware_id == diagnostics.HARDWARE_ID and ours:
                level = Level(status.level[0]).name
                if self.view.node_is(status.name, level, status.message, {}):
                    self.changes += 1
