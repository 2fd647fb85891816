"""A person who answers by rule, truthfully: an instrument to measure questions with.

Small language models that play a person say yes, or no, to whatever a question names, whatever
they were told to want (docs/dialog.md has what they said); with such a person no question can be
told from another. This one knows its wish, understands which things and places a question names,
and says what is true of them, in words that vary with a seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from good_ros.experiments.temperament import CHANGED, Temperament
from good_ros.experiments.wishes import PLACES, Wish, words_of, written
from good_ros.language.contrast import NOTHING_MORE
from good_ros.language.wording import plain
from good_ros.worlds.base import ObjectView

ASKED = ("Please put {things} {where}.", "I want {things} {where}.", "{Things} should go {where}.")
NOTHING_ELSE = ("Nothing else, thank you.", "No, nothing more.", "That is everything.")
NONE_OF_THESE = ("None of these.", "No, none of those.")


class TruthfulPerson:
    """Wants ``wish``, and sees ``objects``: the words for things it understands."""

    def __init__(
        self, wish: Wish, objects: Sequence[ObjectView], temperament: Temperament, seed: int = 0
    ) -> None:
        self.wish = wish
        self.temperament = temperament
        self.seed = seed
        self._others = {words_of(o.type) for o in objects if "pickupable" in o.affordances} - {
            words_of(thing) for thing, _ in wish
        }
        self._places = {
            words_of(o.type) for o in objects if "receptacle" in o.affordances or o.type in PLACES
        }
        self._said: set[tuple[str, str]] = set()

    def answer(self, question: str, turn: int) -> str:
        """What the person says to a question, or to a statement, of a turn."""
        if distracted := self.temperament.distracted_answer(self.seed, turn):
            return distracted
        draw = random.Random(f"person {self.seed} {turn}")
        if self.temperament.changes_mind and turn == 1:
            other = draw.choice(sorted(self._others) or ["lamp"])
            return self._say([(other, self.wish[0][1])], draw)
        said = self._answer(question, draw)
        if self.temperament.changes_mind and turn == 2:
            said = f"{CHANGED} {said}"
        return said if self.temperament.articles else _without_articles(said)

    def _answer(self, question: str, draw: random.Random) -> str:
        asked = _without_what_is_known(question)
        mine = [pair for pair in self.wish if _names(asked, words_of(pair[0]))]
        others = sorted(other for other in self._others if _names(asked, other))
        if not mine and not others:
            return self._volunteer(draw)
        # To 'this or that' the answer is which; to anything else it begins with yes or no.
        is_choice = ";" in asked or " or " in f" {plain(asked)} "
        if not is_choice and _names(asked, NOTHING_MORE):
            # Asked whether that is all, one says all.
            right = not others and len(mine) == len(self.wish) and self._fits(asked, mine)
            self._said.update(self.wish)
            return ("Yes. " if right else "No. ") + self._say(self.wish, draw)
        if mine:
            self._said.update(mine)
            right = not others and self._fits(asked, mine)
            yes = "" if is_choice else ("Yes. " if right else "No. ")
            return yes + self._say(mine, draw)
        if _names(asked, NOTHING_MORE):
            return draw.choice(NOTHING_ELSE)
        if len(others) == 1:
            return f"No, not the {others[0]}."
        return draw.choice(NONE_OF_THESE)

    def _fits(self, question: str, pairs: Sequence[tuple[str, str]]) -> bool:
        """Whether the places that a question names are those of the things that it names."""
        named = {place for place in self._places if _names(question, place)}
        wanted = {words_of(place.partition("_")[0]) for _, place in pairs}
        things = {words_of(thing) for thing, _ in pairs}
        return not (named - wanted - things)

    def _volunteer(self, draw: random.Random) -> str:
        """What an open question brings out: wishes that were not said yet."""
        left = [pair for pair in self.wish if pair not in self._said]
        if not left:
            return draw.choice(NOTHING_ELSE)
        told = draw.sample(left, min(self.temperament.at_once, len(left)))
        told.sort(key=self.wish.index)
        self._said.update(told)
        return self._say(told, draw)

    def _say(self, pairs: Sequence[tuple[str, str]], draw: random.Random) -> str:
        form = draw.choice(ASKED)
        sentences = []
        for where, things in _by_place(pairs).items():
            listed = f"{', '.join(things[:-1])} and {things[-1]}" if things[1:] else things[0]
            sentences.append(
                form.format(things=listed, Things=listed[:1].upper() + listed[1:], where=where)
            )
        return " ".join(sentences)


def _by_place(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for thing, place in pairs:
        result.setdefault(written(place), []).append(f"the {words_of(thing)}")
    return result


def _without_what_is_known(question: str) -> str:
    """A question without what it says to be settled already ('Beside the bread, …')."""
    head, comma, rest = question.partition(", which ")
    return f"which {rest}" if comma and head.startswith("Beside ") else question


def _names(text: str, words: str) -> bool:
    return f" {plain(words)} " in f" {plain(text)} "


def _without_articles(text: str) -> str:
    kept = [word for word in text.split() if word.lower() not in ("the", "a", "please", "should")]
    return " ".join(kept)
