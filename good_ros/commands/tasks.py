"""``good eval tasks``: how often whole sessions end with what the person wanted."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from good_ros.core.errors import InputError
from good_ros.experiments.progress import progress_file
from good_ros.experiments.tasks import Models, TaskResult, choose_profiles, run_tasks, summary
from good_ros.language.backends import is_url, make_generator

DEFAULT_SEEDS = 3


def add(measures: Any) -> None:
    """Add the command to those of ``good eval``."""
    tasks = measures.add_parser(
        "tasks", help="whole sessions with a simulated human, without a graph"
    )
    tasks.add_argument(
        "--profiles", nargs="+", default=["robot"], help="names of profiles, or a domain"
    )
    tasks.add_argument("--model", default="default", help="as of `good demo`")
    tasks.add_argument("--scoring-model", default="", help="as of `good demo`")
    tasks.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="seeds a profile, from 0")
    tasks.add_argument("--limit", type=int, default=0, help="only the first so many sessions")
    tasks.add_argument("--turns", type=int, default=20, help="turns after which a session ends")
    tasks.add_argument(
        "--progress", default="", help="file of results so far: a second run goes on from it"
    )
    tasks.add_argument("--json", action="store_true", help="one JSON object as the last line")
    tasks.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if options.seeds < 1:
        raise InputError("--seeds must be 1 or more")
    path = progress_file(options.progress)

    def tell(result: TaskResult, done: int, total: int) -> None:
        words = "fulfilled" if result.success else "NOT fulfilled"
        print(
            f"{done}/{total} {result.profile}, seed {result.seed}: {words} after "
            f"{result.turns} turns; {'; '.join(result.steps) or 'nothing done'}",
            file=sys.stderr,
            flush=True,
        )

    def tell_turn(profile: str, seed: int, turn: int) -> None:
        print(f"  {profile}, seed {seed}: turn {turn}", file=sys.stderr, flush=True)

    results = run_tasks(
        choose_profiles(options.profiles),
        range(options.seeds),
        lambda: load_models(options.model, options.scoring_model),
        max_turns=options.turns,
        limit=options.limit,
        progress=path,
        on_result=tell,
        on_turn=tell_turn,
    )
    measures = summary(results)
    if options.json:
        print(json.dumps(measures))
    else:
        for name, value in measures.items():
            print(f"{name:22} {value:.3g}")
    return 0


def load_models(model: str, scoring_model: str = "") -> Models:
    """Generators with a context each over one loaded model, and a scorer that proved itself.

    Raises ModelError where a model is missing or fails its self-test.
    """
    from good_ros.inference.backends import make_scorer

    scorer = make_scorer(scoring_model or ("default" if is_url(model) else model))
    scorer.self_test()
    return Models(make_generator(model), make_generator(model), make_generator(model), scorer)
