"""What can go wrong with a player, on demand."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEAD, MUTE, DEAD_AFTER_HELLO = "dead", "mute", "dead-after-hello"
CRASH, CUT, HANG, LATE = "crash", "cut", "hang", "late"
WRONG_NUMBER, GARBAGE, LIE = "wrong-number", "garbage", "lie"
KINDS = {
    DEAD: "ends before it opens its pipe",
    MUTE: "never opens its pipe",
    DEAD_AFTER_HELLO: "says hello and ends",
    CRASH: "ends in the middle of an action",
    CUT: "ends in the middle of an answer",
    HANG: "never answers an action",
    LATE: "answers an action after a delay",
    WRONG_NUMBER: "answers with another action's number",
    GARBAGE: "answers with bytes that are no message",
    LIE: "says that an action worked and does not do it",
}
AT_START = (DEAD, MUTE, DEAD_AFTER_HELLO)
FOR_EVER_S = 3600.0


@dataclass
class Trouble:
    """One kind of trouble: with the ``number``-th action of the name ``action`` (any action
    where it is empty), after ``delay_s`` where it is late; where ``once`` names a file, only
    until that file is there."""

    kind: str = ""
    action: str = ""
    number: int = 1
    delay_s: float = 0.0
    once: str = ""

    def __post_init__(self) -> None:
        self._left = self.number

    def is_due(self, action: Mapping[str, Any]) -> bool:
        """Whether it comes with this action; it comes once a process."""
        if not self.kind or self.kind in AT_START or self._left < 1:
            return False
        if self.action and action.get("action") != self.action:
            return False
        self._left -= 1
        return self._left == 0 and self._first_time()

    def at_start(self, kind: str) -> bool:
        """Whether a trouble of the start comes now."""
        return self.kind == kind and self._first_time()

    def wait(self) -> None:
        """Hang, or be late."""
        time.sleep(self.delay_s if self.kind == LATE else FOR_EVER_S)

    def _first_time(self) -> bool:
        if not self.once:
            return True
        try:
            Path(self.once).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def crash() -> None:
    """End as a process does that the system kills."""
    os.kill(os.getpid(), signal.SIGKILL)
