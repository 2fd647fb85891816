"""Goals in plain language, and the set of them that the belief is over.

Source: GOOD, III-A (the goal list starts as ['Unspecified']) and III-D.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

UNSPECIFIED_ID = "unspecified"
UNSPECIFIED_TEXT = "Unspecified"


class GoalOrigin(IntEnum):
    """Where a goal came from; the values are those of ``Goal.msg``."""

    UNSPECIFIED = 0
    CONFIG = 1
    PROPOSED = 2
    PERSON = 3


class RemovalReason(IntEnum):
    """Why a goal was removed; the values are those of ``GoalRemoval.msg``."""

    MODEL = 1
    LEAST_LIKELY = 2
    UNSAFE = 3
    PERSON = 4
    OVER_CAP = 5


@dataclass(frozen=True)
class Goal:
    """One hypothesis about what the person wants.

    ``prior`` is a weight (above 0, no unit); the belief normalises the weights
    of the current set. ``created_turn`` is 0 for goals that stood before the
    first turn.
    """

    id: str
    text: str
    origin: GoalOrigin = GoalOrigin.PROPOSED
    created_turn: int = 0
    prior: float = 1.0
    pinned: bool = False

    @property
    def is_unspecified(self) -> bool:
        return self.id == UNSPECIFIED_ID


def unspecified_goal(prior: float = 1.0) -> Goal:
    """The hypothesis that the person has no goal that is in the set (III-D)."""
    return Goal(UNSPECIFIED_ID, UNSPECIFIED_TEXT, GoalOrigin.UNSPECIFIED, 0, prior, pinned=True)


@dataclass(frozen=True)
class GoalRemoval:
    """A goal that was removed, and why; ``detail`` in words."""

    goal: Goal
    reason: RemovalReason
    detail: str = ""


@dataclass(frozen=True)
class GoalSet:
    """The goals at one version, with the edit that led to it."""

    session_id: str
    turn: int
    version: int
    goals: tuple[Goal, ...]
    added: tuple[Goal, ...] = ()
    removed: tuple[GoalRemoval, ...] = field(default=())
    speaker_id: str = ""
    """Whose goals; empty where there is one belief for all speakers."""

    @property
    def in_words(self) -> tuple[Goal, ...]:
        """The goals but for 'Unspecified'; these count against a cap."""
        return tuple(goal for goal in self.goals if not goal.is_unspecified)
