"""A session of an experiment as records, one JSON object each.

``session`` says which it is, each ``turn`` what was said, believed and done, ``end`` what it came
to. What differs from one run to the next (seconds) stands in ``cost`` alone: the others are the
same whenever the session is run with the same seed and model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.goals import GoalSet
from good_ros.core.json_values import finite
from good_ros.core.plan import StepResult, TaskStatus
from good_ros.experiments.profiles import Profile
from good_ros.experiments.session import TurnTrace
from good_ros.planning.turn import PlanRecord
from good_ros.worlds import predicates
from good_ros.worlds.base import World


@dataclass(frozen=True)
class Outcome:
    """By the profile's conditions, in words, and whether each is true."""

    conditions: tuple[tuple[str, bool], ...]

    @property
    def machine_score(self) -> float:
        """The share of the conditions that are true."""
        return sum(true for _, true in self.conditions) / len(self.conditions)


def outcome_of(profile: Profile, world: World) -> Outcome:
    """How far the world is as the profile wants it."""
    objects = world.observe()
    return Outcome(
        tuple((predicates.explain(c), predicates.holds(c, objects)) for c in profile.conditions)
    )


def turn_record(trace: TurnTrace) -> dict[str, Any]:
    """What was said, believed and done in a turn."""
    turn = trace.turn
    return {
        "record": "turn",
        "turn": turn.turn,
        "question": turn.question,
        "utterance": turn.utterance,
        "outcome": turn.outcome.name,
        "beliefs": [_belief(belief) for belief in trace.beliefs],
        "goals": _goals(trace.goals) if trace.goals else None,
        "actions": [_action(result) for result in turn.actions],
        "status": _status(trace.status) if trace.status else None,
    }


def end_record(
    transcript: Transcript,
    history: Sequence[StepResult],
    outcome: Outcome,
    at_start: float,
    world: World,
    plans: Sequence[PlanRecord] = (),
) -> dict[str, Any]:
    """What a session came to.

    ``at_start`` is the machine-checked score of the world before the session; ``cart`` has
    (quantity, price of one in cents) by item, where the world has one.
    """
    return {
        "record": "end",
        "end_reason": transcript.end_reason,
        "turns": len(transcript.turns),
        "machine_score": outcome.machine_score,
        "at_start": at_start,
        "conditions": [list(condition) for condition in outcome.conditions],
        "steps": [result.step.label for result in history if result.success],
        "cart": cart_of(world),
        "scene": world.describe(),
        "plans": [
            {
                "turn": plan.turn,
                "steps": [step.label for step in plan.steps],
                "executed": plan.executed,
                "repaired": plan.repaired,
                "refused": plan.refused,
                "usefulness": finite(plan.usefulness),
            }
            for plan in plans
        ],
    }


def cart_of(world: World) -> dict[str, list[int]] | None:
    """What is in the cart or was bought; None in a world without a cart."""
    items = [o for o in world.observe() if "purchasable" in o.affordances]
    if not items:
        return None
    counts = {
        o.name: [o.state["quantity"] + o.state["bought"], o.state["price_cents"]] for o in items
    }
    return {name: entry for name, entry in counts.items() if entry[0]}


def _belief(belief: Belief) -> dict[str, Any]:
    return {
        "settled": belief.settled,
        "version": belief.goals_version,
        "entropy": belief.entropy,
        "hypotheses": [
            {
                "id": h.goal.id,
                "text": h.goal.text,
                "probability": h.probability,
                "log_likelihood": finite(h.log_likelihood),
            }
            for h in belief.hypotheses
        ],
    }


def _goals(goals: GoalSet) -> dict[str, Any]:
    return {
        "version": goals.version,
        "texts": [goal.text for goal in goals.goals],
        "added": [goal.text for goal in goals.added],
        "removed": [
            {"text": removal.goal.text, "reason": removal.reason.name, "detail": removal.detail}
            for removal in goals.removed
        ],
    }


def _action(result: StepResult) -> dict[str, Any]:
    return {
        "label": result.step.label,
        "success": result.success,
        "effect": result.effect,
        "error": result.error_msg,
    }


def _status(status: TaskStatus) -> Mapping[str, Any]:
    return {
        "state": status.state.name,
        "error_code": status.error_code.name,
        "error": status.error_msg,
        "plan": [step.label for step in status.plan],
        "conditions": [list(condition) for condition in status.conditions],
    }
