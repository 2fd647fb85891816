"""``good eval proactive``: what proactive suggestions save a person."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from good_ros.core.errors import InputError
from good_ros.worlds.registry import make_world

SESSIONS = 20


def add_to(measures: Any) -> None:
    """Add the command to those of ``good eval``."""
    proactive = measures.add_parser(
        "proactive", help="commands that a simulated person gives, with and without suggestions"
    )
    proactive.add_argument("--sessions", type=int, default=SESSIONS, help="people, by seed from 0")
    proactive.add_argument(
        "--world", default="table", choices=("table", "arm"), help="without an arm, or with it"
    )
    proactive.add_argument("--json", action="store_true", help="one JSON object as the last line")
    proactive.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from good_ros.experiments.proactive import SessionCount, run_sessions, summary

    if options.sessions < 1:
        raise InputError("--sessions must be 1 or more")

    def tell(without: SessionCount, having: SessionCount) -> None:
        done = "complete" if without.complete and having.complete else "NOT complete"
        print(
            f"seed {having.seed}: {without.commands} commands without, {having.commands} with; "
            f"{having.accepted} of {having.offered} suggestions accepted; {done}",
            file=sys.stderr,
            flush=True,
        )

    world = make_world(options.world)
    try:
        measures = summary(run_sessions(range(options.sessions), world, tell))
    finally:
        world.close()
    if options.json:
        print(json.dumps(measures))
    else:
        for name, value in measures.items():
            print(f"{name:18} {value:.3g}")
    return 0
