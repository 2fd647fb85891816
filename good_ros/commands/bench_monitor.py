"""``good bench monitor``: what the page costs a turn, paired in one run."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any


def add_to(benches: Any) -> None:
    """Add the subcommand to those of ``good bench``."""
    monitor = benches.add_parser(
        "monitor", help="turn times with the page open and without it, with a scripted model"
    )
    monitor.add_argument("--pairs", type=int, default=10, help="pairs of blocks")
    monitor.add_argument("--turns", type=int, default=3, help="turns in a block")
    monitor.add_argument("--clients", type=int, default=10, help="pages that are open")
    monitor.add_argument(
        "--work", type=float, default=0.3, metavar="S", help="what a scripted model call takes"
    )
    monitor.add_argument("--json", action="store_true", help="one JSON object as the last line")
    monitor.set_defaults(command=_monitor)


def _monitor(options: argparse.Namespace) -> int:
    from good_ros.nodes.monitor_bench import measure

    cost = measure(
        pairs=options.pairs, turns=options.turns, clients=options.clients, work_s=options.work
    )
    print(
        f"{cost.turns} turns each: {cost.turn_s_without:.3f} s without the page, "
        f"{cost.turn_s_with:.3f} s with it and {cost.clients} clients "
        f"({cost.difference_percent:+.2f} %); the page takes "
        f"{cost.page_cpu_ms_a_turn:.1f} ms of processor time a turn; a belief "
        f"reaches a client after {cost.page_delay_ms_median:.0f} ms",
        file=sys.stderr,
    )
    if options.json:
        print(json.dumps(cost.as_json()))
    return 0
