"""What is particular to a world that is searched, such as a store: which items matter, which a
person must not get, and the step that ends the task (GOOD, III-E2, IV-B3)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from good_ros.core.errors import WorldError
from good_ros.core.plan import Step
from good_ros.planning.needs import Needs, stated
from good_ros.planning.trial import Trial
from good_ros.worlds.base import Closing, ObjectView, Searchable, World
from good_ros.worlds.grocery.search import words

RECIPE = re.compile(
    r"\b(ingredients?|recipe|bak(?:e|es|ing)|cook(?:ing)?|mak(?:e|es|ing)|meal|dinner|lunch"
    r"|breakfast|party|dish|diet)\b"
)
"""Words with which a wish says what things are for, and not all of what is needed."""
_PHRASE = re.compile(
    r"[,.;:!?]|\b(?:and|or|with|plus|also|put|placed|in|into|to|for|please|add|buy|get|need|want)\b"
)
_MADE = re.compile(r"\b(?:bak|mak|cook|prepar)(?:e|es|ing)?\b(?P<what>.+)")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SAID_NUMBERS = {
    **{word: number for number, word in enumerate(_NUMBERS, start=1)},
    "double": 2,
    "twice": 2,
    "pair": 2,
    "couple": 2,
    "dozen": 12,
}
TERM_CHARS = 60


def named_kinds(phrase: str, objects: Sequence[ObjectView]) -> list[str]:
    """The kind of item that a noun phrase names, the longest where several fit: 'peanut butter'
    and not 'butter'; [] where it names none, or says what things are for ('for a cake')."""
    if RECIPE.search(phrase.lower()) or re.search(r"\bfor\b", phrase.lower()):
        return []
    said = f" {' '.join(words(phrase))} "
    kinds = dict.fromkeys(o.type for o in objects if "purchasable" in o.affordances)
    found = [k for k in kinds if (of_kind := words(k)) and said.endswith(f" {' '.join(of_kind)} ")]
    return sorted(found, key=lambda kind: -len(words(kind)))[:1]


def search_terms(texts: Sequence[str], objects: Sequence[ObjectView]) -> list[str]:
    """The phrases of goals and utterances that name an item or its kind, in order."""
    names = {" ".join(words(o.name)) for o in objects if "purchasable" in o.affordances}
    phrases = [phrase for text in texts for phrase in _PHRASE.split(text.lower())]
    # What is to be baked is not to be bought.
    made = {" ".join(words(m["what"])) for phrase in phrases if (m := _MADE.search(phrase))}
    found: dict[str, None] = {}
    for phrase in phrases:
        term = " ".join(words(phrase))
        if not term or term in made or len(term) > TERM_CHARS:
            continue
        if term in names or named_kinds(phrase, objects):
            found[phrase.strip()] = None
    return list(found)


def find_items(
    world: Searchable,
    named: Sequence[str],
    thought_of: Sequence[str],
    objects: Sequence[ObjectView],
    without: Collection[str],
    results: int,
) -> list[str]:
    """Ids of what the terms find, ``results`` for each. What the model thought of adds only
    kinds that the person's own words did not name."""
    kinds = {item.id: item.type for item in objects}

    def search(term: str) -> list[str]:
        """What a term finds; 'vegan butter' finds only what is vegan."""
        needs = stated([term])
        against = {item.id for item in objects if needs.clash(item)} if needs else set()
        return world.search(term, results, {*without, *against})

    found: dict[str, None] = {}
    for term in named:
        found |= dict.fromkeys(search(term))
    had = {kinds[item_id] for item_id in found}
    for term in thought_of:
        more = [i for i in search(term) if kinds[i] not in had]
        found |= dict.fromkeys(more)
        had |= {kinds[item_id] for item_id in more}
    return list(found)


def says_number(step: Step, texts: Sequence[str]) -> bool:
    """Whether the texts say the number that a step is about; one need not be said."""
    if not step.argument.isdigit() or step.argument == "1":
        return True
    said = re.findall(r"\w+", " ".join(texts).lower())
    return step.argument in said or int(step.argument) in map(_SAID_NUMBERS.get, said)


def removals(world: World, needs: Needs) -> tuple[Step, ...]:
    """Steps that take out of the cart what the person must not get."""
    if not needs:
        return ()
    bad = {o.id for o in world.observe() if o.state.get("quantity") and needs.clash(o)}
    if not bad:
        return ()
    return tuple(
        step
        for step in world.possible_actions(())
        if step.object_id in bad and step.action == "RemoveFromCart"
    )


def refusals(trial: Trial, needs: Needs) -> tuple[str, ...]:
    """Why a plan must not be carried out: what it adds or buys goes against what the person
    said; empty where nothing does."""
    before = {item.id: item.state for item in trial.before}
    found: dict[str, None] = {}
    for item in trial.after:
        past = before.get(item.id, {})
        gained = any(item.state.get(what, 0) > past.get(what, 0) for what in ("quantity", "bought"))
        if gained and (reason := needs.clash(item)):
            found[reason] = None
    return tuple(found)


def closing_step(world: World) -> Step | None:
    """The step that ends the task in this world, where there is one and it can be done now."""
    if not isinstance(world, Closing):
        return None
    step = world.closing_step()
    before = world.snapshot()
    try:
        return step if world.act(step).success else None
    except WorldError:
        return None
    finally:
        world.restore(before)


def without_closing(world: World, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps without those that end the task."""
    if not isinstance(world, Closing):
        return tuple(steps)
    closing = world.closing_step().action
    return tuple(step for step in steps if step.action != closing)


def closes(world: World, steps: Sequence[Step]) -> bool:
    """Whether the steps end the task."""
    return isinstance(world, Closing) and world.closing_step().action in {s.action for s in steps}
