"""``good eval arm``: random picks and places, in physics or through ros2_control's interfaces."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.worlds.arm.options import arm_packages

PATHS = ("sim", "ros2_control")


def add_to(measures: Any) -> None:
    """Add the command to those of ``good eval``."""
    arm = measures.add_parser("arm", help="random picks and places with the arm")
    arm.add_argument(
        "--path",
        default=PATHS[0],
        help="sim: in physics; ros2_control: through a controller's interfaces, before which a "
        "stand-in of ours runs the physics; with --figure also both, as sim,ros2_control",
    )
    arm.add_argument("-n", type=int, default=100, help="how many")
    arm.add_argument("--seed", type=int, default=1, help="seed of the first; the next ones follow")
    arm.add_argument("--figure", default="", help="draw a map of the table into this file")
    arm.add_argument("--json", action="store_true", help="one JSON object as the last line")
    arm.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from good_ros.experiments.arm_picks import Pick, draw, run_picks, summary

    paths = options.path.split(",")
    if unknown := set(paths) - set(PATHS):
        raise InputError(f"--path is {' or '.join(PATHS)}, not {', '.join(sorted(unknown))}")

    def tell(path: str, pick: Pick, done: int) -> None:
        if pick.code or done % 10 == 0:
            words = f"{pick.code}: {pick.message}" if pick.code else "verified"
            what = f"seed {pick.seed}, {pick.thing} to {pick.place}"
            print(f"{path} {done}/{options.n} {what}: {words}", file=sys.stderr, flush=True)

    runs = {}
    for path in paths:
        with _arm(path) as (world, set_table):
            runs[path] = run_picks(
                world,
                options.n,
                options.seed,
                set_table=set_table,
                on_pick=partial(tell, path),
            )
            if options.figure:
                draw(runs, world, Path(options.figure))
        if options.json:
            print(json.dumps({"path": path, **summary(runs[path])}), flush=True)
    return 0


@contextmanager
def _arm(path: str) -> Iterator[tuple[Any, Callable[[Any, int], None]]]:
    from good_ros.experiments.arm_picks import SCENE
    from good_ros.worlds.arm.world import ArmWorld

    if path == "sim":
        world = ArmWorld()
        world.reset(SCENE)
        try:
            yield world, lambda world, seed: world.reset(SCENE, seed)
        finally:
            world.close()
        return
    with arm_packages("this path"):
        from good_ros.nodes.arm_lab import arm_lab

    with arm_lab(SCENE) as lab:
        yield lab.world, lambda world, seed: lab.set_table(seed)
