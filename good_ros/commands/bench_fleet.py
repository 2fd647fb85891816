"""``good bench fleet``: robots that share one scoring server."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from typing import Any

from good_ros.core.errors import InputError


def add_to(benches: Any) -> None:
    """Add the subcommand to those of ``good bench``."""
    parser = benches.add_parser(
        "fleet", help="turns a second and the slowest turns, as more robots share one server"
    )
    parser.add_argument("--robots", default="1,2,4,8", metavar="N,N", help="how many robots")
    parser.add_argument("--turns", type=int, default=200, help="turns in all, for each number")
    parser.add_argument("--goals", type=int, default=9, help="goals, 'Unspecified' among them")
    parser.add_argument("--seed", type=int, default=0, help="seed of goals and dialogs")
    parser.add_argument(
        "--base-url",
        default="",
        metavar="URL",
        help="a vLLM server; without one, a server on loopback with the cost below",
    )
    parser.add_argument("--step-ms", type=float, default=5.0, help="what a step of it takes")
    parser.add_argument("--token-us", type=float, default=20.0, help="and each token of the step")
    parser.add_argument("--batch-tokens", type=int, default=8192, help="most tokens of a step")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.set_defaults(command=_fleet)


def _fleet(options: argparse.Namespace) -> int:
    from good_ros.experiments import fleet
    from good_ros.experiments.loopback_server import Cost

    try:
        robots = [int(part) for part in options.robots.split(",")]
    except ValueError as error:
        raise InputError(f"--robots is numbers with commas, not {options.robots!r}") from error
    if options.batch_tokens < 1 or options.step_ms < 0 or options.token_us < 0:
        raise InputError("--batch-tokens is at least 1, --step-ms and --token-us are not negative")
    cost = Cost(options.step_ms / 1e3, options.token_us / 1e6, options.batch_tokens)

    def tell(size: fleet.FleetSize) -> None:
        print(
            f"{size.robots} robots, {size.turns} turns of {size.tokens:.0f} tokens: "
            f"{size.throughput:.1f} turns/s; a turn took {size.median_seconds:.3f} s "
            f"(median), {size.p99_seconds:.3f} s (99 of 100)",
            file=sys.stderr,
            flush=True,
        )

    with contextlib.ExitStack() as opened:
        url = options.base_url or opened.enter_context(fleet.loopback_server(cost))
        result = fleet.run(
            url,
            robots,
            turns=options.turns,
            goals=options.goals,
            seed=options.seed,
            on_size=tell,
        )
    if options.json:
        print(json.dumps(result.as_json()))
    return 0
