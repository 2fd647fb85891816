"""``good bench world``: how fast the worlds are, as ratios within one run."""

from __future__ import annotations

import argparse
import json
from typing import Any

from good_ros.commands.worlds import add_player_options, player_options
from good_ros.worlds.ai2thor.options import STAND_IN


def add_to(benches: Any) -> None:
    """Add the subcommand to those of ``good bench``."""
    world = benches.add_parser(
        "world", help="the household against AI2-THOR's client with a stand-in player, in one run"
    )
    world.add_argument("--rounds", type=int, default=10, help="blocks of actions in each world")
    world.add_argument("--resets", type=int, default=1000, help="resets whose growth is measured")
    world.add_argument("--json", action="store_true", help="one JSON object as the last line")
    add_player_options(world)
    # A bench without a player would need Unity; here the stand-in is what is measured.
    world.set_defaults(command=_bench_world, player=STAND_IN)


def _bench_world(options: argparse.Namespace) -> int:
    from good_ros.experiments.bench_worlds import bench_worlds

    result = bench_worlds(player_options(options), options.rounds, options.resets)
    for line in result.in_words():
        print(line)
    if options.json:
        print(json.dumps(result.as_json()))
    return 0
