"""Questions made from the goals themselves: about what one has and another has not.

A goal's parts are what it says of each thing ('the bread put in the fridge'). A part that some
likely goals have and others have not is worth asking about: by itself, or as one of a few to
choose from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from good_ros.language.wording import plain

_VERB = re.compile(
    r"\b((?:is|are|be|to be|should be)\s+)?"
    r"(put|placed|moved|stored|kept|brought|locked|turned|switched|opened|closed|cleaned|cooked"
    r"|filled|emptied|sliced|washed|made|bought|added|in the cart)\b"
    r"|\b(?:is|are|be)\s+(?=(?:in|on|at|under|inside)\b)",
    re.IGNORECASE,
)
NOTHING_MORE = "nothing more"
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


def menu_question(goals: Sequence[str]) -> str:
    """Which of the goals is meant, what they have in common said once; empty where there are not
    two.

    'Beside the bread, which do you want put in the fridge: the milk; the egg; or nothing more?'
    """
    taken_apart = [{plain(part): part for part in parts(text)} for text in goals]
    if len(taken_apart) < 2:
        return ""
    common = {
        key: part for key, part in taken_apart[0].items() if all(key in o for o in taken_apart)
    }
    rests = {_split(part)[1] for own in taken_apart for part in own.values()}
    # What is to be done with the things is said once where it is the same for all.
    rest = rests.pop() if len(rests) == 1 else ""
    options = dict.fromkeys(
        _together([part for key, part in own.items() if key not in common], not rest)
        or NOTHING_MORE
        for own in taken_apart
    )
    listed = sorted(options, key=lambda option: option == NOTHING_MORE)
    if len(listed) < 2:
        return ""
    beside = f"beside {_together(list(common.values()), not rest)}, " if common else ""
    question = f"{beside}which do you want{' ' if rest else ''}{rest}: "
    return f"{question[0].upper()}{question[1:]}{'; '.join(listed[:-1])}; or {listed[-1]}?"


def _split(part: str) -> tuple[str, str]:
    """A part as (thing, what of it); what of it is empty where it has no verb."""
    verb = _VERB.search(part)
    return (part[: verb.start()].strip(), part[verb.start() :]) if verb else (part, "")


def _together(own: Sequence[str], with_rest: bool) -> str:
    """Parts in few words: things of which the same is said are listed together."""
    things: dict[str, list[str]] = {}
    for part in own:
        thing, rest = _split(part)
        things.setdefault(rest, []).append(thing)
    said = []
    for rest, names in things.items():
        listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
        said.append(f"{listed} {rest}".strip() if with_rest else listed)
    return ", and ".join(said)


def recap_question(goal: str) -> str:
    """Whether a goal is what is wanted, and all of it.

    'Do you want the bread and the milk put in the fridge, and nothing more?'
    """
    return f"Do you want {_together(parts(goal), True)}, and {NOTHING_MORE}?"


def part_questions(goals: Sequence[tuple[str, float]]) -> list[str]:
    """Questions about one dividing part each, the one that divides best first."""
    return [f"Do you want {part}?" for part in dividing_parts(goals)]
