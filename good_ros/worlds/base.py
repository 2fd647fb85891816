"""The one interface of every world that the executor can act on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from good_ros.core.plan import ErrorCode, Step


@dataclass(frozen=True)
class ActionOutcome:
    """What the world did with a step.

    ``effect`` is read back from the world's state after the action, in plain
    words; ``detail`` keeps the engine's own message where it failed.
    """

    success: bool
    effect: str = ""
    error_code: ErrorCode = ErrorCode.NONE
    error_msg: str = ""
    detail: str = ""


@dataclass(frozen=True)
class ObjectView:
    """One object as the planner sees it.

    ``id`` is the world's own id, ``name`` a short one that is unique in the scene
    and stable over a session (``Mug_2``), ``affordances`` the actions it allows
    (``pickupable``, ``openable``, …), ``state`` what is true of it now, and
    ``inside`` the ids of what it is in or on, nearest first.
    """

    id: str
    name: str
    type: str
    affordances: frozenset[str] = frozenset()
    state: Mapping[str, Any] = field(default_factory=dict)
    inside: tuple[str, ...] = ()


class World(Protocol):
    """observe, list possible actions, act, snapshot, restore, describe."""

    name: str

    def reset(self, scene: str, seed: int = 0) -> None:
        """Set up a scene from its start. Raises WorldError where there is no such scene."""

    def observe(self) -> Sequence[ObjectView]:
        """All objects, in a stable order."""

    def possible_actions(self, relevant: Sequence[str]) -> Sequence[Step]:
        """Steps that the affordances of the ``relevant`` objects (ids) allow, labelled.

        They are not all executable now: a put needs its object in hand first.
        """

    def act(self, step: Step) -> ActionOutcome:
        """Do one step. A failure leaves the world as it was; it never raises for one."""

    def snapshot(self) -> object:
        """An opaque, immutable state for ``restore``; cheap."""

    def restore(self, snapshot: object) -> None:
        """Go back to ``snapshot``."""

    def verify(self, step: Step) -> str | None:
        """Whether the effect of ``step`` holds now: None, or what is not so, in words."""

    def describe(self) -> str:
        """The room in a few lines of plain words, for prompts and people."""

    def close(self) -> None:
        """Let go of what the world holds outside of this process; it can be reset again."""


@runtime_checkable
class Searchable(Protocol):
    """A world with too many objects to name: what matters is found by search terms (IV-B3)."""

    name: str

    def search(self, term: str, count: int = 1, without: Collection[str] = ()) -> list[str]:
        """Ids of the objects that fit a term best, best first, none of ``without`` among them."""


@runtime_checkable
class Closing(Protocol):
    """A world in which a task ends with an action, such as buying (III-E2)."""

    def closing_step(self) -> Step:
        """The step that ends the task."""
