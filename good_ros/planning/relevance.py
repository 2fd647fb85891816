"""Which objects matter for the likely goals: the first planning step (GOOD, IV-B3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from good_ros.core.plan import Step
from good_ros.planning.shopping import says_number
from good_ros.worlds.base import ObjectView

MAX_OBJECTS = 14
PER_TYPE = 3
"""Objects of one type that were not named one by one."""

ALIASES = {
    "refrigerator": "Fridge",
    "icebox": "Fridge",
    "counter": "CounterTop",
    "worktop": "CounterTop",
    "sink": "SinkBasin",
    "tap": "Faucet",
    "trash": "GarbageCan",
    "bin": "GarbageCan",
    "rubbish": "GarbageCan",
    "table": "DiningTable",
    "couch": "Sofa",
    "phone": "CellPhone",
    "remote": "RemoteControl",
    "tv": "Television",
    "lamp": "DeskLamp",
    "sponge": "DishSponge",
    "salad": "Lettuce",
    "cupboard": "Cabinet",
    "keys": "KeyChain",
    "key": "KeyChain",
    "stove": "StoveBurner",
    "burner": "StoveBurner",
    "soap": "SoapBottle",
    "tub": "BathtubBasin",
    "bag": "LunchBag",
    "lunchbox": "LunchBag",
    "lunch box": "LunchBag",
    "apples": "AppleSlices",
    "apple": "AppleSlices",
    "gummy": "GummyCandy",
    "gummies": "GummyCandy",
    "sanitizer": "HandSanitizer",
    "cereal": "Cheerios",
}
"""What people call things, where it is not the type's own words."""


def named_objects(texts: Iterable[str], objects: Sequence[ObjectView]) -> list[ObjectView]:
    """The objects that the texts name, by short name (``Mug_2``) or by type, in any number.

    Every object of a type that is named is included: which one is meant is the plan's matter.
    """
    words = " ".join(texts).lower()
    plain = f" {' '.join(re.findall(r'[a-z0-9_]+', words))} "
    found = []
    for item in objects:
        names = {item.name.lower(), item.type.lower(), _words(item.type)}
        names |= {alias for alias, kind in ALIASES.items() if kind == item.type}
        if any(f" {form} " in plain for name in names for form in (name, *_plurals(name))):
            found.append(item)
    return found


ONLY_WHERE_SAID = {
    "SliceObject": r"\b(slic|cut|chop)",
    "CookObject": r"\b(cook|fry|fried|boil|toast|bake|roast)",
    "BreakObject": r"\b(break|breaking|broken|smash\w*|crack)\b",
    "DirtyObject": r"\b(dirty|soil)\b",
    "CleanObject": r"\b(clean|wash|rins|dirty)",
    "FillObjectWithLiquid": r"\b(fill|pour|water|coffee|wine|drink)",
    "EmptyLiquidFromObject": r"\b(empty|pour|drain)",
    "PushObject": r"\b(push|shov)",
    "PullObject": r"\b(pull|drag)",
    "SearchInventory": r"\b(search|look for|find|do you have|(is|are) there|how much|price|cost)",
    "RemoveFromCart": r"\b(remov\w*|delet\w*|tak\w+|leav\w+|put back|return|swap|replac\w*|instead"
    r"|not?|\w*n['’]?t|without|only|wrong|too)\b",
    "BuyBasket": r"\b(buy|purchase|order|pay for) (it|them|all|everything|that|this|these|now"
    r"|the (basket|cart|lot|items))\b|\bcheck ?out\b|\bpay\b"
    r"|\bthat(['’]s| is) (all|everything|it)\b|\bnothing (else|more)\b",
    "GoTo": r"\b(go to|go over|reach|hover|above|over to)\b",
    "Grasp": r"\b(grasp|grip)\b",
    "Release": r"\b(release|let (it |them )?go|drop)\b",
    "GoHome": r"\b(home|go away)\b",
}
"""Actions that change or spoil a thing are offered only where it was said in these words: most
cannot be undone, and every needless choice makes a plan worse."""


def is_called_for(step: Step, texts: Iterable[str]) -> bool:
    """Whether a step may be offered for goals and utterances in these words."""
    texts = list(texts)
    if step.action == "AddToCart":
        return says_number(step, texts)
    pattern = ONLY_WHERE_SAID.get(step.action)
    return pattern is None or re.search(pattern, " ".join(texts).lower()) is not None


def can_be_acted_on(named: Sequence[ObjectView]) -> bool:
    """Whether the objects allow a step: a thing with a place for it, a switch, a door."""
    things = [o for o in named if "pickupable" in o.affordances]
    places = [o for o in named if "receptacle" in o.affordances and o not in things]
    others = [o for o in named if {"toggleable", "openable"} & o.affordances]
    return bool((things and places) or (others and not things))


def choose(
    named: Sequence[ObjectView], types: Sequence[str], objects: Sequence[ObjectView]
) -> list[str]:
    """Ids of what to plan with: the named objects and those of the chosen types, at most
    PER_TYPE of a type and MAX_OBJECTS in all, named ones first."""
    chosen: list[str] = []
    counts: dict[str, int] = {}
    for item in (*named, *(o for kind in types for o in objects if o.type == kind)):
        if item.id in chosen or counts.get(item.type, 0) >= PER_TYPE:
            continue
        counts[item.type] = counts.get(item.type, 0) + 1
        chosen.append(item.id)
    return chosen[:MAX_OBJECTS]


def _words(kind: str) -> str:
    return " ".join(re.findall(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z]?[a-z]+|\d+", kind)).lower()


def _plurals(name: str) -> tuple[str, ...]:
    if name.endswith("y"):
        return (f"{name[:-1]}ies",)
    if name.endswith(("s", "x", "ch", "sh", "o")):
        return (f"{name}es",)
    if name.endswith("fe"):
        return (f"{name[:-2]}ves",)
    return (f"{name}s",)
