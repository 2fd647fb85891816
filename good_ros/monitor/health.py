"""How a node is: what its diagnostics say, and which nodes have fallen silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum


class Level(IntEnum):
    """The values are those of ``diagnostic_msgs/DiagnosticStatus``."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True)
class Health:
    """A node's state at one time; ``facts`` are what it tells of itself, by name."""

    level: Level
    message: str
    facts: Mapping[str, str] = field(default_factory=dict)


def health_of(life_cycle: str, failure: str, error: str, facts: Mapping[str, str]) -> Health:
    """From a node's life-cycle state, why it could not be configured, and its last job's error."""
    if failure:
        return Health(Level.ERROR, f"could not be configured: {failure}", facts)
    if error:
        return Health(Level.ERROR, error, facts)
    if life_cycle != "active":
        return Health(Level.WARN, life_cycle, facts)
    return Health(Level.OK, "active", facts)


class SilenceWatch:
    """Tells which of the nodes that were heard have been silent for too long: longer than
    ``after_s``. It looks every ``every_s`` seconds."""

    def __init__(self, after_s: float, every_s: float) -> None:
        self.after_s = after_s
        self.every_s = every_s
        self._last_heard: dict[str, float] = {}
        self._last_look: float | None = None

    def hear(self, name: str, now: float) -> None:
        """``now``: seconds of a clock that never goes back."""
        self._last_heard[name] = now

    def look(self, now: float) -> dict[str, float]:
        """By name, how many seconds a node has been silent, where that is too long.

        Time in which this watch itself was held up counts for nobody: what the nodes said
        meanwhile is still to be heard.
        """
        if self._last_look is not None:
            held_up = now - self._last_look - self.every_s
            if held_up > self.every_s:
                self._last_heard = {n: at + held_up for n, at in self._last_heard.items()}
        self._last_look = now
        return {
            name: now - heard
            for name, heard in sorted(self._last_heard.items())
            if now - heard > self.after_s
        }
