"""The paper's isolated inference experiment on multiple choice questions (GOOD, IV-A).

Each of five choices is rephrased four times; the 20 rephrasings are the goals. The utterance is
the correct choice in its own words. A question counts as right where the likeliest goal is a
rephrasing of the correct choice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from good_ros.core.errors import InputError, MalformedReply
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.experiments.evidence_store import Evidence, JsonLinesStore
from good_ros.inference.pooling import pooled
from good_ros.language import prompts
from good_ros.language.generator import Generator, Sampling
from good_ros.language.json_reply import parse
from good_ros.language.wording import plain

REPHRASINGS = 4
TRIES = 4
TEMPERATURE = 0.8
MAX_CHARS = 60


@dataclass(frozen=True)
class ChoiceQuestion:
    """A question with its choices; ``correct`` is the index of the right one."""

    id: str
    question: str
    choices: tuple[str, ...]
    correct: int

    @property
    def as_asked(self) -> str:
        """The question with its choices, as the robot asks it."""
        return f"{self.question} Choices: {'; '.join(self.choices)}."


def load_questions(path: Path, limit: int = 0) -> list[ChoiceQuestion]:
    """Questions of a JSON-lines file in CommonsenseQA's form; the first ``limit``, 0 for all.

    Raises InputError where the file or a line of it is wrong.
    """
    try:
        lines = [line for line in path.read_text().splitlines() if line.strip()]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    questions = []
    for number, line in enumerate(lines[: limit or None], 1):
        try:
            data = json.loads(line)
            labels = data["choices"]["label"]
            questions.append(
                ChoiceQuestion(
                    str(data["id"]),
                    " ".join(data["question"].split()),
                    tuple(str(text) for text in data["choices"]["text"]),
                    labels.index(data["answerKey"]),
                )
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}, line {number} is no question: {error!r}") from error
    if not questions:
        raise InputError(f"{path} has no question")
    return questions


def rephrase(
    store: JsonLinesStore, generator: Generator, question: ChoiceQuestion, seed: int
) -> list[list[str]]:
    """For each choice up to REPHRASINGS rephrasings, different in their plain words.

    Kept with the model and the seed that made them. A model that repeats itself is asked again
    with the next seed, TRIES times in all; a choice of which it says nothing keeps its own words.
    """

    def make(choice: str) -> list[str]:
        found: dict[str, str] = {}
        schema = {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": MAX_CHARS},
            "minItems": REPHRASINGS,
            "maxItems": REPHRASINGS,
        }
        messages = prompts.load("rephrase").messages(
            question=question.question, choice=choice, count=str(REPHRASINGS)
        )
        for attempt in range(TRIES):
            sampling = Sampling(100, TEMPERATURE, seed + attempt)
            reply = generator.generate(messages, sampling, json_schema=schema)
            try:
                texts = parse(reply.text, schema)
            except MalformedReply:
                continue
            for text in texts:
                # The choice's own words would make the test one of copying.
                if plain(text) and plain(text) != plain(choice):
                    found.setdefault(plain(text), " ".join(text.split()))
            if len(found) >= REPHRASINGS:
                break
        return list(found.values())[:REPHRASINGS] or [choice]

    result = []
    for choice in question.choices:
        key = [generator.model_name, seed, question.question, choice]
        kept = store.get(key, lambda choice=choice: make(choice))  # type: ignore[misc]
        assert isinstance(kept, list)
        result.append([str(text) for text in kept])
    return result


HANDICAPS = tuple(step / 10 for step in range(31))
"""What is tried, in nats, as what 'Unspecified' is less likely than any other goal beforehand."""
MAX_COST = 0.01
"""Of the questions answered rightly without 'Unspecified', how many may be lost to it, as a share
of all, on those that the handicap is fitted on."""


SHARES = tuple(step / 20 for step in range(21))
"""What is tried as the weight of the first of two layouts that are pooled."""
TEMPERS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
"""What is tried as the factor on pooled log-likelihoods while a share is fitted."""


@dataclass(frozen=True)
class Evidenced:
    """The evidence of one question: in nats that for 'Unspecified', and for each goal, of which
    ``choices`` has the choice that it rephrases."""

    correct: int
    choices: tuple[int, ...]
    unspecified: float
    goals: tuple[float, ...]


@dataclass(frozen=True)
class Scored:
    """One question: whether the likeliest goal is right, and by how many nats it leads
    'Unspecified'; ``lead_absent`` is that lead where the right choice's goals are left out."""

    right: bool
    lead: float
    lead_absent: float


@dataclass(frozen=True)
class CsqaResult:
    """Shares of questions answered rightly, without and with 'Unspecified' among the goals.

    ``unspecified_found``: the share in which 'Unspecified' is likeliest, as it should be, once the
    right choice's goals are left out; ``handicaps`` the nats taken off 'Unspecified' in each half,
    and ``shares`` the weight of the first layout, where two are pooled.
    """

    n: int
    accuracy: float
    accuracy_unspecified: float
    unspecified_found: float
    handicaps: tuple[float, ...] = (0.0,)
    shares: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def take_evidence(
    questions: Iterable[ChoiceQuestion],
    rephrasings: Callable[[ChoiceQuestion], Sequence[Sequence[str]]],
    take: Callable[[Sequence[Goal], Sequence[tuple[str, str]]], Evidence],
) -> list[Evidenced]:
    """``take`` gives the evidence of a dialog for goals; 'Unspecified' is the first of them."""
    found = []
    for question in questions:
        groups = rephrasings(question)
        texts = [(i, text) for i, group in enumerate(groups) for text in group]
        goals = [unspecified_goal()]
        goals += [Goal(f"g{number}", text) for number, (_, text) in enumerate(texts, 1)]
        dialog = [(question.as_asked, question.choices[question.correct])]
        unspecified, *others = [sum(row) for row in take(goals, dialog)]
        choices = tuple(choice for choice, _ in texts)
        found.append(Evidenced(question.correct, choices, unspecified, tuple(others)))
    if not found:
        raise InputError("there is no question to run")
    return found


def scored(evidenced: Evidenced) -> Scored:
    """What counts of a question's evidence."""
    values = evidenced.goals
    best = max(range(len(values)), key=values.__getitem__)
    absent = max(
        value
        for value, choice in zip(values, evidenced.choices, strict=True)
        if choice != evidenced.correct
    )
    return Scored(
        evidenced.choices[best] == evidenced.correct,
        values[best] - evidenced.unspecified,
        absent - evidenced.unspecified,
    )


def score(
    questions: Iterable[ChoiceQuestion],
    rephrasings: Callable[[ChoiceQuestion], Sequence[Sequence[str]]],
    take: Callable[[Sequence[Goal], Sequence[tuple[str, str]]], Evidence],
) -> list[Scored]:
    """As ``take_evidence``; of each question what counts."""
    return [scored(one) for one in take_evidence(questions, rephrasings, take)]


def pool_all(
    first: Sequence[Evidenced], second: Sequence[Evidenced], share: float
) -> list[Evidenced]:
    """As ``pool``, question by question."""
    return [pool(a, b, share) for a, b in zip(first, second, strict=True)]


def pool(first: Evidenced, second: Evidenced, share: float) -> Evidenced:
    """The evidence of one question by two layouts as one; ``share`` is the first one's weight."""
    rows = [(e.unspecified, *e.goals) for e in (first, second)]
    unspecified, *goals = pooled(rows, (share, 1 - share))
    return replace(first, unspecified=unspecified, goals=tuple(goals))


def fit_share(first: Sequence[Evidenced], second: Sequence[Evidenced]) -> float:
    """The share of SHARES with which the right choices' goals are the most probable together,
    by the best of TEMPERS; of equals the smallest."""

    def surprise(questions: Sequence[Evidenced], temper: float) -> float:
        total = 0.0
        for one in questions:
            tempered = temper * np.array(one.goals)
            right = tempered[np.array(one.choices) == one.correct]
            total += float(np.logaddexp.reduce(tempered) - np.logaddexp.reduce(right))
        return total

    def least_surprise(share: float) -> float:
        questions = pool_all(first, second, share)
        return min(surprise(questions, temper) for temper in TEMPERS)

    return min(SHARES, key=least_surprise)


def measure(scored: Sequence[Scored], handicap: float = 0.0) -> CsqaResult:
    """The shares, 'Unspecified' being ``handicap`` nats less likely beforehand than a goal."""
    n = len(scored)
    return CsqaResult(
        n,
        sum(s.right for s in scored) / n,
        sum(s.right and s.lead + handicap > 0 for s in scored) / n,
        sum(s.lead_absent + handicap <= 0 for s in scored) / n,
        (handicap,),
    )


def fit_handicap(scored: Sequence[Scored]) -> float:
    """The smallest of HANDICAPS with which 'Unspecified' costs at most MAX_COST."""
    for handicap in HANDICAPS:
        result = measure(scored, handicap)
        if result.accuracy - result.accuracy_unspecified <= MAX_COST:
            return handicap
    return HANDICAPS[-1]


def measure_cross_fitted(
    first: Sequence[Evidenced], second: Sequence[Evidenced] | None = None
) -> CsqaResult:
    """Each half of the questions with what was fitted on the other half: the handicap of
    'Unspecified', and where two layouts are given the share of the first in their pool.

    Raises InputError for fewer than two questions.
    """
    if len(first) < 2:
        raise InputError("two questions at least are needed: one half is fitted on the other")
    parts, shares = [], []
    for half in (0, 1):
        fitted, reported = first[1 - half :: 2], first[half::2]
        if second is not None:
            share = fit_share(fitted, second[1 - half :: 2])
            shares.append(share)
            fitted = pool_all(fitted, second[1 - half :: 2], share)
            reported = pool_all(reported, second[half::2], share)
        handicap = fit_handicap([scored(one) for one in fitted])
        parts.append(measure([scored(one) for one in reported], handicap))
    n = len(first)

    def whole(name: str) -> float:
        return sum(getattr(part, name) * part.n for part in parts) / n

    return CsqaResult(
        n,
        whole("accuracy"),
        whole("accuracy_unspecified"),
        whole("unspecified_found"),
        tuple(part.handicaps[0] for part in parts),
        tuple(shares),
    )
