"""The household's speed against the real Controller with a player, measured in one run.

Both do the same steps of a plan on FloorPlan1, in turns, so that a busy machine slows both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.core.plan import Step
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.ai2thor.world import Ai2thorWorld
from good_ros.worlds.base import World
from good_ros.worlds.household.world import HouseholdWorld

SCENE = "FloorPlan1"
HOUSEHOLD_REPEATS = 50
"""Times that the household does the steps in a round, so that a round can be timed."""
SNAPSHOTS = 1000
WARM_UP_RESETS = 50
"""Resets before growth is measured: caches fill and the allocator settles."""
PLAN = (
    ("PickupObject", "Egg", ""),
    ("PutObject", "Egg", "CounterTop_2"),
    ("CloseObject", "Fridge", ""),
    ("ToggleObjectOn", "StoveBurner_1", ""),
    ("ToggleObjectOff", "StoveBurner_1", ""),
    ("PickupObject", "Bread", ""),
    ("PutObject", "Bread", "Fridge"),
    ("CloseObject", "Fridge", ""),
    ("FillObjectWithLiquid", "Mug", ""),
    ("EmptyLiquidFromObject", "Mug", ""),
)


@dataclass(frozen=True)
class WorldBench:
    """Seconds a step (median of the rounds), and growth of this process in megabytes."""

    household_s: float
    ai2thor_s: float
    engine_step_s: float
    snapshot_restore_s: float
    growth_mb: float
    ai2thor_growth_mb: float
    resets: int

    def as_json(self) -> dict[str, Any]:
        return {
            "ratio_actions": self.ai2thor_s / self.household_s,
            "ratio_engine_steps": self.engine_step_s / self.household_s,
            "snapshot_restore_over_action": self.snapshot_restore_s / self.household_s,
            "growth_mb_1000_resets": self.growth_mb * 1000 / self.resets,
            "growth_mb_1000_resets_ai2thor": self.ai2thor_growth_mb * 1000 / self.resets,
            "household_us": self.household_s * 1e6,
            "ai2thor_us": self.ai2thor_s * 1e6,
            "engine_step_us": self.engine_step_s * 1e6,
            "snapshot_restore_us": self.snapshot_restore_s * 1e6,
            "resets": self.resets,
        }

    def in_words(self) -> Iterator[str]:
        """A line for each thing that was measured."""
        fields = self.as_json()
        yield (
            f"a step takes {fields['household_us']:.0f} µs in the household and "
            f"{fields['ai2thor_us']:.0f} µs through AI2-THOR's client: "
            f"{fields['ratio_actions']:.0f} times as many a second"
        )
        yield (
            f"one bare action of the client's takes {fields['engine_step_us']:.0f} µs, "
            f"{fields['ratio_engine_steps']:.0f} times a household step"
        )
        yield (
            f"snapshot and restore together take {fields['snapshot_restore_us']:.2f} µs, "
            f"{fields['snapshot_restore_over_action']:.3f} of a step"
        )
        yield (
            f"1000 resets grow memory by {fields['growth_mb_1000_resets']:.1f} MB, through the "
            f"client by {fields['growth_mb_1000_resets_ai2thor']:.1f} MB ({self.resets} measured)"
        )


def bench_worlds(options: Ai2thorOptions, rounds: int, resets: int) -> WorldBench:
    """Measure both worlds. Raises WorldError where a step that must work does not."""
    household, ai2thor = HouseholdWorld(), Ai2thorWorld(options)
    try:
        household.reset(SCENE)
        ai2thor.reset(SCENE)
        plan = _plan(household)
        for world in (household, ai2thor):
            _carry_out(world, plan)
        fast, slow, bare = [], [], []
        for _ in range(rounds):
            fast.append(_seconds(lambda: _repeat(household, plan)) / HOUSEHOLD_REPEATS / len(plan))
            ai2thor.reset(SCENE)
            slow.append(_seconds(lambda: _carry_out(ai2thor, plan)) / len(plan))
            bare.append(_seconds(lambda: _bare(ai2thor, plan)) / len(plan))
        household.reset(SCENE)
        snapshots = [_seconds(lambda: _snapshots(household)) / SNAPSHOTS for _ in range(rounds)]
        return WorldBench(
            _median(fast),
            _median(slow),
            _median(bare),
            _median(snapshots),
            _growth_mb(household, resets),
            _growth_mb(ai2thor, resets),
            resets,
        )
    finally:
        ai2thor.close()


def _plan(world: HouseholdWorld) -> list[Step]:
    ids = {item.name: item.id for item in world.observe()}
    return [
        Step(action, ids[name], ids.get(target, ""), action, "water" if "Fill" in action else "")
        for action, name, target in PLAN
    ]


def _carry_out(world: World, plan: list[Step]) -> None:
    for step in plan:
        outcome = world.act(step)
        if not outcome.success:
            raise WorldError(f"{step.action} failed in {world.name}: {outcome.error_msg}")


def _repeat(world: HouseholdWorld, plan: list[Step]) -> None:
    start = world.snapshot()
    for _ in range(HOUSEHOLD_REPEATS):
        world.restore(start)
        _carry_out(world, plan)


def _bare(world: Ai2thorWorld, plan: list[Step]) -> None:
    for step in plan:
        world.interactable_poses(step.object_id)


def _snapshots(world: HouseholdWorld) -> None:
    for _ in range(SNAPSHOTS):
        world.restore(world.snapshot())


def _seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _growth_mb(world: World, resets: int) -> float:
    for _ in range(WARM_UP_RESETS):
        world.reset(SCENE)
    before = _resident_mb()
    for _ in range(resets):
        world.reset(SCENE)
    return _resident_mb() - before


def _resident_mb() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise WorldError("the memory of this process cannot be read")
