"""Proactive help: one useful next action, offered before it is asked for (ProVox).

'Propose an action to perform next to {USER_DEFINED_GOAL} … Only return a single action. Try to
use a more complex action if possible. You do not need to go home between tasks.' Here the action
is the one after which most of what the belief's goals want is true, tried on a snapshot; where no
goal's conditions are stated, a language model is asked.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import IntEnum
from typing import Any

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.plan import Step, StepResult
from good_ros.language import prompts
from good_ros.language.generator import Generator, Sampling
from good_ros.language.json_reply import parse
from good_ros.planning.conditions import Conditions
from good_ros.planning.trial import Trial, Trials
from good_ros.planning.usefulness import expected_usefulness, is_true
from good_ros.worlds.base import World

OFFERED_FROM = 0.5
"""Probability of the likeliest goal from which on something is offered for it."""
LEAST_GAIN = 1e-6
NOTHING = "nothing"
TOKENS = 32
HISTORY_SHOWN = 6

Actions = Mapping[str, tuple[Step, ...]]
"""What may be offered for one thing that is still to be done: by label, the richest first, each
with the steps that it comes to."""
Effect = tuple[object, ...]
"""What an action does, whatever it is called: its steps, and where things are afterwards."""


class SuggestionState(IntEnum):
    """What became of a suggestion; the values are those of ``Suggestion.msg``."""

    OFFERED = 0
    ACCEPTED = 1
    REFUSED = 2
    IGNORED = 3


@dataclass(frozen=True)
class Suggestion:
    """One action that is offered. ``probability`` is that of the goal when it was offered."""

    id: int
    turn: int
    label: str
    steps: tuple[Step, ...]
    goal: str
    probability: float
    effect: Effect = ()
    state: SuggestionState = SuggestionState.OFFERED

    @property
    def text(self) -> str:
        """What is said to the person."""
        return f"Shall I {self.label}?"


@dataclass(frozen=True)
class Offer:
    """What may be offered, before it is."""

    label: str
    steps: tuple[Step, ...]
    effect: Effect


@dataclass
class Memory:
    """The suggestions of a session, each with what became of it.

    What was refused is not offered again; what was ignored ``ignored_limit`` times neither.
    """

    ignored_limit: int = 2
    suggestions: list[Suggestion] = field(default_factory=list)

    @property
    def standing(self) -> Suggestion | None:
        """The one that waits for an answer."""
        last = self.suggestions[-1] if self.suggestions else None
        return last if last and last.state is SuggestionState.OFFERED else None

    def offer(self, offer: Offer, turn: int, goal: Hypothesis) -> Suggestion:
        """Remember an offer; one that still stood counts as ignored."""
        self.settle(SuggestionState.IGNORED)
        number = len(self.suggestions) + 1
        found = Suggestion(
            number,
            turn,
            offer.label,
            offer.steps,
            goal.goal.text,
            goal.probability,
            offer.effect,
        )
        self.suggestions.append(found)
        return found

    def settle(self, state: SuggestionState) -> Suggestion | None:
        """What became of the standing one; None where none stands."""
        if (standing := self.standing) is None:
            return None
        self.suggestions[-1] = replace(standing, state=state)
        return self.suggestions[-1]

    def as_json(self) -> list[dict[str, Any]]:
        """What JSON can hold, to be kept."""
        return [asdict(suggestion) for suggestion in self.suggestions]

    @classmethod
    def from_json(cls, kept: Any) -> Memory:
        """What ``as_json`` gave. Raises ValueError where it is something else."""
        try:
            found = [
                Suggestion(
                    **{
                        **fields,
                        "steps": tuple(Step(**step) for step in fields["steps"]),
                        "effect": _as_tuples(fields["effect"]),
                        "state": SuggestionState(fields["state"]),
                    }
                )
                for fields in kept or ()
            ]
        except (TypeError, KeyError, ValueError) as error:
            raise ValueError(f"these are no suggestions: {error}") from error
        return cls(suggestions=found)

    def is_out(self, effect: Effect) -> bool:
        """Whether something is not to be offered any more."""
        past = [s.state for s in self.suggestions if s.effect == effect]
        ignored = past.count(SuggestionState.IGNORED)
        return SuggestionState.REFUSED in past or ignored >= self.ignored_limit


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


def effect_of(steps: Sequence[Step], trial: Trial) -> Effect:
    """What the steps do: the same thing under two names is the same, and 'put it in the bag' is
    another one for each thing in hand."""
    after = {item.id: item for item in trial.after}
    places = tuple(
        (item.id, after[item.id].inside[:1], bool(after[item.id].state.get("held")))
        for item, aspect in trial.changed()
        if aspect == "place" and item.id in after
    )
    return (*((s.action, s.object_id, s.target_id, s.argument) for s in steps), places)


def propose(
    world: World,
    belief: Belief,
    conditions: Conditions,
    groups: Sequence[Actions],
    memory: Memory,
    offered_from: float = OFFERED_FROM,
) -> Offer | None:
    """The action that is expected to be the most useful now, of equal ones the first; None where
    none brings anything about, or it is not likely enough what is wanted.

    ``groups`` has the actions for each thing that is to be done. Where no action alone brings
    anything about, one is taken that does together with another of its group ('reach for the
    milk' before 'put it in the bag'). Nothing is offered that makes something false which the
    likeliest goal wants and has. The world is left as it is.
    """
    top = belief.top
    if top.goal.is_unspecified or top.probability < offered_from:
        return None
    trials = Trials(world)
    now = expected_usefulness(trials, (), belief, conditions)
    if now is None:
        return None
    wanted = conditions.of(top.goal)
    before = trials.of(()).before

    def gain(steps: tuple[Step, ...]) -> float:
        trial = trials.of(steps)
        if trial.done < len(steps):
            return 0.0
        if any(is_true(p, before) and not is_true(p, trial.after) for p in wanted):
            return 0.0
        return (expected_usefulness(trials, steps, belief, conditions) or 0.0) - now

    def offer(label: str, steps: tuple[Step, ...]) -> Offer | None:
        effect = effect_of(steps, trials.of(steps))
        return None if not steps or memory.is_out(effect) else Offer(label, steps, effect)

    best: tuple[float, Offer] | None = None
    for label, steps in (item for group in groups for item in group.items()):
        found = offer(label, steps)
        if found is None:
            continue
        value = gain(steps)
        if value > LEAST_GAIN and (best is None or value > best[0] + LEAST_GAIN):
            best = (value, found)
    if best:
        return best[1]
    for group in groups:
        for label, steps in group.items():
            if trials.of(steps).done < len(steps):
                continue
            if any(gain((*steps, *other)) > LEAST_GAIN for other in group.values()) and (
                found := offer(label, steps)
            ):
                return found
    return None


def propose_by_model(
    world: World,
    belief: Belief,
    actions: Actions,
    memory: Memory,
    history: Sequence[StepResult],
    generator: Generator,
    *,
    offered_from: float = OFFERED_FROM,
    seed: int = 0,
    deadline_s: float | None = None,
    cancel: threading.Event | None = None,
) -> Offer | None:
    """What a language model would offer, tried on a snapshot; None for nothing.

    Raises ModelError where the generator fails.
    """
    top = belief.top
    if top.goal.is_unspecified or top.probability < offered_from:
        return None
    trials = Trials(world)
    able: dict[str, Offer] = {}
    for label, steps in actions.items():
        trial = trials.of(steps)
        offer = Offer(label, steps, effect_of(steps, trial))
        if trial.done == len(steps) and not memory.is_out(offer.effect):
            able[label] = offer
    if not able:
        return None
    schema = {"enum": [*able, NOTHING]}
    messages = prompts.load("suggest").messages(
        goal=top.goal.text,
        scene=world.describe(),
        history="; ".join(r.step.label for r in history[-HISTORY_SHOWN:] if r.success) or "nothing",
        actions="; ".join(able),
    )
    reply = generator.generate(messages, Sampling(TOKENS, 0.0, seed), schema, deadline_s, cancel)
    label = parse(reply.text, schema)
    return able.get(label)
