"""``good soak``: a long session, to see what is lost, doubled or grows."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from good_ros.core.errors import InputError

MOST_TURNS = 1000


def add(commands: Any) -> None:
    """Add the command to those of ``good``."""
    soak = commands.add_parser(
        "soak", help="one long session with scripted models: what is lost, doubled or grows"
    )
    soak.add_argument("--turns", type=int, default=MOST_TURNS, help="turns of the session")
    soak.add_argument("--json", action="store_true", help="one JSON object as the last line")
    soak.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    if not 4 <= options.turns <= MOST_TURNS:
        raise InputError(f"--turns must be 4 to {MOST_TURNS}")
    from good_ros.nodes import soak

    def tell(turn: int) -> None:
        if turn % 100 == 0:
            print(f"turn {turn}", file=sys.stderr, flush=True)

    result = soak.run(options.turns, tell)
    if options.json:
        print(json.dumps(result.as_json()))
    else:
        for name, value in result.as_json().items():
            print(f"{name:28} {value:g}")
    return 0
