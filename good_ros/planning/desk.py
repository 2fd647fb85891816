"""Where a worker waits for a word from outside: an approval, or the answer to a question."""

from __future__ import annotations

import threading
import time
from typing import Generic, Protocol, TypeVar

POLL_S = 0.05

T = TypeVar("T")


class Stop(Protocol):
    """What a wait or a plan looks at to see whether to stop; a threading.Event is one."""

    def is_set(self) -> bool: ...


class AnyStop:
    """Set where any of several is."""

    def __init__(self, *stops: Stop | None) -> None:
        self._stops = [stop for stop in stops if stop is not None]

    def is_set(self) -> bool:
        return any(stop.is_set() for stop in self._stops)


class Desk(Generic[T]):
    """One word at a time is waited for, by one thread; any thread may hand it in."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._awaited: object = None
        self._word: list[T] = []

    def expect(self, key: object) -> None:
        """From now on the word for ``key`` is taken, though nobody waits for it yet."""
        with self._changed:
            self._awaited, self._word = key, []

    def wait(self, key: object, timeout_s: float, stop: Stop | None = None) -> T | None:
        """The word for ``key``; None once the time is over or ``stop`` is set."""
        end = time.monotonic() + timeout_s
        with self._changed:
            if self._awaited != key:
                self._awaited, self._word = key, []
            try:
                while not self._word:
                    left = end - time.monotonic()
                    if left <= 0 or (stop is not None and stop.is_set()):
                        return None
                    self._changed.wait(min(left, POLL_S))
                return self._word[0]
            finally:
                self._awaited = None

    def hand_in(self, key: object, word: T) -> bool:
        """False where ``key`` is not waited for, or has its word already."""
        with self._changed:
            if self._awaited is None or self._awaited != key or self._word:
                return False
            self._word = [word]
            self._changed.notify_all()
            return True
