"""``good bench belief``: what a turn costs, as ratios within one run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from good_ros.inference.layout import DEFAULT_LAYOUT, Layout


def add_to(benches: Any) -> None:
    """Add the subcommand to those of ``good bench``."""
    parser = benches.add_parser("belief", help="a turn of the belief against a full recompute")
    parser.add_argument("--backend", default="transformers", choices=["transformers", "llama_cpp"])
    parser.add_argument("--model", default="small")
    parser.add_argument("--layout", default=DEFAULT_LAYOUT.value, choices=[x.value for x in Layout])
    parser.add_argument("--goals", type=int, default=20, help="goals, 'Unspecified' among them")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="seed of goals and dialog")
    parser.add_argument("--limit", type=int, default=0, help="only the first so many turns")
    parser.add_argument(
        "--every", type=int, default=1, help="measure only every so many turns, and the last"
    )
    parser.add_argument("--plot", default="", help="write the turns' times to this PNG file")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.set_defaults(command=_belief)


def _belief(options: argparse.Namespace) -> int:
    from good_ros.experiments import bench_belief as measured

    work = measured.make_workload(options.goals, options.turns, options.seed)
    if options.limit:
        work = measured.Workload(work.goals, work.dialog[: options.limit])
    layout = Layout(options.layout)
    bench: measured.Bench
    if options.backend == "transformers":
        bench = measured.TransformersBench(options.model, layout)
    else:
        bench = measured.LlamaCppBench(options.model, layout)
    baseline = bench.baseline
    cost = measured.BeliefCost()
    for cost in measured.run(bench, work, options.every):
        turn = cost.turns[-1]
        times = ", ".join(f"{way} {seconds:.2f} s" for way, seconds in turn.seconds.items())
        print(
            f"turn {turn.turn}: {times}; {turn.new_tokens} new tokens, "
            f"{cost.against(baseline)[0]:.1f} times {baseline}",
            file=sys.stderr,
            flush=True,
        )
    result = cost.as_json(baseline)
    print(
        f"{baseline} takes {result['ratio_last_turn']:.1f} times as long at the last turn, "
        f"{result['ratio_total']:.1f} times in total",
        file=sys.stderr,
    )
    if options.plot:
        from good_ros.experiments.figures import turn_times

        turn_times(
            Path(options.plot),
            result["turns"],
            result["seconds"],
            f"{options.model}, {options.backend}, {options.goals} goals, seed {options.seed}",
        )
    if options.json:
        print(json.dumps(result))
    return 0
