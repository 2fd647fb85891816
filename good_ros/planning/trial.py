"""A plan tried on a snapshot of the world: what would be so afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from good_ros.core.plan import Step
from good_ros.worlds.base import ObjectView, World

ASPECTS = ("open", "toggled", "broken", "sliced", "cooked", "dirty", "liquid")
"""What of an object's state a plan may change, beside its place."""


@dataclass(frozen=True)
class Trial:
    """All objects before and after; ``done`` is how many steps could be done."""

    before: tuple[ObjectView, ...]
    after: tuple[ObjectView, ...]
    done: int

    def changed(self) -> list[tuple[ObjectView, str]]:
        """(object as it was, aspect) of what the steps changed; the aspect is ``place`` or one
        of ASPECTS. A receptacle's contents are not its own."""
        after = {item.id: item for item in self.after}
        found = []
        for item in self.before:
            now = after.get(item.id)
            if now is None or _place(item) != _place(now):
                found.append((item, "place"))
            if now is not None:
                found += [(item, a) for a in ASPECTS if item.state.get(a) != now.state.get(a)]
        return found


def _place(item: ObjectView) -> tuple[object, ...]:
    return (item.inside[:1], bool(item.state.get("held")))


def try_out(world: World, steps: Iterable[Step]) -> Trial:
    """Do the steps up to the first that fails, look, and leave the world as it was."""
    snapshot = world.snapshot()
    before: Sequence[ObjectView] = world.observe()
    done = 0
    try:
        for step in steps:
            if not world.act(step).success:
                break
            done += 1
        after = world.observe()
    finally:
        world.restore(snapshot)
    return Trial(tuple(before), tuple(after), done)
