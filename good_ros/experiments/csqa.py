"""The paper's isolated inference experiment on multiple choice questions (GOOD, IV-A).

Each of five choices is rephrased four times; the 20 rephrasings are the goals. The utterance is
the correct choice in its own words. A question counts as right where the likeliest goal is a
rephrasing of the correct choice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError, MalformedReply
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.experiments.evidence_store import Evidence, JsonLinesStore
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
    right choice's goals are left out; ``handicaps`` the nats taken off 'Unspecified' in each half.
    """

    n: int
    accuracy: float
    accuracy_unspecified: float
    unspecified_found: float
    handicaps: tuple[float, ...] = (0.0,)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def score(
    questions: Iterable[ChoiceQuestion],
    rephrasings: Callable[[ChoiceQuestion], Sequence[Sequence[str]]],
    take: Callable[[Sequence[Goal], Sequence[tuple[str, str]]], Evidence],
) -> list[Scored]:
    """``take`` gives the evidence of a dialog for goals; 'Unspecified' is the first of them."""
    scored = []
    for question in questions:
        groups = rephrasings(question)
        texts = [(i, text) for i, group in enumerate(groups) for text in group]
        goals = [unspecified_goal()]
        goals += [Goal(f"g{number}", text) for number, (_, text) in enumerate(texts, 1)]
        dialog = [(question.as_asked, question.choices[question.correct])]
        unspecified, *others = [sum(row) for row in take(goals, dialog)]
        best = max(range(len(others)), key=others.__getitem__)
        absent = max(
            value
            for value, (choice, _) in zip(others, texts, strict=True)
            if choice != question.correct
        )
        scored.append(
            Scored(
                texts[best][0] == question.correct,
                others[best] - unspecified,
                absent - unspecified,
            )
        )
    if not scored:
        raise InputError("there is no question to run")
    return scored


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


def measure_cross_fitted(scored: Sequence[Scored]) -> CsqaResult:
    """Each half with the handicap that was fitted on the other half.

    Raises InputError for fewer than two questions.
    """
    if len(scored) < 2:
        raise InputError("two questions at least are needed: one half is fitted on the other")
    halves = [list(scored[start::2]) for start in (0, 1)]
    handicaps = (fit_handicap(halves[1]), fit_handicap(halves[0]))
    parts = [measure(half, handicap) for half, handicap in zip(halves, handicaps, strict=True)]
    n = len(scored)

    def whole(name: str) -> float:
        return sum(getattr(part, name) * part.n for part in parts) / n

    return CsqaResult(
        n,
        whole("accuracy"),
        whole("accuracy_unspecified"),
        whole("unspecified_found"),
        handicaps,
    )
