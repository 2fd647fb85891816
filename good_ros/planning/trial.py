"""A plan tried on a snapshot of the world: what would be so afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from good_ros.core.plan import Step
from good_ros.planning.check import CheckedPlan, check
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


def rehearsal_of(world: World) -> World:
    """Where plans for a world are tried: the world itself, or, where it is a physical one, what
    it gives in its place (``rehearsal``), so that nothing moves."""
    make: Callable[[], World] | None = getattr(world, "rehearsal", None)
    return make() if make else world


class Trials:
    """Trials from the world's present state, each plan tried once: in a world that cannot go
    back at once, such as a game engine, a trial takes seconds."""

    def __init__(self, world: World) -> None:
        self.world = rehearsal_of(world)
        self._known: dict[tuple[Step, ...], Trial] = {}

    def of(self, steps: Sequence[Step]) -> Trial:
        """What would be so after the steps, up to the first that fails."""
        key = tuple(steps)
        if key not in self._known:
            self._known[key] = try_out(self.world, key)
        return self._known[key]

    def check(self, steps: Sequence[Step]) -> CheckedPlan:
        """``planning.check.check``, whose own trial is remembered."""
        checked = check(self.world, tuple(steps))
        if not checked.problem:
            before = self.of(()).before
            self._known[checked.steps] = Trial(before, checked.after, len(checked.steps))
        return checked


def try_out(world: World, steps: Sequence[Step]) -> Trial:
    """Do the steps up to the first that fails, look, and leave the world as it was."""
    before = tuple(world.observe())
    if not steps:
        return Trial(before, before, 0)
    snapshot = world.snapshot()
    done = 0
    try:
        for step in steps:
            if not world.act(step).success:
                break
            done += 1
        after = tuple(world.observe())
    finally:
        world.restore(snapshot)
    return Trial(before, after, done)
