"""How often the arm picks and places what it is told to: ``good eval arm``."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from good_ros.core.errors import GoodError, InputError
from good_ros.core.plan import Step
from good_ros.worlds.arm.world import PICKUP, PUT, ArmWorld

SCENE = "lunch_bag"
HANGS_AFTER_S = 180.0
"""Seconds of wall time after which a trial counts as hung; a step takes seconds."""


@dataclass(frozen=True)
class Pick:
    """One trial: which thing was to go from where (x, y in m) to which place.

    ``code`` is the name of the failure's ErrorCode, empty where the end was verified in the
    world, ``HUNG`` where there was no end.
    """

    seed: int
    thing: str
    place: str
    x: float
    y: float
    code: str = ""
    message: str = ""

    @property
    def verified(self) -> bool:
        return not self.code


def run_picks(
    world: ArmWorld,
    count: int,
    first_seed: int = 1,
    *,
    set_table: Callable[[ArmWorld, int], None],
    on_pick: Callable[[Pick, int], None] = lambda pick, done: None,
) -> list[Pick]:
    """``count`` trials, each on a table that ``set_table`` has set anew by its seed.

    A trial that hangs ends the run: the arm is halted. Raises InputError for a count under 1,
    WorldError where the world is lost.
    """
    if count < 1:
        raise InputError("the number of picks must be 1 or more")
    picks: list[Pick] = []
    for seed in range(first_seed, first_seed + count):
        set_table(world, seed)
        pick = _bounded(world, _choose(world, seed))
        picks.append(pick)
        on_pick(pick, len(picks))
        if pick.code == "HUNG":
            break
    return picks


def _choose(world: ArmWorld, seed: int) -> Pick:
    generator = random.Random(seed)
    thing = generator.choice(sorted(world.things))
    place = generator.choice(sorted(world.config.places))
    x, y, _ = world.body.state().things[thing].position
    return Pick(seed, thing, place, x, y)


def _bounded(world: ArmWorld, pick: Pick) -> Pick:
    result: list[Pick] = []
    trouble: list[GoodError] = []

    def work() -> None:
        try:
            result.append(_pick_and_place(world, pick))
        except GoodError as error:
            trouble.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(HANGS_AFTER_S)
    if trouble:
        raise trouble[0]
    if not result:
        world.halt()
        return _ended(pick, "HUNG", f"no end after {HANGS_AFTER_S:g} s")
    return result[0]


def _pick_and_place(world: ArmWorld, pick: Pick) -> Pick:
    for step in (Step(PICKUP, pick.thing), Step(PUT, pick.thing, pick.place)):
        outcome = world.act(step)
        if not outcome.success:
            return _ended(pick, outcome.error_code.name, outcome.error_msg)
        if missing := world.verify(step):
            return _ended(pick, "EFFECT_NOT_VERIFIED", missing)
    return pick


def _ended(pick: Pick, code: str, message: str) -> Pick:
    return Pick(pick.seed, pick.thing, pick.place, pick.x, pick.y, code, message)


def summary(picks: Sequence[Pick]) -> Mapping[str, Any]:
    """``n``, how many ended ``verified``, with ``typed_failures``, and ``hung``; ``codes`` counts
    the failures by their code."""
    codes: dict[str, int] = {}
    for pick in picks:
        if pick.code:
            codes[pick.code] = codes.get(pick.code, 0) + 1
    hung = codes.get("HUNG", 0)
    return {
        "n": len(picks),
        "verified": sum(pick.verified for pick in picks),
        "typed_failures": sum(codes.values()) - hung,
        "hung": hung,
        "codes": codes,
    }


def draw(runs: Mapping[str, Sequence[Pick]], world: ArmWorld, out: Path) -> None:
    """A map of the table for each run: where things lay, which were brought to their place.

    Raises InputError where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise InputError("a figure needs matplotlib: pip install matplotlib") from error
    figure = Figure(figsize=(4.6 * len(runs), 5.2), layout="constrained")
    for number, (title, picks) in enumerate(runs.items(), start=1):
        axes = figure.add_subplot(1, len(runs), number)
        for place in world.config.places.values():
            corner = (place.y - place.size[1] / 2, place.x - place.size[0] / 2)
            axes.add_patch(Rectangle(corner, place.size[1], place.size[0], fill=False, color="0.6"))
            axes.text(place.y, corner[1] - 0.035, place.name, ha="center", color="0.4")
        axes.plot(0, 0, "s", color="0.3", markersize=12)
        axes.text(0, -0.07, "the arm", ha="center", color="0.3")
        for good, marker, colour in ((True, "o", "tab:green"), (False, "X", "tab:red")):
            chosen = [p for p in picks if p.verified is good]
            label = f"{len(chosen)} {'verified' if good else 'failed'}"
            axes.plot(
                [p.y for p in chosen],
                [p.x for p in chosen],
                marker,
                color=colour,
                label=label,
                markersize=6,
            )
        axes.set(
            title=f"{title}: {len(picks)} picks",
            xlabel="y, to the arm's left (m)",
            ylabel="x, away from the arm (m)",
            xlim=(0.75, -0.75),
            ylim=(-0.15, 0.8),
            aspect="equal",
        )
        axes.legend(loc="upper right")
    figure.savefig(out, bbox_inches="tight")
