"""``good eval dialog``: how many turns chosen and plain questions take."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from good_ros.core.errors import InputError
from good_ros.experiments.progress import progress_file
from good_ros.experiments.questions import (
    MAX_TURNS,
    DialogModels,
    DialogResult,
    DialogRules,
    run_dialogs,
    summary,
)
from good_ros.experiments.tasks import choose_profiles
from good_ros.experiments.temperament import DEFAULT_TEMPERAMENT, temperament_names

DEFAULT_SEEDS = 3
BY_RULE = "rule"


def add_to(measures: Any) -> None:
    """Add the command to those of ``good eval``."""
    dialog = measures.add_parser(
        "dialog", help="turns until the robot knows, with chosen and with plain questions"
    )
    dialog.add_argument(
        "--profiles", nargs="+", default=["robot"], help="names of profiles, or a domain"
    )
    dialog.add_argument("--model", default="default", help="asks and scores, as of `good demo`")
    dialog.add_argument(
        "--human",
        default=BY_RULE,
        help="who answers: 'rule', who is truthful, or a model that plays the profile",
    )
    dialog.add_argument(
        "--temperament",
        default=DEFAULT_TEMPERAMENT,
        choices=temperament_names(),
        help="how the person talks (config/temperaments.yaml)",
    )
    dialog.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="seeds a profile, from 0")
    dialog.add_argument("--goals", type=int, default=6, help="goals in the set, one of them true")
    dialog.add_argument("--turns", type=int, default=MAX_TURNS, help="turns at most a session")
    dialog.add_argument("--temper", type=float, default=1.0, help="as of goal_belief")
    dialog.add_argument("--limit", type=int, default=0, help="only the first so many sessions")
    dialog.add_argument(
        "--progress", default="", help="file of results so far: a second run goes on from it"
    )
    dialog.add_argument("--json", action="store_true", help="one JSON object as the last line")
    dialog.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    for name in ("seeds", "turns"):
        if getattr(options, name) < 1:
            raise InputError(f"--{name} must be 1 or more")
    if options.goals < 2:
        raise InputError("--goals must be 2 or more: there is nothing to tell apart")
    path = progress_file(options.progress)

    def tell(result: DialogResult, done: int, total: int) -> None:
        words = "known" if result.reached else "NOT known"
        print(
            f"{done}/{total} {result.profile}, seed {result.seed}, {result.arm}: {words} after "
            f"{result.turns} turns",
            file=sys.stderr,
            flush=True,
        )

    results = run_dialogs(
        choose_profiles(options.profiles),
        range(options.seeds),
        lambda: load_models(options.model, options.human),
        DialogRules(options.goals, options.turns, options.temper, options.temperament),
        limit=options.limit,
        progress=path,
        on_result=tell,
    )
    measures = summary(results)
    if options.json:
        print(json.dumps(measures))
    else:
        for name, value in measures.items():
            print(f"{name:26} {value:.3g}")
    return 0


def load_models(model: str, human: str = BY_RULE) -> DialogModels:
    """A generator for each side that needs one, and a scorer that proved itself.

    Raises ModelError where a model is missing or fails its self-test.
    """
    from good_ros.inference.backends import make_scorer
    from good_ros.language.backends import make_generator

    scorer = make_scorer(model)
    scorer.self_test()
    person = None if human == BY_RULE else make_generator(human)
    return DialogModels(make_generator(model), person, scorer)
