"""Each node's own report on ``/diagnostics``, from its own thread: a node that hangs is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from std_msgs.msg import Header

from good_ros.monitor.health import Health, health_of
from good_ros.nodes.parameters import DIAGNOSTICS_PERIOD
from good_ros.nodes.qos import DIAGNOSTICS

if TYPE_CHECKING:
    from good_ros.nodes.base import GoodNode

TOPIC = "/diagnostics"
"""Absolute, as every tool that shows diagnostics expects it; the names tell namespaces apart."""
HARDWARE_ID = "good_ros"


def health_to_msg(name: str, health: Health) -> DiagnosticStatus:
    """A node's health as a diagnostic status; ``name`` is its full name."""
    return DiagnosticStatus(
        level=bytes([int(health.level)]),
        name=name,
        message=health.message,
        hardware_id=HARDWARE_ID,
        values=[KeyValue(key=key, value=value) for key, value in health.facts.items()],
    )


class HealthReport:
    """Publishes how ``node`` is, once a period."""

    def __init__(self, node: GoodNode) -> None:
        self._node = node
        period = float(node.get_parameter(DIAGNOSTICS_PERIOD.name).value)
        if period == 0.0:
            return
        self._publisher = node.create_publisher(DiagnosticArray, TOPIC, DIAGNOSTICS)
        # A simulated clock that stands still must not make a node look dead.
        node.create_timer(period, self._publish, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def health(self) -> Health:
        """How the node is now."""
        node, worker = self._node, self._node.worker
        facts = {
            "life cycle": node.life_cycle,
            "busy": "yes" if worker.busy else "no",
            "queue length": str(worker.queue_length),
            "seconds of the last job": f"{worker.last_seconds:.2f}",
            "last error": worker.last_error or "none",
        }
        if node.life_cycle != "unconfigured":
            facts |= node.facts()
            problem = node.problem() or worker.last_error
        else:
            problem = ""
        return health_of(node.life_cycle, node.failure, problem, facts)

    def _publish(self) -> None:
        name = self._node.get_fully_qualified_name()
        self._publisher.publish(
            DiagnosticArray(
                header=Header(stamp=self._node.get_clock().now().to_msg()),
                status=[health_to_msg(name, self.health())],
            )
        )
