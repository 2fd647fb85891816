"""Plans are tried on a snapshot before anything is done, and put right where that is certain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from good_ros.core.plan import Step
from good_ros.worlds.base import ObjectView, World

PICKUP, PUT = "PickupObject", "PutObject"


@dataclass(frozen=True)
class CheckedPlan:
    """The plan as it can be carried out, what was put right, and the first step that cannot
    be done, with the world's reason."""

    steps: tuple[Step, ...]
    repairs: tuple[str, ...] = ()
    problem: str = ""
    after: tuple[ObjectView, ...] = ()
    """All objects after the steps; empty where there is a problem."""
    implied: int = 0
    """How many of ``repairs`` are pick-ups, which the planner is told to leave out."""


def check(world: World, steps: tuple[Step, ...]) -> CheckedPlan:
    """Try ``steps`` from the world's present state, which is left as it is.

    A plan that moves a thing twice with nothing done in between is refused as well: it lists
    what could be done with the thing instead of deciding.

    Some things are put right, since there is one way to do so: a step whose effect already
    holds is dropped, and so is taking a thing from where it is then put back to, or from where
    the plan itself has just put it for good; a put whose thing is not in hand gets its pick-up
    before it.
    """
    before = world.snapshot()
    kept: list[Step] = []
    repairs: list[str] = []
    implied = 0
    try:
        for number, step in enumerate(steps):
            if _holds_already(world, step) or _is_put_back(world, step, steps[number + 1 :]):
                repairs.append(f"dropped '{step.label}', which holds already")
                continue
            if _takes_away(step, kept, steps[number + 1 :]):
                repairs.append(f"dropped '{step.label}', which takes away what was just put")
                continue
            if earlier := _moved_for_nothing(step, kept):
                reason = f"{earlier.label} came just before it; move each thing once"
                return CheckedPlan(tuple(kept), tuple(repairs), f"'{step.label}': {reason}")
            for needed in _missing_pickup(world, step):
                repairs.append(f"added '{needed.label}' before '{step.label}'")
                implied += 1
                outcome = world.act(needed)
                if not outcome.success:
                    return CheckedPlan(
                        tuple(kept), tuple(repairs), f"'{step.label}': {outcome.error_msg}"
                    )
                kept.append(needed)
            outcome = world.act(step)
            if not outcome.success:
                return CheckedPlan(
                    tuple(kept), tuple(repairs), f"'{step.label}': {outcome.error_msg}"
                )
            kept.append(step)
        after = tuple(world.observe())
    finally:
        world.restore(before)
    return CheckedPlan(tuple(kept), tuple(repairs), after=after, implied=implied)


def _holds_already(world: World, step: Step) -> bool:
    return bool(step.object_id) and world.verify(step) is None


def _is_put_back(world: World, step: Step, later: tuple[Step, ...]) -> bool:
    """Whether a pick-up takes a thing that the plan then puts where it is now."""
    if step.action != PICKUP:
        return False
    put = next((s for s in later if s.action == PUT and s.object_id == step.object_id), None)
    return put is not None and world.verify(put) is None


def _takes_away(step: Step, earlier: list[Step], later: tuple[Step, ...]) -> bool:
    """Whether a pick-up takes a thing that the plan has put somewhere, and leaves it in hand."""
    if step.action != PICKUP:
        return False

    def puts(steps: Iterable[Step]) -> bool:
        return any(s.action == PUT and s.object_id == step.object_id for s in steps)

    return puts(earlier) and not puts(later)


def _moved_for_nothing(step: Step, earlier: list[Step]) -> Step | None:
    """The put before this one that has the same thing, where nothing was done in between."""
    if step.action != PUT:
        return None
    for past in reversed(earlier):
        if past.action not in (PUT, PICKUP, "OpenObject", "CloseObject"):
            return None
        if past.action == PUT and past.object_id == step.object_id:
            return past
    return None


def _missing_pickup(world: World, step: Step) -> list[Step]:
    """The pick-up that a put lacks, where the hand is free to do it."""
    if step.action != PUT:
        return []
    objects = world.observe()
    thing = next((o for o in objects if o.id == step.object_id), None)
    if thing is None or any(o.state.get("held") for o in objects):
        return []
    return [Step(PICKUP, thing.id, label=f"pick up {thing.name}")]
