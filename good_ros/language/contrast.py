"""Questions made from the goals themselves: about what one has and another has not.

A goal's parts are what it says of each thing ('the bread put in the fridge'). A part that some
likely goals have and others have not is worth asking about; one question is about one part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from good_ros.language.wording import plain

_VERB = re.compile(
    r"\b((?:is|are|be|to be|should be)\s+)?"
    r"(put|placed|moved|stored|kept|brought|locked|turned|switched|opened|closed|cleaned|cooked"
    r"|filled|emptied|sliced|washed|made|bought|added|in the cart)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,\s*and\b|;|,|\band\b)\s*", re.IGNORECASE)


def parts(goal: str) -> list[str]:
    """What a goal says of each thing; a text that cannot be taken apart is one part.

    'the bread and the milk put in the fridge' has the parts 'the bread put in the fridge' and
    'the milk put in the fridge'.
    """
    pieces = [piece for piece in _AND.split(goal.strip().rstrip(".")) if piece]
    found: list[str] = []
    waiting: list[str] = []
    for piece in pieces:
        verb = _VERB.search(piece)
        if verb is None or not piece[: verb.start()].strip():
            waiting.append(piece)
            continue
        found += [f"{thing} {piece[verb.start() :]}" for thing in waiting] + [piece]
        waiting = []
    return found if found and not waiting else [goal.strip().rstrip(".")]


def dividing_parts(goals: Sequence[tuple[str, float]]) -> list[str]:
    """The parts that some goals have and others have not, those first whose goals' probability
    comes nearest to half of all; ``goals`` are (text, probability)."""
    total = sum(p for _, p in goals) or 1.0
    weight: dict[str, float] = {}
    words: dict[str, str] = {}
    for text, probability in goals:
        for key, part in {plain(part): part for part in parts(text)}.items():
            words.setdefault(key, part)
            weight[key] = weight.get(key, 0.0) + probability / total
    shared = [{plain(part) for part in parts(text)} for text, _ in goals]
    dividing = [key for key in weight if not all(key in own for own in shared)]
    return [words[key] for key in sorted(dividing, key=lambda key: (abs(weight[key] - 0.5), key))]


def contrast_questions(goals: Sequence[tuple[str, float]]) -> list[str]:
    """Questions about one dividing part, and one between the two likeliest goals."""
    questions = [f"Do you want {part}?" for part in dividing_parts(goals)]
    if len(goals) > 1:
        (first, _), (second, _) = goals[:2]
        own = [plain(part) for part in parts(first)]
        other = [plain(part) for part in parts(second)]
        a = [part for part in parts(first) if plain(part) not in other]
        b = [part for part in parts(second) if plain(part) not in own]
        if len(a) == len(b) == 1:
            questions.insert(1, f"Which do you want: {a[0]}, or {b[0]}?")
    return questions
