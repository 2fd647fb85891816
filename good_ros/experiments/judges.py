"""A language model as the judge of a session (GOOD, IV-B6, VII-B).

It scores whether the goals were reasonable (out of 5), whether the removed ones were (out of 3),
and what came of the session: what the robot did, or the cart (out of 3). What it says is kept.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from good_ros.core.errors import MalformedReply
from good_ros.experiments.profiles import Profile
from good_ros.language import prompts
from good_ros.language.generator import Generator, Message, Sampling

STEP = 0.25
REPLY_TOKENS = 48
TRIES = 2
GOALS, REMOVED, OUTCOME = "goals_reasonable", "goals_removed", "outcome"
MOST = {GOALS: 5, REMOVED: 3, OUTCOME: 3}
"""The most points of each criterion."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\d)")
_OUT_OF = re.compile(r"\s*(?:/|out of)\s*\d+(?:\.\d+)?", re.IGNORECASE)

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """What a judge is asked for one criterion; ``left_out`` rounds did not fit."""

    criterion: str
    messages: tuple[Message, ...]
    left_out: int = 0


def questions(
    profile: Profile, records: Sequence[Record], manages_goals: bool, most_chars: int = 0
) -> list[Question]:
    """The questions about a session's records; of goals only where it kept some.

    Of its rounds at most ``most_chars`` characters are shown (0: all), those in the middle are
    left out first.
    """
    found = []
    if manages_goals:
        shown, left_out = _rounds([r for r in records if r["record"] == "turn"], most_chars)
        for criterion, prompt in ((GOALS, "judge_goals"), (REMOVED, "judge_removed")):
            messages = prompts.load(prompt).messages(
                task=profile.task, rounds=shown, most=str(MOST[criterion])
            )
            found.append(Question(criterion, tuple(messages), left_out))
    end = next(r for r in records if r["record"] == "end")
    common = {"task": profile.task, "profile": profile.profile.strip(), "most": str(MOST[OUTCOME])}
    if end["cart"] is None:
        actions = "\n".join(f"- {label}" for label in end["steps"]) or "(none)"
        messages = prompts.load("judge_actions").messages(actions=actions, **common)
    else:
        items = [
            f"- {name}: ({count}, ${cents / 100:.2f})"
            for name, (count, cents) in end["cart"].items()
        ]
        cart = "\n".join(items) or "(nothing)"
        messages = prompts.load("judge_cart").messages(cart=cart, **common)
    found.append(Question(OUTCOME, tuple(messages)))
    return found


def ask(generator: Generator, question: Question, deadline_s: float | None = None) -> Record:
    """The judge's score in steps of STEP, with its replies as they came.

    A reply that is no score is asked for once more; if that one is none either, ``score`` is
    None. Raises ModelError where the generator fails.
    """
    most = MOST[question.criterion]
    schema = {
        "type": "object",
        "properties": {"score": {"enum": [i * STEP for i in range(int(most / STEP) + 1)]}},
        "required": ["score"],
        "additionalProperties": False,
    }
    messages, score, replies = list(question.messages), None, []
    for attempt in range(TRIES):
        sampling = Sampling(REPLY_TOKENS, 0.0, attempt)
        reply = generator.generate(messages, sampling, schema, deadline_s)
        replies.append(reply.text)
        try:
            score = read_score(reply.text, most)
            break
        except MalformedReply as error:
            repair = f"That was no score: {error}. Reply with the JSON object alone."
            messages += [Message("assistant", reply.text[:500]), Message("user", repair)]
    return {
        "record": "judgement",
        "criterion": question.criterion,
        "most": most,
        "score": score,
        "replies": replies,
        "rounds_left_out": question.left_out,
    }


def read_score(text: str, most: float) -> float:
    """The score of a reply, in steps of STEP: of a JSON object, or the one number of a text.

    Raises MalformedReply where there is none, more than one, or one that is not from 0 to
    ``most``.
    """
    value = _number(text)
    if not math.isfinite(value) or not 0 <= value <= most:
        raise MalformedReply(f"{value:g} is not from 0 to {most:g}")
    # Halves go up; Python's own rounding takes them to the even one.
    return math.floor(value / STEP + 0.5) * STEP


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str) -> float:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        document = document.get("score")
        if not _is_number(document):
            raise MalformedReply("its 'score' is no number")
    if _is_number(document):
        try:
            return float(document)
        except OverflowError as error:
            raise MalformedReply("its number is too large") from error
    numbers = {float(n) for n in _NUMBER.findall(_OUT_OF.sub(" ", text))}
    if len(numbers) != 1:
        raise MalformedReply(f"it has {len(numbers) or 'no'} numbers, and one is wanted")
    return numbers.pop()


def _rounds(turns: Sequence[Record], most_chars: int) -> tuple[str, int]:
    """The rounds as a judge is shown them, and how many were left out."""
    shown = [_round(turn) for turn in turns if turn["goals"]]
    before = len(shown)
    while most_chars and len(shown) > 1 and sum(map(len, shown)) > most_chars:
        shown.pop(len(shown) // 2)
    return "\n\n".join(shown) or "(no round had goals)", before - len(shown)


def _round(turn: Record) -> str:
    goals = turn["goals"]
    kept = [_plain(text) for text in goals["texts"]]
    removed = [_plain(removal["text"]) for removal in goals["removed"]]
    lines = [
        f"Round {turn['turn']}. Robot: {turn['question']} Human: {turn['utterance']}",
        f"goals after adding: {'; '.join(kept + removed)}",
        f"goals kept: {'; '.join(kept)}",
        f"removed: {'; '.join(removed) or 'none'}",
    ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return text.replace(";", ",")
