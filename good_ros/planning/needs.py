"""What a person must not or will not eat, read off what was said, and which items go against it.

This is a safety filter: it is by rule and not by a model, errs on the side of leaving something
out, and holds for the rest of a session once the person has said so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.language.acts import REMEMBERED
from good_ros.worlds.base import ObjectView

ALLERGENS = {
    "gluten": r"gluten|wheat",
    "dairy": r"dairy|milk|lactose",
    "egg": r"eggs?",
    "nuts": r"(?:tree )?nuts?|almonds?|walnuts?|hazelnuts?|cashews?|pistachios?|pecans?",
    "peanut": r"peanuts?|nuts?",
    "soy": r"soya?|soybeans?",
    "fish": r"fish",
    "shellfish": r"shellfish|shrimps?|prawns?|crustaceans?|seafood",
    "sesame": r"sesame",
    "mustard": r"mustard",
}
"""By the allergen as items carry it, the words that mean it."""
DIETS = ("vegan", "vegetarian", "halal", "kosher")
ORGANIC = re.compile(
    r"\b(?:only|all|everything|strictly|exclusively|must|just)\b[^.;!?]{0,40}\borganic\b"
    r"|\borganic\b[^.;!?]{0,20}\bonly\b"
)
LACTOSE_FREE = "lactose-free"

_ANY = "|".join(ALLERGENS.values())
_FREE = re.compile(
    rf"\b(?:(?P<with>dairy|gluten|lactose|soy) (?:and |or |/ ))?(?P<free>{_ANY}) free\b"
    rf"|\bfree (?:of|from) (?:any )?(?P<of>{_ANY})\b"
)
_BEFORE = re.compile(
    r"\b(?:no|without|avoid\w*|cannot (?:eat|have|stand)|can ?t (?:eat|have|stand)|never eat"
    r"|(?:not|\w*n ?t) (?:eat|have|contain\w*|include|want|tolerate|digest)"
    r"|(?:intoleran\w*|sensitiv\w*|allerg\w*)(?: (?:to|of|against|are|is|include))?|may contain"
    r"|(?:sick|ill|unwell) (?:from|of)"
    r"|nothing (?:\w+ ){0,4}(?:with|has|have|contains?))"
    r" (?:any |added |traces of )*(?P<list>[^.;!?]*)"
)
_AFTER = re.compile(r"(?P<list>[^.;!?]*) (?:allerg|intoleran|sensitiv)\w*")
_SEPARATOR = re.compile(r" ?(?:[,/]|\b(?:and|or|nor)\b) ?")
_NEVER_WANTED = re.compile(
    r"\b(?P<list>gluten|lactose)\b(?! (?:is|are|would be) (?:fine|ok|okay|no problem|allowed))"
    r"(?<!\bwith gluten)(?<!\bwith lactose)"
)
"""What people name only to do without it."""
_COELIAC = re.compile(r"\b(?:coeliac|celiac)\w*\b")
_NOT_ALLERGIC = re.compile(
    r"\b(?:not|n t|never|no longer|nobody is|none of us is|no one is)"
    r" (?:\w+ ){0,2}(?:allergic|intolerant|sensitive|coeliac|celiac|vegan|vegetarian)\b[^.;!?]*"
    rf"|\b(?:no|without|not have|n t have)(?: any| a)? (?:{_ANY}|food) (?:allerg|intoleran)\w*"
    r"|\bno (?:allerg|intoleran)\w*"
    r"|\b(?:need not|need ?n t|do(?:es)? ?n t (?:have|need) to|do(?:es)? not (?:have|need) to"
    rf"|not necessarily)(?: be)? (?:(?:{_ANY}) free|vegan|vegetarian|halal|kosher|organic)\b"
)
_ASKS = re.compile(r"\ballerg|\bintoleran|\bdiet|\bavoid|\bmust not eat|\bcannot eat|\bfree\b")
_NO = re.compile(r"^(?:no|none|nothing|not)\b")
_YES = re.compile(r"^(?:yes|yeah|yep|sure|correct|exactly|i do|i am|indeed|right)\b")


@dataclass(frozen=True)
class Needs:
    """``avoid``: allergens, as items carry them; ``diets``: labels that each item must have;
    ``lactose_only``: dairy is to be avoided for its lactose alone."""

    avoid: frozenset[str] = frozenset()
    diets: frozenset[str] = frozenset()
    lactose_only: bool = False

    def __or__(self, other: Needs) -> Needs:
        milk = [needs.lactose_only for needs in (self, other) if "dairy" in needs.avoid]
        return Needs(self.avoid | other.avoid, self.diets | other.diets, bool(milk) and all(milk))

    def __bool__(self) -> bool:
        return bool(self.avoid or self.diets)

    def clash(self, item: ObjectView) -> str:
        """Why the item must not be bought, in words; empty where nothing speaks against it."""
        if "purchasable" not in item.affordances:
            return ""
        tags = item.state.get("tags", ())
        if "non-food" in tags:
            return ""
        for allergen in sorted(self.avoid):
            if allergen == "dairy" and self.lactose_only and LACTOSE_FREE in tags:
                continue
            if f"contains {allergen}" in tags:
                return f"{item.name} contains {allergen}, which the person avoids"
            if not item.state.get("allergens_known", True) and f"{allergen}-free" not in tags:
                return (
                    f"the store does not say whether {item.name} contains {allergen}, which the "
                    "person avoids"
                )
        for diet in sorted(self.diets - set(tags)):
            return f"{item.name} is not marked {diet}, which the person asked for"
        return ""


def needs_of(transcript: Transcript, belief: Belief | None = None) -> Needs:
    """What the person has said in the whole dialog, and what the likeliest goal says."""
    needs = Needs()
    for turn in transcript.turns:
        if found := in_answer(turn.question, turn.utterance):
            needs |= found
    if belief is None or belief.top.goal.is_unspecified:
        return needs
    return needs | stated([belief.top.goal.text])


@lru_cache(maxsize=REMEMBERED)
def in_answer(question: str, answer: str) -> Needs:
    """What an answer says; a bare 'yes' or 'gluten' to a question about it counts as well."""
    needs = stated([answer])
    asked, said = _plain(question), _plain(answer)
    if not _ASKS.search(asked) or _NO.match(said) or _NOT_ALLERGIC.search(said):
        return needs
    if not re.search(r"\b(?:put|add|buy|get|need|want)\b", said):
        needs |= _avoiding(said)
    if _YES.match(said):
        needs |= _avoiding(asked) | Needs(diets=_diets(asked))
    return needs


def stated(texts: Iterable[str]) -> Needs:
    """The allergies and diets that texts state."""
    needs = Needs()
    for text in texts:
        said = _NOT_ALLERGIC.sub(" . ", _plain(text))
        for match in _FREE.finditer(said):
            needs |= _avoiding(" ".join(filter(None, match.groups())))
        for match in _BEFORE.finditer(said):
            needs |= _avoiding(_listed_first(match["list"]))
        for match in _AFTER.finditer(said):
            needs |= _avoiding(_listed_last(match["list"]))
        for match in _NEVER_WANTED.finditer(said):
            needs |= _avoiding(match["list"])
        if _COELIAC.search(said):
            needs |= Needs(frozenset({"gluten"}))
        diets = _diets(said)
        if ORGANIC.search(said):
            diets |= {"organic"}
        needs |= Needs(diets=frozenset(diets))
    return needs


def _diets(said: str) -> frozenset[str]:
    found = {diet for diet in DIETS if re.search(rf"\b(?<!non ){diet}s?\b", said)}
    return frozenset(found)


def _avoiding(words: str) -> Needs:
    found = {a for a, pattern in ALLERGENS.items() if re.search(rf"\b(?:{pattern})\b", words)}
    lactose = "dairy" in found and not re.search(r"\b(?:dairy|milk)\b", words)
    return Needs(frozenset(found), lactose_only=lactose)


def _listed_first(words: str) -> str:
    """The allergens with which a list begins: 'nuts and eggs' of 'nuts and eggs, please add'."""
    found = []
    for part in _SEPARATOR.split(words):
        start = " ".join(part.split()[:2])
        if not _avoiding(start).avoid:
            break
        found.append(start)
    return " ".join(found)


def _listed_last(words: str) -> str:
    """The allergens with which a list ends: 'egg and milk' of 'my son has egg and milk'."""
    found = []
    for part in reversed(list(filter(None, _SEPARATOR.split(words)))):
        end = part.split()[-2:]
        if not _avoiding(" ".join(end)).avoid:
            break
        found.append(" ".join(end))
        if len(part.split()) > len(end):
            break
    return " ".join(found)


def _plain(text: str) -> str:
    """Lower case, without apostrophes and hyphens, sentences and commas kept."""
    text = re.sub(r"[’'‐‑-]", " ", text.casefold())
    text = re.sub(r"[^\w.,;!?/ ]+", " ", text)
    return " ".join(re.sub(r"([.,;!?/])", r" \1 ", text).split())
