"""The one question that the executor may ask in the middle of a turn: which of several things."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from good_ros.core.plan import Step
from good_ros.language.wording import plain
from good_ros.planning.relevance import named_objects
from good_ros.worlds.base import ObjectView, World

MAX_CHOICES = 5
_ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True)
class HelpQuestion:
    """Which of ``choices`` is meant, where the plan took ``chosen``."""

    text: str
    chosen: ObjectView
    choices: tuple[ObjectView, ...]


def which(
    steps: Sequence[Step], texts: Sequence[str], objects: Sequence[ObjectView]
) -> HelpQuestion | None:
    """The question that a plan raises: it moves one of several things of a type that was named
    without saying which ('the mug'); None where it is clear, or one is as good as another
    ('a mug', 'all mugs', or no mug was named)."""
    by_id = {item.id: item for item in objects}
    acted_on = {step.object_id for step in steps}
    said = plain(" . ".join(texts))
    for step in steps:
        item = by_id.get(step.object_id)
        if item is None or "pickupable" not in item.affordances:
            continue
        alike = [o for o in objects if o.type == item.type and "pickupable" in o.affordances]
        if not 2 <= len(alike) <= MAX_CHOICES or len(acted_on & {o.id for o in alike}) > 1:
            continue
        named = {o.id for o in named_objects(texts, alike)}
        by_name = [o for o in alike if re.search(rf"\b{plain(o.name)}\b", said)]
        if item.id not in named or by_name or _one_is_as_good(item, texts):
            continue
        choices = ", ".join(f"{o.name} ({_where(o, by_id)})" for o in alike)
        return HelpQuestion(f"Which {item.type} do you mean: {choices}?", item, tuple(alike))
    return None


def choose(question: HelpQuestion, answer: str, objects: Sequence[ObjectView]) -> ObjectView | None:
    """The thing that an answer picks: by name, by number ('the second one'), or by the place
    where it alone is; None where it does not say."""
    said = plain(answer)
    for item in question.choices:
        if re.search(rf"\b{plain(item.name)}\b", said):
            return item
    for number, word in enumerate(_ORDINALS[: len(question.choices)], start=1):
        if re.search(rf"\b({word}|number {number})\b", said) or said == str(number):
            return question.choices[number - 1]
    places = {o.id for o in named_objects([answer], objects)} - {o.id for o in question.choices}
    there = [o for o in question.choices if places & set(o.inside)]
    return there[0] if len(there) == 1 else None


def with_choice(
    world: World, steps: Sequence[Step], question: HelpQuestion, meant: ObjectView
) -> tuple[Step, ...]:
    """The same steps on the thing that is meant; those that it does not allow are left out."""
    if meant.id == question.chosen.id:
        return tuple(steps)
    relevant = [meant.id, *(s.target_id for s in steps if s.target_id)]
    possible = {
        (s.action, s.object_id, s.target_id, s.argument): s
        for s in world.possible_actions(relevant)
    }
    changed = []
    for step in steps:
        if step.object_id != question.chosen.id:
            changed.append(step)
        elif found := possible.get((step.action, meant.id, step.target_id, step.argument)):
            changed.append(found)
    return tuple(changed)


def _one_is_as_good(item: ObjectView, texts: Sequence[str]) -> bool:
    """Whether no text says 'the mug' of it."""
    kind = plain(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", item.type))
    definite = re.compile(rf"\b(the|my|that|this|your) (\w+ )?({kind}|{kind.replace(' ', '')})\b")
    return not any(definite.search(plain(text)) for text in texts)


def _where(item: ObjectView, by_id: dict[str, ObjectView]) -> str:
    if item.state.get("held"):
        return "in hand"
    return f"at {by_id[item.inside[0]].name}" if item.inside else "lying free"
