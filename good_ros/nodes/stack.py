"""The stack in one process: which nodes there are, and how they are run together.

Composed, the nodes share one loaded model; the launch files start the same nodes as
processes of their own.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.logging import get_logger_effective_level, set_logger_level
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from good_ros.core.errors import GoodError, InputError
from good_ros.node_names import NODES
from good_ros.nodes.base import GoodNode, readable_arguments, uninterrupted
from good_ros.nodes.parameters import EVERY_NODE


def node_type(name: str) -> type[GoodNode]:
    """The class of a node by its name."""
    module = importlib.import_module(f"good_ros.nodes.{name}")
    class_name = "".join(part.capitalize() for part in name.split("_")) + "Node"
    result: type[GoodNode] = getattr(module, class_name)
    return result


def check_namespace(namespace: str) -> None:
    """Raises InputError where there cannot be such a namespace; an empty one is none."""
    if not re.fullmatch(r"/?|/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*", namespace, re.ASCII):
        raise InputError(
            f"{namespace!r} is no namespace: it has letters, digits, _ and /, such as robot1"
        )


@dataclass
class StackOptions:
    """How a stack is started; ``parameters`` are by node name, then parameter name.

    A parameter that a node does not have is passed over, so that one option (``model``) can
    be given to all.
    """

    nodes: Sequence[str] = NODES
    namespace: str = ""
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ros_arguments: Sequence[str] = ()
    handle_signals: bool = False
    """Whether SIGINT and SIGTERM end ``spin``; for a process that is the stack alone."""


class Stack:
    """Nodes composed in one process, on one thread beside their workers."""

    def __init__(self, options: StackOptions, context: Context | None = None) -> None:
        """Raises GoodError where ROS or a node cannot take an option."""
        check_namespace(options.namespace)
        self.context = context or Context()
        self.handles_signals = options.handle_signals
        arguments = ["--ros-args", *options.ros_arguments] if options.ros_arguments else None
        # rclpy handles signals by itself only for its default context.
        signals = SignalHandlerOptions.ALL if options.handle_signals else SignalHandlerOptions.NO
        # --log-level is of the whole process, and would outlast this stack.
        self._log_level = get_logger_effective_level("")
        with readable_arguments():
            rclpy.init(args=arguments, context=self.context, signal_handler_options=signals)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.nodes: dict[str, GoodNode] = {}
        self.others: list[Node] = []
        try:
            for name in options.nodes:
                self.nodes[name] = self._make(name, options)
                self.executor.add_node(self.nodes[name])
        except BaseException:
            self.close()
            raise

    def _make(self, name: str, options: StackOptions) -> GoodNode:
        kind = node_type(name)
        # The last is one that rclpy gives to every node.
        known = {p.name for p in (*EVERY_NODE, *kind.PARAMETERS)} | {"use_sim_time"}
        values = {
            key: value
            for key, value in (
                *options.parameters.get("*", {}).items(),
                *options.parameters.get(name, {}).items(),
            )
            if key in known
        }
        return kind(
            context=self.context,
            namespace=options.namespace or None,
            parameter_overrides=[Parameter(key, value=value) for key, value in values.items()],
        )

    def add(self, node: Node) -> None:
        """Run another node beside those of the stack; it is destroyed with it."""
        self.others.append(node)
        self.executor.add_node(node)

    def start(self, strict: bool = True) -> None:
        """Configure every node, then activate them, dialog last.

        Where one cannot be: raises GoodError if ``strict``, else it stays as it is, to be
        configured again through its life-cycle services, and the others are activated.
        """
        ready = []
        for name, node in self.nodes.items():
            if node.trigger_configure() == TransitionCallbackReturn.SUCCESS:
                ready.append((name, node))
            elif not self.context.ok():
                # It was cut short by a signal, and failed for that.
                raise KeyboardInterrupt
            elif strict:
                raise GoodError(f"{name}: {node.failure or 'could not be configured'}")
        for name, node in reversed(ready):
            if node.trigger_activate() == TransitionCallbackReturn.SUCCESS:
                continue
            if not self.context.ok():
                raise KeyboardInterrupt
            if strict:
                raise GoodError(f"{name}: {node.failure or 'could not be activated'}")

    def spin(
        self, until: Callable[[], bool] = lambda: False, timeout_s: float | None = None
    ) -> bool:
        """Run callbacks until ``until()`` holds, a signal comes or the time is over.

        True where ``until()`` held.
        """
        end = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            while self.context.ok():
                if until():
                    return True
                if end is not None and time.monotonic() > end:
                    return False
                self.executor.spin_once(timeout_sec=0.2)
        except ExternalShutdownException:
            pass
        except KeyboardInterrupt:
            # rclpy hands SIGINT on to Python once it has shut the context down.
            if not self.handles_signals:
                raise
        except Exception:
            # A signal may shut the context down between the check and the wait.
            if self.context.ok():
                raise
        return False

    def close(self) -> None:
        """Stop everything; what was recorded is complete."""
        with uninterrupted() if self.handles_signals else contextlib.nullcontext():
            for node in self.nodes.values():
                node.close()
            for other in self.others:
                other.destroy_node()
            self.executor.shutdown(timeout_sec=1.0)
            self.context.try_shutdown()
            set_logger_level("", self._log_level)
