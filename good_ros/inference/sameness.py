"""Whether two goals mean the same.

Two measures. ``same_words`` compares what the goals say of each thing, word by word, whatever the
order and the verb of putting: it costs nothing. ``ScoredSameness`` asks the scorer how much of one
goal's wording is explained by knowing the other. How well each does is in docs/dialog.md
(``good eval merging``).
"""

from __future__ import annotations

from collections.abc import Callable

from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.scorer import Scorer
from good_ros.language.contrast import parts
from good_ros.language.wording import plain

Same = Callable[[str, str], bool]
"""Whether two goals' texts mean the same."""

_LEFT_OUT = frozenset(
    plain(
        """a an the is are be to should been being want wants wanted would like person human user
        please put placed moved stored kept brought placing putting moving away there it its his
        her their my your some also too all every"""
    ).split()
)
_WRITTEN = {
    "refrigerator": "fridge", "couch": "sofa", "cupboard": "cabinet", "trash": "garbage",
    "rubbish": "garbage", "bin": "can", "into": "in", "inside": "in", "onto": "on", "upon": "on",
    "cellphone": "cell phone", "countertop": "counter", "tabletop": "table", "turned": "switched",
    "prepared": "made", "cleaned": "washed", "shut": "closed",
}  # fmt: skip
_PHRASES = {"counter top": "counter", "table top": "table", "remote control": "remote"}


def same_words(first: str, second: str) -> bool:
    """Whether two goals say the same of the same things."""
    return _said(first) == _said(second)


def _said(text: str) -> frozenset[str]:
    return frozenset(_key(part) for part in parts(text))


def _key(part: str) -> str:
    text = " ".join(_WRITTEN.get(word, word) for word in plain(part).split())
    for phrase, word in _PHRASES.items():
        text = text.replace(phrase, word)
    words = text.split()
    kept = [_singular(word) for word in words if word not in _LEFT_OUT]
    return " ".join(kept) or " ".join(words)


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("oes", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


class ScoredSameness:
    """By the belief's own scorer: a goal means the same as another where a person who has the one
    would as readily say the other.

    With l(b | a) = log P("I want b" | goal a) and l(b) that under no goal, the share of b that a
    explains is (l(b | a) - l(b)) / (l(b | b) - l(b)), about 1 where a says all of b. The less of
    both directions must reach ``threshold``.
    """

    QUESTION = "What is it that you want?"

    def __init__(self, scorer: Scorer, threshold: float = 0.9) -> None:
        self.scorer = scorer
        self.threshold = threshold
        self._known: dict[tuple[str, str], float] = {}

    def __call__(self, first: str, second: str) -> bool:
        return same_words(first, second) or self.share(first, second) >= self.threshold

    def share(self, first: str, second: str) -> float:
        """The less of the two shares; 0 where the texts are no likelier under their own goals."""
        key = (min(first, second), max(first, second))
        if key not in self._known:
            self._known[key] = self._share(*key)
        return self._known[key]

    def _share(self, first: str, second: str) -> float:
        session = self.scorer.session()
        try:
            session.set_goals([unspecified_goal(), Goal("a", first), Goal("b", second)])
            answers = [f"I want {text}." for text in (first, second)]
            scores = session.what_if(self.QUESTION, answers)
        finally:
            session.close()
        shares = []
        for own, other, column in (("a", "b", 0), ("b", "a", 1)):
            nothing = scores["unspecified"][column]
            all_of_it = scores[own][column] - nothing
            if all_of_it <= 0:
                return 0.0
            shares.append((scores[other][column] - nothing) / all_of_it)
        return min(shares)
