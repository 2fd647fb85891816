"""Which of some candidate goals a person means, before and after an answer.

Files hold a JSON list of {scene, ambiguous_task, question, answer, candidates, true}: a task
that leaves open which thing is meant, the robot's question about it, and the answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from good_ros.core.errors import InputError
from good_ros.core.goals import Goal
from good_ros.experiments.evidence_store import Evidence
from good_ros.experiments.measures import Quality, quality
from good_ros.inference.posterior import evidence_of, log_priors, posterior

FIRST_QUESTION = "What can I do for you?"
FIELDS = ("ambiguous_task", "question", "answer", "candidates", "true")
TEMPERS = tuple(float(t) for t in np.geomspace(0.02, 2.0, 41))
"""The factors that a fit tries."""


@dataclass(frozen=True)
class GoalChoice:
    """One item of a file; ``true`` is the index of the candidate that is meant."""

    task: str
    question: str
    answer: str
    candidates: tuple[str, ...]
    true: int

    @property
    def goals(self) -> list[Goal]:
        return [Goal(f"g{i}", text) for i, text in enumerate(self.candidates, 1)]

    @property
    def dialog(self) -> list[tuple[str, str]]:
        return [(FIRST_QUESTION, self.task), (self.question, self.answer)]


def load_choices(path: Path, limit: int = 0) -> list[GoalChoice]:
    """The items of a file; the first ``limit``, 0 for all. Raises InputError where the file or
    an item of it is wrong."""
    try:
        data = json.loads(path.read_text())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    if not isinstance(data, list) or not data:
        raise InputError(f"{path} must be a JSON list of items with {', '.join(FIELDS)}")
    items = []
    for number, item in enumerate(data[: limit or None], 1):
        missing = [f for f in FIELDS if not isinstance(item, dict) or f not in item]
        if missing:
            raise InputError(f"{path}, item {number} has no {', '.join(missing)}")
        candidates = tuple(dict.fromkeys(str(text) for text in item["candidates"]))
        if item["true"] not in candidates:
            raise InputError(f"{path}, item {number}: {item['true']!r} is not a candidate")
        items.append(
            GoalChoice(
                item["ambiguous_task"],
                item["question"],
                item["answer"],
                candidates,
                candidates.index(item["true"]),
            )
        )
    return items


def beliefs(
    evidence: Sequence[Evidence], turns: int, temper: float, kind: str
) -> list[Sequence[float]]:
    """The posterior of each item after so many turns, with a uniform prior."""
    result: list[Sequence[float]] = []
    for item in evidence:
        counted = np.array([evidence_of(row[:turns], temper, 1.0, kind) for row in item])
        result.append(posterior(log_priors([1.0] * len(item)), counted).tolist())
    return result


def fit_temper(evidence: Sequence[Evidence], true: Sequence[int], kind: str) -> float:
    """The temper of least negative log-likelihood of the true goals after all turns."""
    turns = len(evidence[0][0])
    return min(TEMPERS, key=lambda t: quality(beliefs(evidence, turns, t, kind), true).nll)


@dataclass(frozen=True)
class GoalChoiceResult:
    """Quality before and after the answer; ``tempers`` are the factors used, by half."""

    n: int
    before: Quality
    after: Quality
    tempers: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "top1_before": self.before.top1,
            "top1_after": self.after.top1,
            "nll_before": self.before.nll,
            "nll_after": self.after.nll,
            "ece_after": self.after.ece,
            "tempers": list(self.tempers),
        }


def take_evidence(
    items: Iterable[GoalChoice],
    take: Callable[[Sequence[Goal], Sequence[tuple[str, str]]], Evidence],
) -> list[Evidence]:
    return [take(item.goals, item.dialog) for item in items]


def measure(
    items: Sequence[GoalChoice], evidence: Sequence[Evidence], temper: float, kind: str
) -> GoalChoiceResult:
    """With one temper for all items."""
    true = [item.true for item in items]
    before = quality(beliefs(evidence, 1, temper, kind), true)
    after = quality(beliefs(evidence, 2, temper, kind), true)
    return GoalChoiceResult(len(items), before, after, (temper,))


def measure_cross_fitted(
    items: Sequence[GoalChoice], evidence: Sequence[Evidence], kind: str
) -> GoalChoiceResult:
    """Each half of the items with the temper that fits the other half best, so that no item is
    judged by what was fitted on it. Raises InputError for fewer than two items."""
    if len(items) < 2:
        raise InputError("two items at least are needed: one half is fitted on the other")
    before: dict[int, Sequence[float]] = {}
    after: dict[int, Sequence[float]] = {}
    tempers = []
    for half in (0, 1):
        own = [i for i in range(len(items)) if i % 2 == half]
        other = [i for i in range(len(items)) if i % 2 != half]
        temper = fit_temper([evidence[i] for i in other], [items[i].true for i in other], kind)
        tempers.append(temper)
        own_evidence = [evidence[i] for i in own]
        before |= dict(zip(own, beliefs(own_evidence, 1, temper, kind), strict=True))
        after |= dict(zip(own, beliefs(own_evidence, 2, temper, kind), strict=True))
    true = [item.true for item in items]
    order = range(len(items))
    return GoalChoiceResult(
        len(items),
        quality([before[i] for i in order], true),
        quality([after[i] for i in order], true),
        tuple(tempers),
    )
