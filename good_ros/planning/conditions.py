"""When a goal is fulfilled, as predicates over objects: read off its words, or asked for.

A goal that says in so many words where things go ('the watch put in the safe') is read by rule,
at no cost; for others the model is asked once the goal is likely.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Any

from good_ros.core.belief import Belief
from good_ros.core.errors import InputError, MalformedReply, ModelCancelled, ModelError
from good_ros.core.goals import Goal
from good_ros.language import prompts
from good_ros.language.generator import Generator, Sampling
from good_ros.language.json_reply import parse
from good_ros.planning.relevance import named_objects
from good_ros.planning.shopping import named_kinds
from good_ros.worlds.base import ObjectView
from good_ros.worlds.grocery.state import CART
from good_ros.worlds.predicates import Predicate, explain, holds

ASKED_FROM = 0.6
"""Probability from which on the model is asked for a goal's conditions."""
MAX_CONDITIONS = 4
MAX_THINGS = 20
TOKENS_A_CONDITION = 32

_PUT = r"(?:put(?: away)?|placed|moved|stored|kept|brought|locked(?: away| up)?)"
_STATE = r"(?:turned on|switched on|turned off|switched off|opened|closed|shut)"
_VERB = re.compile(
    r"\b(?:is |are |be |to be |should be )?"
    rf"(?:{_PUT}\s+(?P<to>in|into|inside|on|onto|to|at)\b|(?P<state>{_STATE})\b)"
)
_AND = re.compile(r"\s*(?:,\s*and\b|,|;|\band\b)\s*")
_UNCERTAIN = re.compile(
    r"\b(not|never|no|nothing|without|except|but|or|if|unless|before|after|instead|until)\b|n't"
)
"""Words with which a goal says something else than where things go."""
_MANY = re.compile(r"\b(all|both|every|each)\b")
ABLE = {
    "in": frozenset({"pickupable", "purchasable"}),
    "open": frozenset({"openable"}),
    "closed": frozenset({"openable"}),
    "toggled": frozenset({"toggleable"}),
}
"""By kind of predicate, of what a thing must allow one to be brought there."""
_STATES: dict[str, tuple[str, Any]] = {
    "on": ("toggled", True),
    "off": ("toggled", False),
    "opened": ("open", None),
    "closed": ("closed", None),
    "shut": ("closed", None),
}


class Conditions:
    """What is known of when goals are fulfilled, by their texts; () where it was not stated."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Predicate, ...]] = {}

    def of(self, goal: Goal) -> tuple[Predicate, ...]:
        return self._known.get(goal.text, ())

    def tell(self, goal: Goal, conditions: Sequence[Predicate]) -> None:
        """State when a goal is fulfilled, as the person said it; () leaves it to be learnt."""
        if conditions:
            self._known[goal.text] = tuple(conditions)

    def learn(
        self,
        belief: Belief,
        objects: Sequence[ObjectView],
        generator: Generator | None = None,
        *,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> None:
        """State conditions for the goals of a belief, as far as they can be.

        Every goal is read; for the likeliest one, from ASKED_FROM on, the model is asked where
        reading fails, once. A model that fails leaves the goal without. Raises ModelCancelled.
        """
        for hypothesis in belief.hypotheses:
            goal = hypothesis.goal
            if goal.is_unspecified or goal.text in self._known:
                continue
            if (found := read(goal.text, objects)) is not None:
                self._known[goal.text] = found
            elif generator and hypothesis is belief.top and hypothesis.probability >= ASKED_FROM:
                try:
                    found = propose(generator, goal.text, objects, deadline_s, cancel)
                except ModelCancelled:
                    raise
                except MalformedReply:
                    found = ()
                except ModelError:
                    # It may answer in a later turn.
                    continue
                self._known[goal.text] = found

    def now(self, goal: Goal, objects: Sequence[ObjectView]) -> tuple[tuple[str, bool], ...]:
        """A goal's conditions in words, and whether each is true."""
        return tuple((explain(p), holds(p, objects)) for p in self.of(goal))


def read(text: str, objects: Sequence[ObjectView]) -> tuple[Predicate, ...] | None:
    """The conditions that a goal's words state about things of the room, or None where they
    cannot be read for certain."""
    if _UNCERTAIN.search(text.lower()):
        return None
    text = " ".join(re.findall(r"[\w,;]+", text.replace(",", " , ").replace(";", " ; ")))
    verbs = list(_VERB.finditer(text.lower()))
    if not verbs:
        return _shopping_list(text, objects)
    found: list[Predicate] = []
    things = text[: verbs[0].start()]
    for number, verb in enumerate(verbs):
        end = verbs[number + 1].start() if number + 1 < len(verbs) else len(text)
        rest = text[verb.end() : end]
        # A place, or nothing, ends at the first 'and'; what follows are the next verb's things.
        place, next_things = rest, ""
        if number + 1 < len(verbs):
            parts = _AND.split(rest, maxsplit=1)
            if len(parts) != 2:
                return None
            place, next_things = parts
        predicates = _clause(things, verb, place, objects)
        if predicates is None:
            return None
        found += predicates
        things = next_things
    return tuple(found)


def _shopping_list(text: str, objects: Sequence[ObjectView]) -> tuple[Predicate, ...] | None:
    """A goal of a store that only names products wants them in the cart."""
    carts = [o.name for o in objects if o.id == CART]
    named = [named_kinds(phrase, objects) for phrase in _AND.split(text) if phrase.strip()]
    if not carts or not named or not all(named):
        return None
    return tuple({"in": [kind, carts[0]]} for kinds in named for kind in kinds)


def _clause(
    things: str, verb: re.Match[str], place: str, objects: Sequence[ObjectView]
) -> list[Predicate] | None:
    kind, value = _STATES[verb["state"].split()[-1]] if verb["state"] else ("in", None)
    able = [o for o in objects if ABLE[kind] & o.affordances]
    subjects = [_subject(phrase, able) for phrase in _AND.split(things) if phrase.strip()]
    if not subjects or not all(subjects):
        return None
    if verb["state"]:
        if place.strip():
            return None
        return [
            _any([{kind: name if value is None else [name, value]} for name in names])
            for names in subjects
        ]
    places = _subject(place, [o for o in objects if "receptacle" in o.affordances])
    if not places or _AND.search(place):
        return None
    kind = "on" if verb["to"] in ("on", "onto") else "in"
    return [
        _any([{kind: [name, where]} for name in names for where in places]) for names in subjects
    ]


def _subject(phrase: str, objects: Sequence[ObjectView]) -> list[str]:
    """What one noun phrase names: the one object of a short name, else the types; with 'each'
    where it is said of all of them."""
    if kinds := named_kinds(phrase, objects):
        return kinds
    objects = [o for o in objects if "purchasable" not in o.affordances]
    named = named_objects([phrase], objects)
    words = phrase.lower().split()
    if exact := [o.name for o in named if o.name.lower() in words and o.name != o.type]:
        return exact[:1]
    each = "each " if _MANY.search(phrase.lower()) else ""
    return list(dict.fromkeys(each + o.type for o in named))


def _any(predicates: list[Predicate]) -> Predicate:
    return predicates[0] if len(predicates) == 1 else {"any": predicates}


def propose(
    generator: Generator,
    text: str,
    objects: Sequence[ObjectView],
    deadline_s: float | None = None,
    cancel: threading.Event | None = None,
) -> tuple[Predicate, ...]:
    """The model's conditions for a goal, over types and names of the room's things.

    Raises MalformedReply where it gives something else, ModelError where it fails.
    """
    if any("purchasable" in o.affordances for o in objects):
        # What a wish takes is for the search to say, not for a list of the store's hundreds.
        return ()
    named = named_objects([text], objects) or [o for o in objects if _can_be_changed(o)]
    things = list(dict.fromkeys(o.type for o in named))[:MAX_THINGS]
    places = list(dict.fromkeys(o.type for o in objects if "receptacle" in o.affordances))
    if not things:
        return ()
    item = {
        "type": "object",
        "properties": {
            "thing": {"enum": things},
            "is": {"enum": ["in or on", "open", "closed", "switched on", "switched off"]},
            "place": {"enum": ["", *places]},
        },
        "required": ["thing", "is", "place"],
        "additionalProperties": False,
    }
    schema = {"type": "array", "items": item, "minItems": 1, "maxItems": MAX_CONDITIONS}
    messages = prompts.load("conditions").messages(
        goal=text, things=", ".join(things), places=", ".join(places)
    )
    reply = generator.generate(
        messages, Sampling(TOKENS_A_CONDITION * MAX_CONDITIONS), schema, deadline_s, cancel
    )
    found = [_predicate(entry) for entry in parse(reply.text, schema)]
    return tuple(p for p in _unique(found) if _fits(p, objects))


def _can_be_changed(item: ObjectView) -> bool:
    return bool({"pickupable", "toggleable"} & item.affordances)


def _predicate(entry: dict[str, str]) -> Predicate:
    thing, kind = entry["thing"], entry["is"]
    if kind == "in or on":
        return {"in": [thing, entry["place"] or thing]}
    if kind in ("open", "closed"):
        return {kind: thing}
    return {"toggled": [thing, kind == "switched on"]}


def _unique(predicates: Sequence[Predicate]) -> list[Predicate]:
    """The predicates without repeats, in order."""
    return list({explain(p): p for p in predicates}.values())


def _fits(predicate: Predicate, objects: Sequence[ObjectView]) -> bool:
    """Whether it is about things of the room that allow it: no thing is in itself."""
    kind, value = next(iter(predicate.items()))
    thing = value if isinstance(value, str) else value[0]
    if kind == "in" and value[0] == value[1]:
        return False
    try:
        holds(predicate, objects)
    except InputError:
        return False
    return any(o.type == thing and ABLE[kind] & o.affordances for o in objects)
