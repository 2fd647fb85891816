"""How useful a plan is expected to be over the belief, by trying it on a snapshot (III-E1).

The paper's action module 'can take actions that are useful for multiple potential likely goals';
here that is counted: Σ P(goal) · (share of the goal's stated conditions that are true after the
plan), over the goals whose conditions are stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from good_ros.core.belief import Belief
from good_ros.core.errors import InputError
from good_ros.core.goals import Goal
from good_ros.core.plan import Step
from good_ros.planning.check import CheckedPlan
from good_ros.planning.conditions import Conditions
from good_ros.planning.trial import Trials
from good_ros.worlds.base import ObjectView, World
from good_ros.worlds.predicates import Predicate, holds

MAX_ADDED = 4
"""Steps that a plan may lack for the likeliest goal and that are still added to it."""


def expected_usefulness(
    trials: Trials, steps: Sequence[Step], belief: Belief, conditions: Conditions
) -> float | None:
    """From 0 to 1; None where no goal's conditions are stated. The world is left as it is."""
    stated = [
        (h.probability, conditions.of(h.goal)) for h in belief.hypotheses if conditions.of(h.goal)
    ]
    if not stated:
        return None
    objects = trials.of(steps).after
    return sum(
        probability * sum(is_true(p, objects) for p in wanted) / len(wanted)
        for probability, wanted in stated
    )


def prefer(
    trials: Trials, plans: Iterable[CheckedPlan], belief: Belief, conditions: Conditions
) -> CheckedPlan:
    """The plan of the highest expected usefulness; of equal ones the shortest, then the first.

    Where no conditions are stated, that is the first. Plans with a problem come last.
    """
    candidates = list(plans)
    if len(candidates) == 1:
        return candidates[0]
    values = [expected_usefulness(trials, plan.steps, belief, conditions) for plan in candidates]
    if None in values:
        return candidates[0]

    def rank(number: int) -> tuple[bool, float, int, int]:
        plan = candidates[number]
        # Rounded, so that equal plans do not differ by the last bit of a sum.
        return (bool(plan.problem), -round(values[number] or 0.0, 9), len(plan.steps), number)

    return candidates[min(range(len(candidates)), key=rank)]


def completed(
    trials: Trials, plan: CheckedPlan, goal: Goal, conditions: Conditions, max_steps: int
) -> CheckedPlan | None:
    """The plan with the steps that it lacks for the goal's conditions; None where it lacks
    none, or they cannot be done after it."""
    missing = lacking(trials, plan.steps, conditions.of(goal))
    room = min(MAX_ADDED, max_steps - len(plan.steps))
    if plan.problem or not missing or len(missing) > room:
        return None
    checked = trials.check((*plan.steps, *missing))
    if checked.problem:
        return None
    notes = tuple(f"added '{s.label}', which the likeliest goal asks for" for s in missing)
    return CheckedPlan(
        checked.steps,
        (*plan.repairs, *notes, *checked.repairs),
        after=checked.after,
        implied=plan.implied + checked.implied,
    )


def lacking(trials: Trials, steps: Sequence[Step], wanted: Sequence[Predicate]) -> tuple[Step, ...]:
    """A possible step for each condition that is not true after ``steps``, where there is one
    that brings it about; only puts, doors and switches."""
    after = trials.of(steps).after
    found: list[Step] = []
    for predicate in wanted:
        if is_true(predicate, after):
            continue
        for kind, name, place in _options(predicate):
            candidates = [o for o in after if name.removeprefix("each ") in (o.name, o.type)]
            if not name.startswith("each "):
                candidates = candidates[:1]
            chosen = [s for o in candidates if (s := _step(trials.world, kind, o, place, after))]
            if chosen:
                found += chosen
                break
    return tuple(dict.fromkeys(found))


ACTIONS = {
    "in": "PutObject",
    "open": "OpenObject",
    "closed": "CloseObject",
    "on": "ToggleObjectOn",
    "off": "ToggleObjectOff",
}


def _options(predicate: Predicate) -> list[tuple[str, str, str]]:
    """(kind, thing, place) by which a predicate can be brought about, best first."""
    kind, value = next(iter(predicate.items()))
    if kind in ("in", "on", True):
        return [("in", value[0], value[1])]
    if kind == "toggled":
        return [("on" if value[1] else "off", value[0], "")]
    if kind in ("open", "closed"):
        return [(kind, value, "")]
    return [o for part in value for o in _options(part)] if kind == "any" else []


def _step(
    world: World, kind: str, item: ObjectView, place: str, objects: Sequence[ObjectView]
) -> Step | None:
    places = [o.id for o in objects if place and place in (o.name, o.type)]
    if (place and not places) or set(places) & set(item.inside):
        return None
    for step in world.possible_actions([item.id, *places]):
        if (
            step.action == ACTIONS[kind]
            and step.object_id == item.id
            and (not places or step.target_id in places)
        ):
            return step
    return None


def is_true(predicate: Predicate, objects: Sequence[ObjectView]) -> bool:
    """Whether it holds; False as well where the room has no such thing any more."""
    try:
        return holds(predicate, objects)
    except InputError:
        return False
