"""Choosing a world on the command line, and ``good world``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.worlds.ai2thor.options import PLAYERS, SERVERS, STAND_IN, UNITY, Ai2thorOptions
from good_ros.worlds.registry import WORLDS, make_world

GROCERY = "grocery"
PROBLEMS_SHOWN = 10
ROOMS = ("household", "ai2thor")
"""Worlds that recorded runs can be done again in."""


def add_world_options(parser: argparse.ArgumentParser, choices: Sequence[str] = WORLDS) -> None:
    """Which world, and how AI2-THOR is started where it is that."""
    parser.add_argument("--world", default="household", choices=choices)
    add_player_options(parser)


def add_player_options(parser: argparse.ArgumentParser) -> None:
    """How AI2-THOR is started."""
    standard = Ai2thorOptions()
    player = parser.add_argument_group("ai2thor")
    player.add_argument("--build", default="", help="the Unity player's executable")
    player.add_argument(
        "--player",
        default=UNITY,
        choices=PLAYERS,
        help=f"{STAND_IN}: a program of ours in Unity's place, without physics and pictures",
    )
    player.add_argument(
        "--window", action="store_true", help="let the player draw, on an X display with GLX"
    )
    player.add_argument("--display", default="", help="X display of the player, such as :0")
    player.add_argument("--server", default=standard.server, choices=SERVERS, help="protocol")
    player.add_argument(
        "--start-timeout",
        type=float,
        default=standard.start_timeout_s,
        metavar="S",
        help="seconds that the player may take to start or to load a scene",
    )
    player.add_argument(
        "--step-timeout",
        type=float,
        default=standard.step_timeout_s,
        metavar="S",
        help="seconds that the player may take for one action",
    )


def player_options(options: argparse.Namespace) -> Ai2thorOptions:
    """What was given of ``add_player_options``."""
    return Ai2thorOptions(
        build=options.build,
        player=options.player,
        display=options.display,
        headless=not options.window,
        server=options.server,
        start_timeout_s=options.start_timeout,
        step_timeout_s=options.step_timeout,
    )


@contextmanager
def open_world(options: argparse.Namespace) -> Iterator[Any]:
    """The world that was chosen, closed at the end."""
    world = make_world(options.world, player_options(options))
    try:
        yield world
    finally:
        world.close()


def add_commands(commands: Any) -> None:
    """``good world check`` and ``good world show``."""
    world = commands.add_parser("world", help="check a world, or draw a scene")
    actions = world.add_subparsers(required=True, metavar="ACTION")
    check = actions.add_parser("check", help="what is missing for a world, in plain words")
    add_world_options(check, WORLDS)
    check.add_argument("--json", action="store_true", help="one JSON object as the last line")
    check.set_defaults(command=_check)
    show = actions.add_parser("show", help="draw a scene from above, or list a store")
    show.add_argument("--world", default="household", choices=("household", GROCERY))
    show.add_argument(
        "--scene",
        default="",
        help="such as FloorPlan1, or a house's JSON file; grocery: store, a .csv or a .yaml file",
    )
    show.add_argument("--seed", type=int, default=0, help="seed of the scene's start")
    show.add_argument("--session", default="", help="a session's folder: draw what was done")
    show.add_argument(
        "--out", default="", help="the picture's file, .png or .svg; grocery: a text file"
    )
    show.set_defaults(command=_show)


def _check(options: argparse.Namespace) -> int:
    from good_ros.worlds.checks import check_world

    findings = check_world(options.world, player_options(options))
    for finding in findings:
        mark = "✓" if finding.fine else "✗"
        print(f"{mark} {finding.what}: {finding.words}")
        if finding.remedy:
            print(f"    {finding.remedy}")
    missing = [finding.what for finding in findings if not finding.fine]
    if options.json:
        rows = [vars(finding) for finding in findings]
        print(json.dumps({"world": options.world, "ready": not missing, "findings": rows}))
    return 1 if missing else 0


def _show(options: argparse.Namespace) -> int:
    from good_ros.picture import draw
    from good_ros.worlds.household.world import HouseholdWorld

    if options.world == GROCERY:
        return _show_store(options)
    if not options.scene or not options.out:
        raise InputError("good world show needs --scene and --out to draw a room")
    world = HouseholdWorld()
    world.reset(options.scene, options.seed)
    draw(world, Path(options.out), Path(options.session) if options.session else None)
    print(options.out)
    return 0


def _show_store(options: argparse.Namespace) -> int:
    """The store's shelves as a table, the rows that were passed over, and a session's cart."""
    from rich.console import Console

    from good_ros.shelves import follow, shelves
    from good_ros.worlds.grocery.world import GroceryWorld

    world = GroceryWorld()
    world.reset(options.scene, options.seed)
    if options.session:
        follow(world, Path(options.session))
    problems = world.state.inventory.problems
    for problem in problems[:PROBLEMS_SHOWN]:
        print(f"passed over: {problem}", file=sys.stderr)
    if len(problems) > PROBLEMS_SHOWN:
        print(f"passed over: {len(problems) - PROBLEMS_SHOWN} rows more", file=sys.stderr)
    if not options.out:
        shelves(world, Console())
        return 0
    try:
        with Path(options.out).open("w", encoding="utf-8") as file:
            shelves(world, Console(file=file, width=160))
    except OSError as error:
        raise InputError(f"{options.out} cannot be written: {error}") from error
    print(options.out)
    return 0
