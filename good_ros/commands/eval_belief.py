"""``good eval goals`` and ``good eval csqa``: how good the belief is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from good_ros.core.goals import Goal
from good_ros.experiments.evidence_store import Evidence, default_store, evidence
from good_ros.inference.backends import AUTO, BACKENDS, backend_of, make_scorer
from good_ros.inference.layout import DEFAULT_LAYOUT, Layout

Item = TypeVar("Item")


def add_to(measures: Any) -> None:
    """Add the subcommands to those of ``good eval``."""
    goals = measures.add_parser("goals", help="which candidate goal is meant, and how surely")
    _add_options(goals)
    goals.add_argument("--plot", default="", help="write the reliability plot to this PNG file")
    goals.set_defaults(command=_goals)
    csqa = measures.add_parser("csqa", help="the paper's multiple choice experiment (IV-A)")
    _add_options(csqa)
    csqa.add_argument(
        "--rephrased-by",
        default="",
        help="model that rephrases the choices; --model's where not said",
    )
    csqa.set_defaults(command=_csqa)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, help="the file of items")
    parser.add_argument("--model", default="default", help="the model that scores")
    parser.add_argument("--backend", default=AUTO, choices=BACKENDS)
    parser.add_argument("--seed", type=int, default=0, help="seed of what a model makes up")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many items")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")


class _Taker:
    """Takes evidence with one scorer a layout, through the store."""

    def __init__(self, options: argparse.Namespace, name: str, layout: Layout) -> None:
        backend = options.backend if options.backend != AUTO else backend_of(options.model)
        self.scorer = make_scorer(options.model, backend, layout)
        self.how = (backend, layout.value)
        self.store = default_store(name)

    def __call__(self, goals: Sequence[Goal], dialog: Sequence[tuple[str, str]]) -> Evidence:
        return evidence(self.store, self.scorer, self.how, goals, dialog)


def _track(items: Sequence[Item], what: str) -> Iterable[Item]:
    from rich.console import Console
    from rich.progress import track

    return track(items, what, console=Console(stderr=True))


def _goals(options: argparse.Namespace) -> int:
    from good_ros.experiments import goal_choice

    items = goal_choice.load_choices(Path(options.data), options.limit)
    taken = {}
    for layout in (DEFAULT_LAYOUT, Layout.GOAL_FIRST):
        taker = _Taker(options, "goals", layout)
        try:
            taken[layout] = goal_choice.take_evidence(_track(items, layout.value), taker)
        finally:
            taker.scorer.close()
    # The candidates are readings of the task, which says nothing of which is meant: the answer
    # alone counts, as in the paper's rounds. With the task counted too it is worse, and told.
    ours = goal_choice.measure_cross_fitted(items, taken[DEFAULT_LAYOUT], "last_turn")
    summed = goal_choice.measure_cross_fitted(items, taken[DEFAULT_LAYOUT], "dialog")
    paper = goal_choice.measure(items, taken[Layout.GOAL_FIRST], 1.0, "last_turn")
    for name, result in (
        ("ours", ours),
        ("ours, the task counted as well", summed),
        ("the paper's reading", paper),
    ):
        print(
            f"{name}: top-1 {result.before.top1:.3f} before, {result.after.top1:.3f} after; "
            f"NLL {result.before.nll:.3f}, {result.after.nll:.3f} nats; "
            f"calibration error {result.after.ece:.3f}; n {result.n}",
            file=sys.stderr,
        )
    if options.plot:
        from good_ros.experiments.figures import reliability

        reliability(
            Path(options.plot),
            {"ours": ours.after, "the paper's reading": paper.after},
            f"{options.model}, n {ours.n}",
        )
    if options.json:
        print(json.dumps({**ours.as_json(), "summed": summed.as_json(), "paper": paper.as_json()}))
    return 0


def _csqa(options: argparse.Namespace) -> int:
    from good_ros.experiments import csqa
    from good_ros.language.backends import make_generator

    questions = csqa.load_questions(Path(options.data), options.limit)
    store = default_store("rephrasings")
    generator = make_generator(options.rephrased_by or options.model)
    try:
        groups = {
            q.id: csqa.rephrase(store, generator, q, options.seed)
            for q in _track(questions, "rephrase")
        }
    finally:
        generator.close()
    taken = {}
    for layout in (Layout.GOAL_LAST, Layout.GOAL_FIRST):
        taker = _Taker(options, "csqa", layout)
        try:
            taken[layout] = csqa.take_evidence(
                _track(questions, layout.value), lambda q: groups[q.id], taker
            )
        finally:
            taker.scorer.close()
    last, first = taken[Layout.GOAL_LAST], taken[Layout.GOAL_FIRST]
    ours = csqa.measure_cross_fitted(last, first)
    alone = csqa.measure_cross_fitted(last)
    even = csqa.measure([csqa.scored(one) for one in last])
    paper = csqa.measure([csqa.scored(one) for one in first])
    for name, result in (
        ("ours, both layouts pooled", ours),
        ("goal_last alone", alone),
        ("goal_last alone, 'Unspecified' as likely beforehand as a goal", even),
        ("the paper's reading", paper),
    ):
        print(
            f"{name}: {result.accuracy:.3f}, with 'Unspecified' {result.accuracy_unspecified:.3f}; "
            f"'Unspecified' found {result.unspecified_found:.3f}; n {result.n}",
            file=sys.stderr,
        )
    if options.json:
        others = {"goal_last": alone, "even": even, "paper": paper}
        told = {name: result.as_json() for name, result in others.items()}
        print(json.dumps({**ours.as_json(), **told}))
    return 0
