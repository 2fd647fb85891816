"""``good optimize``: better prompts by PROMST and what it is compared with."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from good_ros.core.errors import InputError

if TYPE_CHECKING:
    from good_ros.optimize.search import Candidate, Search

RUNS = "optimize_runs"


def add(commands: Any) -> None:
    """Add the command to those of ``good``."""
    optimize = commands.add_parser("optimize", help="search for better prompts (PROMST)")
    actions = optimize.add_subparsers(required=True, metavar="ACTION")

    run = actions.add_parser("run", help="search, or go on where a search was stopped")
    run.add_argument("file", help="a configuration, such as config/optimize/smoke.yaml")
    run.add_argument("--runs", default=RUNS, help="folder that runs are kept in")
    run.add_argument("--folder", default="", help="this run's folder, instead of one in --runs")
    run.add_argument("--new", action="store_true", help="begin anew beside an unfinished run")
    run.add_argument("--seed", type=int, default=None, help="instead of the file's")
    run.add_argument("--method", default="", help="instead of the file's")
    run.add_argument(
        "--without-score-model", action="store_true", help="try every prompt that is written"
    )
    run.add_argument("--json", action="store_true", help="one JSON object as the last line")
    run.set_defaults(command=_run)

    report = actions.add_parser("report", help="figures and a picture of a run")
    report.add_argument("run", help="a run's folder")
    report.add_argument("--json", action="store_true", help="one JSON object as the last line")
    report.set_defaults(command=_report)

    diff = actions.add_parser("diff", help="what changed from one prompt to another")
    diff.add_argument("run", help="a run's folder")
    diff.add_argument("first", nargs="?", default="start", help="an id, start or best")
    diff.add_argument("second", nargs="?", default="best", help="an id, start or best")
    diff.set_defaults(command=_diff)

    apply = actions.add_parser("apply", help="write a prompt into the configuration")
    apply.add_argument("run", help="a run's folder")
    apply.add_argument("--prompt", default="best", help="an id, start or best")
    apply.add_argument("--to", default="", help="a folder instead of config/prompts")
    apply.set_defaults(command=_apply)


def _run(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from good_ros.optimize.config import read_config
    from good_ros.optimize.run import choose_folder, optimize, resolved

    config = read_config(Path(options.file))
    if options.seed is not None:
        config = replace(config, seed=options.seed)
    if options.method:
        config = replace(config, method=options.method, method_options={})
    if options.without_score_model:
        config = replace(config, score_model=None)
    if options.folder:
        folder = Path(options.folder)
    else:
        folder = choose_folder(Path(options.runs), resolved(config), options.new)
    print(f"run folder: {folder}", file=sys.stderr)
    result = optimize(config, folder, on_prompt=_tell)
    print(f"{result.end}; best prompt: {folder / 'prompts' / result.best}.txt", file=sys.stderr)
    return _show(folder, options.json)


def _tell(candidate: Candidate, search: Search) -> None:
    """One line a prompt: its score, the best so far and what was spent."""
    meter = search.meter
    print(
        f"level {candidate.level}, prompt {candidate.id}: {candidate.score:.3f}; best "
        f"{search.archive.best.score:.3f}, start {search.archive.of('0000').score:.3f}; "
        f"{meter.trials} trials, {meter.all_tokens} tokens, {meter.seconds / 60:.1f} min",
        file=sys.stderr,
        flush=True,
    )


def _show(folder: Path, as_json: bool) -> int:
    from good_ros.optimize.report import read_run

    figures = read_run(folder).as_json()
    if as_json:
        print(json.dumps(figures))
        return 0
    for name, value in figures.items():
        if value is not None:
            print(f"{name:18} {value:.3f}" if isinstance(value, float) else f"{name:18} {value}")
    return 0


def _report(options: argparse.Namespace) -> int:
    from good_ros.optimize.report import PICTURE, draw, read_run

    report = read_run(Path(options.run))
    picture = report.folder / PICTURE
    try:
        draw(report, picture)
        print(f"picture: {picture}", file=sys.stderr)
    except InputError as error:
        print(f"good: no picture: {error}", file=sys.stderr)
    return _show(report.folder, options.json)


def _diff(options: argparse.Namespace) -> int:
    from good_ros.optimize.report import read_run

    print(read_run(Path(options.run)).diff(options.first, options.second))
    return 0


def _apply(options: argparse.Namespace) -> int:
    from good_ros.core.resources import config_folder
    from good_ros.language.prompts import INSTEAD
    from good_ros.optimize.apply import apply
    from good_ros.optimize.report import read_run

    folder = Path(options.to) if options.to else config_folder() / "prompts"
    path = apply(read_run(Path(options.run)), options.prompt, folder)
    print(path)
    print(f"used where {INSTEAD}={folder} is set", file=sys.stderr)
    return 0
