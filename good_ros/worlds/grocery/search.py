"""Finding the items of an inventory that a search term means (GOOD, IV-B3: 'search inventory').

The paper retrieves the single item whose embedding is most similar. Here that is done with a
small sentence encoder where one is installed (``grocery.embedding``), and by words otherwise.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from good_ros.worlds.grocery.inventory import NON_FOOD, Inventory, Item

AUTO, EMBEDDING, LEXICAL = "auto", "embedding", "lexical"
SEARCHES = (AUTO, EMBEDDING, LEXICAL)

LEAST_SCORE = 0.3
"""Of the best score that a term of its words could get: under it nothing was found."""

_FILLERS = (
    "a an the of for and or with some any to my your our i in on at from is are be that this it "
    "please want need like get buy add put pack bag bottle box can jar cart basket"
)
_FILLER = frozenset(_FILLERS.split())
_PLAIN_WORDS = (
    "plain white whole large fresh unsalted granulated salted ground drink free extra virgin"
)
_PLAIN = frozenset(_PLAIN_WORDS.split())
"""What a name may say without being anything else than what was asked for."""
_SYNONYMS = {
    "courgette": "zucchini",
    "courgettes": "zucchini",
    "eggplant": "aubergine",
    "cilantro": "coriander",
    "arugula": "rocket",
    "garbanzo": "chickpeas",
    "prawns": "shrimp",
    "crisps": "chips",
    "soya": "soy",
    "yoghurt": "yogurt",
    "icing": "frosting",
    "scallions": "onions",
    "mince": "ground",
    "minced": "ground",
    "wholewheat": "wholegrain",
    "wholemeal": "wholegrain",
    "ap": "plain",
    "purpose": "plain",
    "confectioners": "powdered",
    "veggies": "vegetables",
    "coke": "cola",
}


class Search(Protocol):
    """Ranks the items of the inventory that it was made for."""

    name: str

    def scores(self, term: str) -> np.ndarray:
        """For every item, in the inventory's order, how well it fits; 0 where not at all."""


class LexicalSearch:
    """Okapi BM25 over the words of name, kind, category and tags.

    A word of the kind counts more than one of the name, and that more than the rest, so that
    'butter' is butter and not peanut butter; words of a name that were not asked for count
    against it a little. Numbers and plurals are folded.
    """

    name = LEXICAL
    SATURATION, LENGTH = 1.2, 0.5
    KIND, NAME, REST = 2.0, 1.5, 0.5
    WHOLE_KIND = 0.6
    """Added where the term names the whole kind, as a share of the best possible score."""
    NOT_ASKED = 0.08
    """Taken off for each word of the kind or name that was not asked for."""
    HEAD_ELSEWHERE, WITHOUT_HEAD = 0.85, 0.7
    """Factors for what has the term's last word not as its kind's last one, and not at all:
    'tomato sauce' is no tomato, and no fish in tomato sauce."""

    def __init__(self, inventory: Inventory) -> None:
        self._items = list(inventory.items.values())
        self._kinds = [words(item.kind) for item in self._items]
        self._names = [words(item.name) for item in self._items]
        self._weights = [self._weigh(item) for item in self._items]
        self._lengths = np.array([sum(w.values()) for w in self._weights])
        holders = Counter(word for weights in self._weights for word in weights)
        count = len(self._items)
        self._rarity = {w: math.log(1 + (count - n + 0.5) / (n + 0.5)) for w, n in holders.items()}
        self._unknown = math.log(1 + 2 * count)

    def _weigh(self, item: Item) -> dict[str, float]:
        weights: dict[str, float] = {}
        rest = [*words(item.category), *(w for tag in item.tags for w in words(tag))]
        for group, weight in (
            (words(item.kind), self.KIND),
            (words(item.name), self.NAME),
            (rest, self.REST),
        ):
            for word in set(group):
                weights[word] = max(weights.get(word, 0.0), weight)
        return weights

    def scores(self, term: str) -> np.ndarray:
        asked = list(dict.fromkeys(words(term)))
        best = sum(self._rarity.get(word, self._unknown) for word in asked)
        if not asked or not best:
            return np.zeros(len(self._items))
        mean = float(self._lengths.mean())
        found = np.zeros(len(self._items))
        for number, weights in enumerate(self._weights):
            score = 0.0
            for word in asked:
                if weight := weights.get(word):
                    length = 1 - self.LENGTH + self.LENGTH * self._lengths[number] / mean
                    gain = weight * (self.SATURATION + 1) / (weight + self.SATURATION * length)
                    score += self._rarity[word] * gain
            if score:
                share = score / best
                kind, name = self._kinds[number], self._names[number]
                if set(kind) <= set(asked):
                    covered = sum(self._rarity[word] for word in asked if word in weights)
                    share += self.WHOLE_KIND * covered / best
                share -= self.NOT_ASKED * len({*kind, *name} - set(asked) - _PLAIN)
                if kind and kind[-1] != asked[-1]:
                    share *= self.HEAD_ELSEWHERE if asked[-1] in weights else self.WITHOUT_HEAD
                found[number] = max(share, 0.0)
        return found


def words(text: str) -> list[str]:
    """The words that a search goes by: lower case, singular, without fillers."""
    found = []
    for word in re.findall(r"[^\W_]+", text.casefold().replace("'s", "")):
        word = _SYNONYMS.get(word, word)
        if word not in _FILLER:
            found.append(_singular(word))
    return found


def _singular(word: str) -> str:
    if len(word) <= 3 or word.endswith("ss"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("oes") or word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word


def best(
    inventory: Inventory,
    search: Search,
    term: str,
    count: int = 1,
    fits: Callable[[Item], bool] = lambda item: True,
) -> list[Item]:
    """The ``count`` items that fit a term best, best first, among those that ``fits`` lets
    through; empty where nothing is like it."""
    values = search.scores(term)
    items = list(inventory.items.values())
    ranked = sorted(range(len(items)), key=lambda n: (-values[n], n))
    found = (items[n] for n in ranked if values[n] >= LEAST_SCORE)
    return [item for item in found if fits(item)][:count]


def make_search(kind: str, inventory: Inventory) -> Search:
    """The search of a kind; ``auto`` takes embeddings where they can be computed.

    Raises WorldError where ``embedding`` is asked for and something for it is missing.
    """
    if kind in (AUTO, EMBEDDING):
        from good_ros.worlds.grocery import embedding

        missing = embedding.missing()
        if not missing or kind == EMBEDDING:
            return embedding.EmbeddingSearch(inventory)
    return LexicalSearch(inventory)


def texts(items: Sequence[Item]) -> Iterable[str]:
    """What is embedded of an item: its name, with its kind where the name does not say it."""
    for item in items:
        said = set(words(item.kind)) <= set(words(item.name))
        yield item.name if said or NON_FOOD in item.tags else f"{item.name} ({item.kind})"
