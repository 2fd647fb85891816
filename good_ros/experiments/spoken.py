"""Spoken against typed sentences: the words that were heard, and the goal that was inferred."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.core.goals import Goal, GoalOrigin, unspecified_goal

SENTENCES = Path(__file__).with_name("spoken_sentences.yaml")
# What was found to be heard best (word error rate 0.06 to 0.08 on five harder sentences, 0.17 to
# 0.22 with espeak-ng's default voice).
VOICE, WORDS_PER_MINUTE, WORD_GAP = "en-gb-x-rp", 130, 3


@dataclass(frozen=True)
class Sentence:
    text: str
    goal_id: str
    """The goal that is meant."""


@dataclass(frozen=True)
class Answer:
    """What became of one sentence: the words in the transcript and the most likely goal.

    Both are empty where no belief came of it.
    """

    words: str = ""
    goal_id: str = ""


def load_sentences(path: Path = SENTENCES) -> tuple[tuple[Goal, ...], tuple[Sentence, ...]]:
    """The goal set, 'Unspecified' first, and the sentences. Raises InputError."""
    try:
        data = yaml.safe_load(path.read_text())
        goals = (
            unspecified_goal(),
            *(Goal(key, text, GoalOrigin.CONFIG) for key, text in data["goals"].items()),
        )
        sentences = tuple(Sentence(text, goal_id) for goal_id, text in data["sentences"])
        unknown = {s.goal_id for s in sentences} - {g.id for g in goals}
    except (OSError, yaml.YAMLError, LookupError, TypeError, ValueError, AttributeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path} is no file of sentences and goals: {reason}") from error
    if unknown:
        raise InputError(f"{path} has sentences of goals that it does not have: {sorted(unknown)}")
    return goals, sentences


def bare_words(text: str) -> str:
    """Lower-case words without punctuation, in single spaces; what errors are counted on."""
    return " ".join(re.findall(r"[\w']+", text.lower()))


def word_error_rate(said: Sequence[str], heard: Sequence[str]) -> float:
    """Words that were put in, left out or replaced, over the words that were said.

    Raises InputError where the package that counts is missing.
    """
    try:
        import jiwer
    except ImportError as error:
        raise InputError(f"jiwer is not there ({error}): pip install 'good_ros[speech]'") from error
    return float(jiwer.wer([bare_words(s) for s in said], [bare_words(h) for h in heard]))


@dataclass(frozen=True)
class SpokenReport:
    sentences: tuple[Sentence, ...]
    typed: tuple[Answer, ...]
    spoken: tuple[Answer, ...]

    @property
    def word_error_rate(self) -> float:
        return word_error_rate([s.text for s in self.sentences], [a.words for a in self.spoken])

    @property
    def same_goal(self) -> int:
        """How many sentences have the same most likely goal, typed and spoken."""
        return sum(
            bool(t.goal_id) and t.goal_id == s.goal_id
            for t, s in zip(self.typed, self.spoken, strict=True)
        )

    def right(self, answers: Sequence[Answer]) -> int:
        """How many answers have the goal that is meant."""
        return sum(a.goal_id == s.goal_id for a, s in zip(answers, self.sentences, strict=True))

    def as_json(self) -> dict[str, Any]:
        return {
            "n": len(self.sentences),
            "word_error_rate": round(self.word_error_rate, 4),
            "same_goal": self.same_goal,
            "right_typed": self.right(self.typed),
            "right_spoken": self.right(self.spoken),
        }
