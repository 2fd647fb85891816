"""Model calls beside the graph: one thread a node, results handed back to the graph's thread.

A callback that waited for a model would hold up every other callback of the process
(rclpy #1398), so a node submits a job and goes on; when the job ends, ``then`` runs as an
ordinary callback of the node. All of a node's state is thus touched by one thread only.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from traceback import format_exception
from typing import Any, TypeVar

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node

from good_ros.core.errors import GoodError, ModelCancelled, one_line

T = TypeVar("T")
Job = Callable[[threading.Event], Any]
CLOSING_S = 10.0
"""How long a job that was cancelled is waited for."""


def in_short(error: BaseException) -> str:
    """What went wrong, for people, in one line: an error of ours says it, another one has its class
    as well."""
    said = one_line(error)
    if isinstance(error, GoodError | ValueError) and said:
        return said
    return f"{type(error).__name__}: {said}"


def in_full(error: BaseException) -> str:
    """As ``in_short``, and for an error that nobody foresaw where it came from."""
    trace = "" if isinstance(error, GoodError) else "\n" + "".join(format_exception(error)).rstrip()
    return in_short(error) + trace


class Worker:
    """Runs jobs one after the other. A job gets an event that is set once it is unwanted."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._jobs: queue.SimpleQueue[tuple[Job, Callable[..., None], threading.Event] | None]
        self._jobs = queue.SimpleQueue()
        self._posted: deque[Callable[[], None]] = deque()
        self._cancels: set[threading.Event] = set()
        self._guard = node.create_guard_condition(self._run_posted)
        self.last_error = ""
        """Why the last job failed; empty once one ends well."""
        self.last_seconds = 0.0
        """How long the last job took."""
        self._running = False
        self._thread = threading.Thread(
            target=self._work, name=f"{node.get_name()} worker", daemon=True
        )
        self._thread.start()
        self._closed = False

    @property
    def busy(self) -> bool:
        return self._running

    @property
    def queue_length(self) -> int:
        """How many jobs wait for the one that runs."""
        return self._jobs.qsize()

    def submit(
        self,
        job: Callable[[threading.Event], T],
        then: Callable[[T | None, BaseException | None], None],
    ) -> threading.Event:
        """Queue ``job(cancel)``; ``then(result, error)`` follows in the graph's thread.

        Setting the returned event asks the job to stop; ``then`` is not called after that.
        """
        cancel = threading.Event()
        self._cancels.add(cancel)
        self._jobs.put((job, then, cancel))
        return cancel

    def post(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` in the graph's thread; callable from any thread."""
        self._posted.append(callback)
        # The node may go at any moment where a job did not end in time.
        with contextlib.suppress(InvalidHandle):
            if not self._closed:
                self._guard.trigger()

    def cancel_all(self) -> None:
        """Ask every job to stop, and forget their results."""
        for cancel in list(self._cancels):
            cancel.set()

    def drain(self, timeout_s: float = CLOSING_S) -> bool:
        """Cancel every job and wait for the one that runs, so that what it uses can be freed;
        False where it still goes on after ``timeout_s`` seconds."""
        if self._closed:
            return True
        self.cancel_all()
        ended = threading.Event()
        self._jobs.put((lambda cancel: ended.set(), lambda result, error: None, threading.Event()))
        return ended.wait(timeout_s)

    def close(self, timeout_s: float = CLOSING_S) -> None:
        """Stop, and wait for the running job to notice."""
        if self._closed:
            return
        self._closed = True
        self.cancel_all()
        self._jobs.put(None)
        self._thread.join(timeout_s)
        self._node.destroy_guard_condition(self._guard)

    def _work(self) -> None:
        while (item := self._jobs.get()) is not None:
            job, then, cancel = item
            result: Any = None
            error: BaseException | None = None
            if not cancel.is_set():
                self._running, began = True, time.monotonic()
                try:
                    result = job(cancel)
                except BaseException as caught:
                    error = caught
                self._running, self.last_seconds = False, time.monotonic() - began
                if not isinstance(error, ModelCancelled):
                    self.last_error = "" if error is None else str(error) or repr(error)
            self.post(partial(self._finish, then, cancel, result, error))
            del item, job, then, cancel, result, error

    def _finish(
        self,
        then: Callable[[Any, BaseException | None], None],
        cancel: threading.Event,
        result: Any,
        error: BaseException | None,
    ) -> None:
        self._cancels.discard(cancel)
        if not cancel.is_set():
            then(result, error)

    def _run_posted(self) -> None:
        while self._posted:
            try:
                self._posted.popleft()()
            except Exception as error:
                self.last_error = in_short(error)
                self._node.get_logger().error(f"unforeseen: {in_full(error)}")
