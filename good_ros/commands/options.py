"""Options that several commands have."""

from __future__ import annotations

import argparse


def add_web(parser: argparse.ArgumentParser, what: str) -> None:
    """``--web [PORT]``: -1 where it is not given, 0 for any free port; ``what`` is shown."""
    parser.add_argument(
        "--web",
        nargs="?",
        type=int,
        const=0,
        default=-1,
        metavar="PORT",
        help=f"show {what} on a page, on this port or any that is free",
    )
