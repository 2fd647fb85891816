"""What every node of the stack shares: life cycle, parameters, worker, main."""

from __future__ import annotations

import contextlib
import inspect
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol, TypeVar

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import (
    LifecycleNode,
    LifecyclePublisher,
    LifecycleState,
    TransitionCallbackReturn,
)
from rclpy.qos import QoSProfile
from rclpy.utilities import remove_ros_args
from std_msgs.msg import Header

from good_ros.core.errors import GoodError, one_line
from good_ros.nodes.diagnostics import HealthReport
from good_ros.nodes.guard import guarded
from good_ros.nodes.parameters import EVERY_NODE, Parameter, declare, read, unknown
from good_ros.nodes.worker import CLOSING_S, Worker, in_full, in_short


class Closable(Protocol):
    """What holds something until it is closed."""

    def close(self) -> None: ...


Kept = TypeVar("Kept", bound=Closable)


class GoodNode(LifecycleNode):
    """A life-cycle node with declared parameters and a worker for model calls.

    A subclass names its ``PARAMETERS`` and overrides ``setup`` (on configure: load what is
    heavy; what it raises makes configure fail with its message), ``start`` (on activate),
    ``stop`` (on deactivate) and ``teardown`` (on cleanup: free what setup made).
    """

    NAME: ClassVar[str]
    PARAMETERS: ClassVar[Sequence[Parameter]] = ()

    def __init__(self, **node_arguments: Any) -> None:
        """Raises GoodError where a parameter has a value that it cannot have."""
        super().__init__(self.NAME, **node_arguments)
        try:
            declare(self, (*EVERY_NODE, *self.PARAMETERS))
        except GoodError:
            self.destroy_node()
            raise
        for words in unknown(self):
            self.get_logger().warning(words)
        self.worker = Worker(self)
        self.active = False
        self.failure = ""
        """Why the last configure failed."""
        self.life_cycle = "unconfigured"
        self._made: list[Callable[[], Any]] = []
        self._health = HealthReport(self)

    # What a subclass overrides.

    def setup(self, values: SimpleNamespace) -> None:
        """Make publishers and subscriptions and load models; raises GoodError."""

    def start(self) -> None:
        """Begin to act."""

    def stop(self) -> None:
        """Cease to act; state is kept."""

    def teardown(self) -> None:
        """Free what setup made."""

    def facts(self) -> Mapping[str, str]:
        """What diagnostics tell of a configured node beside what they tell of every one."""
        return {}

    def problem(self) -> str:
        """What is wrong now, in one line, where that is not the last job's error."""
        return ""

    # Life cycle.

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self.setup(read(self, self.PARAMETERS))
        except Exception as error:
            # rclpy would pass over whatever else is raised without a word.
            self.failure = in_short(error)
            # What a signal has cut short is no failure to be told.
            if self.context.ok():
                foreseen = isinstance(error, GoodError | ValueError)
                told = self.failure if foreseen else in_full(error)
                self.get_logger().error(f"cannot configure: {told}")
            self._free()
            return TransitionCallbackReturn.FAILURE
        self.failure, self.life_cycle = "", "inactive"
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        result = super().on_activate(state)
        self.active, self.life_cycle = True, "active"
        try:
            self.start()
        except Exception as error:
            return self._broken("activate", error)
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self._stop()
        except Exception as error:
            return self._broken("deactivate", error)
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        if not self.worker.drain():
            self.get_logger().error("cannot clean up: a job goes on still; try again later")
            return TransitionCallbackReturn.FAILURE
        self._free()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._end()
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After a failure that nobody foresaw: back to unconfigured, whence it can begin anew."""
        self.active = False
        self.worker.drain()
        self._free()
        return super().on_error(state)

    def _broken(self, what: str, error: Exception) -> TransitionCallbackReturn:
        """rclpy itself drops what a transition raises without a word."""
        self.failure = in_short(error)
        self.get_logger().error(f"cannot {what}: {in_full(error)}")
        return TransitionCallbackReturn.ERROR

    def _stop(self) -> None:
        self.worker.cancel_all()
        if self.active:
            self.active, self.life_cycle = False, "inactive"
            self.stop()

    def _end(self) -> bool:
        """Stop and free, whatever fails on the way; False where a job goes on still."""
        try:
            self._stop()
        except Exception as error:
            self.get_logger().error(f"not stopped in good order: {in_full(error)}")
        ended = self.worker.drain()
        self._free()
        return ended

    def _free(self) -> None:
        self.life_cycle = "unconfigured"
        self._made.append(self.teardown)
        while self._made:
            try:
                self._made.pop()()
            except Exception as error:
                self.get_logger().error(f"not freed in good order: {in_full(error)}")

    def _answering(self, callback: Callable[..., Any], name: str) -> Callable[[Any, Any], Any]:
        """As ``guarded``, for requests: they are answered in any case."""

        def failed(response: Any, error: Exception) -> Any:
            self.get_logger().error(f"{name} failed: {in_full(error)}")
            for field in ("message", "reply"):
                if hasattr(response, field):
                    setattr(response, field, f"that failed: {in_short(error)}")
            return response

        def answer(request: Any, response: Any) -> Any:
            try:
                return callback(request, response)
            except Exception as error:
                return failed(response, error)

        async def answer_later(request: Any, response: Any) -> Any:
            try:
                return await callback(request, response)
            except Exception as error:
                return failed(response, error)

        return answer_later if inspect.iscoroutinefunction(callback) else answer

    # Helpers.

    def keep(self, resource: Kept) -> Kept:
        """``resource``, which is closed at cleanup."""
        self._made.append(resource.close)
        return resource

    def at_cleanup(self, action: Callable[[], Any]) -> None:
        """Run ``action`` at cleanup, before what was made earlier goes."""
        self._made.append(action)

    def publisher(self, message_type: type, topic: str, qos: QoSProfile) -> LifecyclePublisher:
        """A publisher that is silent unless active, and goes at cleanup."""
        result = self.create_lifecycle_publisher(message_type, topic, qos)
        self._made.append(lambda: self.destroy_lifecycle_publisher(result))
        return result

    def listen(
        self, message_type: type, topic: str, callback: Callable[[Any], None], qos: QoSProfile
    ) -> None:
        """A subscription that goes at cleanup; a message that ``callback`` fails on is told of."""
        heard = guarded(self, callback, f"a message on {topic}")
        result = self.create_subscription(message_type, topic, heard, qos)
        self._made.append(lambda: self.destroy_subscription(result))

    def serve(self, service_type: type, name: str, callback: Callable[[Any, Any], Any]) -> None:
        """A service that goes at cleanup; ``callback`` may be a coroutine that waits."""
        # In the node's own group a coroutine that waits would keep every other callback out.
        waits = inspect.iscoroutinefunction(callback)
        group = ReentrantCallbackGroup() if waits else None
        answer = self._answering(callback, name)
        result = self.create_service(service_type, name, answer, callback_group=group)
        self._made.append(lambda: self.destroy_service(result))

    def autostart(self) -> bool:
        """Configure and activate where the parameter says so; False where that failed."""
        if not self.get_parameter("autostart").value:
            return True
        return (
            self.trigger_configure() == TransitionCallbackReturn.SUCCESS
            and self.trigger_activate() == TransitionCallbackReturn.SUCCESS
        )

    def header(self) -> Header:
        return Header(stamp=self.get_clock().now().to_msg())

    def seconds(self) -> float:
        """Now, in seconds since the epoch, by the node's clock."""
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def close(self) -> None:
        """Stop whatever runs and free everything; the node cannot be used after."""
        ended = self._end()
        self.worker.close(CLOSING_S if ended else 0.0)
        self.destroy_node()


@contextlib.contextmanager
def readable_arguments() -> Iterator[None]:
    """Raises GoodError in place of what rclpy raises where it cannot read its arguments, such as
    a parameter file that is not there."""
    try:
        yield
    except rclpy_implementation.RCLError as error:
        # Behind the reason stand the lines of ROS's own source.
        reason = re.split(r"\s?, at /", one_line(error))[0]
        raise GoodError(re.sub(r"^failed to \w+ [\w ]+: ", "", reason, flags=re.I)) from error


def run(*node_types: type[GoodNode], args: Sequence[str] | None = None) -> int:
    """Run nodes in this process until a signal; the exit code of a console entry."""
    name = node_types[0].NAME
    try:
        with readable_arguments():
            others = remove_ros_args(list(sys.argv if args is None else args))[1:]
            if others:
                return _usage(name, others[0])
            rclpy.init(args=list(args) if args is not None else None)
    except GoodError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    executor = SingleThreadedExecutor()
    nodes: list[GoodNode] = []
    try:
        for node_type in node_types:
            node = node_type()
            nodes.append(node)
            executor.add_node(node)
        for node in nodes:
            # One that cannot be configured has said why; it stays, to be configured again.
            node.autostart()
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except GoodError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception:
        # A signal may shut the context down between rclpy's check and its wait.
        if rclpy.ok():
            raise
    finally:
        with uninterrupted():
            for node in nodes:
                node.close()
            executor.shutdown(timeout_sec=1.0)
            rclpy.try_shutdown()
    return 0


def _usage(name: str, argument: str) -> int:
    """Tells how a node's console entry is called; the exit code."""
    if argument in ("-h", "--help"):
        print(f"usage: {name} --ros-args -p PARAMETER:=VALUE … (docs/parameters.md)")
        return 0
    print(
        f"{name}: {argument!r} is not understood: parameters are given as "
        "--ros-args -p model:=small",
        file=sys.stderr,
    )
    return 2


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore SIGINT meanwhile: `ros2 launch` sends one to processes that the terminal's Ctrl-C
    has reached already, and closing should not be cut off. SIGTERM is rclpy's to handle."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
