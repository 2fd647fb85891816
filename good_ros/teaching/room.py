"""The room's things by what people call them, with what a speech recogniser makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from good_ros.language.wording import plain
from good_ros.planning.relevance import ALIASES
from good_ros.teaching.behaviours import ITEM, OBJECT, PLACE
from good_ros.teaching.sounds import likeness
from good_ros.worlds.base import ObjectView

SURE = 0.74
"""A word so alike to a known one is taken for it, where no other one is nearly as alike."""
UNSURE = 0.55
"""A word so alike is asked about; one below is new."""
APART = 0.08
"""How much more alike than the second the first must be to be taken without asking."""
EXTRA = 0.70
"""Alikeness of a phrase that has words beside those of a known thing."""
SHORTEST_PART = 5
"""Letters of a word that stands for a thing of several words ('krispie')."""
ARTICLES = frozenset(
    {
        *("the", "a", "an", "my", "your", "our", "some", "that", "this", "these", "those"),
        *("his", "her", "their"),
    }
)
FILLERS = frozenset(
    {
        *("bag", "carton", "box", "tube", "pack", "packet", "piece", "bottle", "of", "small"),
        *("little", "big", "red", "green", "blue"),
    }
)
"""Words around a thing's name that change nothing: 'the small bag of carrots'."""


@dataclass(frozen=True)
class Found:
    """What a phrase may mean, the likeliest first, with how alike it is (0 to 1)."""

    names: tuple[str, ...] = ()
    alike: float = 0.0

    @property
    def is_sure(self) -> bool:
        return len(self.names) == 1 and self.alike >= SURE

    @property
    def is_new(self) -> bool:
        return not self.names


class Room:
    """The things that a person can name."""

    def __init__(self, objects: Iterable[ObjectView]) -> None:
        self.objects: Sequence[ObjectView] = list(objects)
        self.types: Mapping[str, str] = {o.name: _type(o) for o in self.objects}
        """By name: object, place or item."""
        self.ids: Mapping[str, str] = {o.name: o.id for o in self.objects}
        self.names: Mapping[str, str] = {o.id: o.name for o in self.objects}
        self._forms = {o.name: _forms(o) for o in self.objects}
        parts: dict[str, set[str]] = {}
        for item in self.objects:
            for word in _words(item.type).split():
                parts.setdefault(word, set()).add(item.type)
        for item in self.objects:
            self._forms[item.name] |= {
                word
                for word in _words(item.type).split()
                if len(word) >= SHORTEST_PART and parts[word] == {item.type} and word not in _more()
            }

    @property
    def held(self) -> str:
        """What is in hand; empty where nothing is."""
        return next((o.name for o in self.objects if o.state.get("held")), "")

    def suits(self, name: str, kind: str) -> bool:
        return kind == ITEM or self.types.get(name) == kind

    def find(self, phrase: str, kind: str = ITEM) -> Found:
        """What of a type a phrase names: for certain, nearly, several things, or nothing."""
        words = [w for w in plain(phrase).split() if w not in ARTICLES]
        said = " ".join(words)
        if not said:
            return Found()
        able = [o.name for o in self.objects if self.suits(o.name, kind)]
        exact = [name for name in able if said in self._forms[name]]
        if exact:
            return Found(tuple(exact), 1.0)
        within = self._within(words, able)
        if within and within.alike > EXTRA:
            return within
        ranked = sorted(
            ((max(likeness(said, form) for form in self._forms[name]), name) for name in able),
            key=lambda pair: (-pair[0], pair[1]),
        )
        if within and (not ranked or ranked[0][0] < SURE):
            return within
        if not ranked or ranked[0][0] < UNSURE:
            return Found()
        best = ranked[0][0]
        near = tuple(name for alike, name in ranked if alike >= UNSURE and best - alike < APART)
        return Found(near[:3], best)

    def _within(self, words: Sequence[str], able: Sequence[str]) -> Found | None:
        """The longest form that stands in the phrase among other words."""
        said = f" {' '.join(words)} "
        found = [
            (len(form), name, said.replace(f" {form} ", " ").split())
            for name in able
            for form in self._forms[name]
            if f" {form} " in said
        ]
        if not found:
            return None
        longest = max(length for length, _, _ in found)
        names = tuple(dict.fromkeys(n for length, n, _ in found if length == longest))
        rest = next(rest for length, _, rest in found if length == longest)
        return Found(names, 1.0 if set(rest) <= FILLERS else EXTRA)

    def in_text(self, text: str, kind: str = ITEM) -> list[str]:
        """The things of a type whose names stand in a text, in the order in which they do."""
        said = f" {' '.join(w for w in plain(text).split() if w not in ARTICLES)} "
        places: list[tuple[int, int, str]] = []
        for name, forms in self._forms.items():
            if not self.suits(name, kind):
                continue
            at = [(said.find(f" {f} "), -len(f)) for f in forms if f" {f} " in said]
            if at:
                places.append((*min(at), name))
        taken: set[int] = set()
        found = []
        for start, length, name in sorted(places, key=lambda p: (p[1], p[0])):
            span = set(range(start + 1, start + 1 - length))
            if not span & taken:
                taken |= span
                found.append((start, name))
        return [name for _, name in sorted(found)]

    def spoken(self, name: str) -> str:
        """A thing's own words: apple slices."""
        item = next((o for o in self.objects if o.name == name), None)
        return _words(item.type) if item and item.name == item.type else name


def _type(item: ObjectView) -> str:
    if "pickupable" in item.affordances:
        return OBJECT
    return PLACE if "receptacle" in item.affordances else ITEM


def _forms(item: ObjectView) -> set[str]:
    words = _words(item.type)
    forms = {plain(item.name), item.name.lower(), words, item.type.lower()}
    forms |= {words.removesuffix("s"), f"{words}s"}
    forms |= {alias for alias, kind in ALIASES.items() if kind == item.type}
    forms |= {form for form, kinds in _more().items() if item.type in kinds}
    return {form for form in forms if form}


@cache
def _more() -> Mapping[str, Sequence[str]]:
    path = Path(__file__).parent / "spoken_forms.yaml"
    data: Mapping[str, Sequence[str]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def _words(kind: str) -> str:
    return " ".join(re.findall(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z]?[a-z]+|\d+", kind)).lower()
