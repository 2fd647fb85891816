"""Waiting inside a coroutine callback, without a thread and without a whole core."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Protocol

POLL_S = 0.002


class Waitable(Protocol):
    """What can be waited for; an rclpy Future is one."""

    def done(self) -> bool: ...


class _NextCycle:
    def __await__(self) -> Generator[None, None, None]:
        yield


async def until_done(future: Waitable) -> None:
    """Give way to other callbacks until ``future`` is done.

    rclpy resumes a waiting coroutine in every cycle of its executor, without a pause; this one
    pauses for POLL_S seconds each time, which is all that other callbacks are held up.
    """
    while not future.done():
        time.sleep(POLL_S)
        await _NextCycle()
