"""``good experiment``: the paper's experiments, as a YAML file says."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from good_ros.core.errors import GoodError
from good_ros.experiments.play import SessionModels, play
from good_ros.experiments.provenance import commit
from good_ros.experiments.reporting import REPORT, Report
from good_ros.experiments.run_folder import RunFolder
from good_ros.experiments.runner import Play, Progress, run
from good_ros.experiments.spec import Spec, load_spec
from good_ros.experiments.variants import VARIANTS
from good_ros.language.backends import make_generator

RUNS = "runs"


def add(commands: Any) -> None:
    """Add the command to those of ``good``."""
    experiment = commands.add_parser(
        "experiment", help="the paper's experiments: sessions, baselines, judges, figures"
    )
    actions = experiment.add_subparsers(required=True, metavar="ACTION")
    start = actions.add_parser("run", help="run an experiment, or what is missing of it")
    start.add_argument("file", help="the experiment's YAML file (config/experiments)")
    start.add_argument(
        "--folder", default="", help=f"where its results are kept; {RUNS}/NAME of the experiment"
    )
    start.set_defaults(command=_run)
    report = actions.add_parser("report", help="tables and figures of a run")
    report.add_argument("folder", help="the folder of `good experiment run`")
    report.add_argument("--json", action="store_true", help="one JSON object as the last line")
    report.set_defaults(command=_report)


def _run(options: argparse.Namespace) -> int:
    file = Path(options.file).expanduser()
    spec = load_spec(file)
    folder = RunFolder(Path(options.folder or f"{RUNS}/{spec.name}").expanduser())
    began = time.monotonic()
    with folder.begin(spec, f"good experiment run {options.file}", commit()):
        result = run(
            spec,
            folder,
            lambda: load_models(spec),
            play_session=_play_of(spec),
            on_progress=_tell,
        )
        if spec.isolated is not None:
            from good_ros.experiments.isolated import run_isolated

            run_isolated(spec, folder, on_result=lambda found: _say(f"isolated inference: {found}"))
    _say(f"{result.done} sessions are done, {_duration(time.monotonic() - began)} in this run")
    print(folder.path)
    if result.failed:
        name, reason = next(iter(result.failed.items()))
        missing = len(result.failed) + result.skipped
        raise GoodError(
            f"{missing} sessions could not be run, the first of them {name}: {reason}; run the "
            "same command again for those that are missing"
        )
    return 0


def _report(options: argparse.Namespace) -> int:
    report = Report(RunFolder(Path(options.folder).expanduser()))
    print(report.text())
    paths = report.write()
    print(f"\n{len(paths)} files in {report.folder.path / REPORT}")
    print(report.note())
    if options.json:
        print(json.dumps(report.cells_as_json))
    return 0


def _play_of(spec: Spec) -> Play:
    if not spec.graph:
        return play
    from good_ros.nodes.graph_session import play_on_graph

    return play_on_graph


def load_models(spec: Spec) -> SessionModels:
    """Generators and scorers for the sessions of an experiment, each scorer proved.

    Raises ModelError where a model is missing, unreachable, or cannot score.
    """
    from good_ros.inference.backends import make_scorer

    made: list[Any] = []

    def keep(make: Callable[[], Any]) -> Any:
        made.append(make())
        return made[-1]

    try:
        layouts = [VARIANTS[name].layout for name in spec.variants]
        scorers = {}
        for layout in dict.fromkeys(layout for layout in layouts if layout is not None):
            scorers[layout] = keep(
                partial(
                    make_scorer,
                    spec.scorer,
                    layout=layout,
                    served_model=spec.served_scoring_model,
                    deadline_s=spec.deadline_s,
                )
            )
            scorers[layout].self_test()
        dialog, planner, human = (
            keep(lambda: make_generator(spec.model, spec.served_model)) for _ in range(3)
        )
        judge = None
        if spec.judge_model:
            judge = keep(lambda: make_generator(spec.judge_model, spec.served_judge_model))
    except BaseException:
        for part in made:
            part.close()
        raise
    return SessionModels(dialog, planner, human, scorers, judge)


def _tell(progress: Progress) -> None:
    key = progress.key
    name = f"{key.domain}, {key.profile}, {key.variant}, trial {key.trial}"
    if progress.error:
        _say(f"{progress.done}/{progress.total} {name}: NOT run: {progress.error}")
        return
    tokens = f"{progress.tokens_in / 1000:.1f} k tokens read, {progress.tokens_out / 1000:.1f} k"
    cost = "" if progress.cost is None else f", cost {progress.cost:.4f}"
    left = "" if progress.seconds_left is None else f"; {_duration(progress.seconds_left)} left"
    _say(
        f"{progress.done}/{progress.total} {name}: {progress.machine_score:.2f} of the conditions "
        f"after {progress.turns} turns, {progress.seconds:.0f} s; in all {tokens} written{cost}"
        f"{left}"
    )


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
