"""Recorded expert runs, done again in a world (ALFRED's form): does every action work there?"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from good_ros.core.errors import InputError, WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.base import World
from good_ros.worlds.household.arrange import current_type, nearest
from good_ros.worlds.household.moving import FORCE
from good_ros.worlds.household.state import ObjectState, SceneState
from good_ros.worlds.household.world import HouseholdWorld

FAR_M = 1.0
"""An id whose nearest object of its type is farther off than this names another thing."""
SAME_PLACE_M = 0.1
FIELDS = ("id", "task_type", "pddl_params", "scene", "object_poses", "object_toggles", "actions")
PIECE = re.compile(r"\|(\w+Sliced(?:_\d+)?|EggCracked)$")


@dataclass(frozen=True)
class ReplayFailure:
    """Where a run ended otherwise than recorded; ``step`` counts from 1, and is 0 where every
    action worked and the task's condition is not true."""

    id: str
    step: int
    reason: str


@dataclass
class ReplayReport:
    runs: int = 0
    failures: list[ReplayFailure] = field(default_factory=list)

    @property
    def passed(self) -> int:
        return self.runs - len(self.failures)

    def as_json(self) -> dict[str, Any]:
        return {
            "runs": self.runs,
            "passed": self.passed,
            "share": self.passed / self.runs if self.runs else 0.0,
            "failures": [vars(failure) for failure in self.failures],
        }


def load_runs(path: Path) -> list[dict[str, Any]]:
    """The runs of a file. Raises InputError where it is not a list of runs."""
    try:
        runs = json.loads(path.read_text())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    if not isinstance(runs, list):
        raise InputError(f"{path} is not a list of runs")
    for number, run in enumerate(runs, start=1):
        missing = [name for name in FIELDS if not isinstance(run, dict) or name not in run]
        if missing:
            raise InputError(f"{path}, run {number} lacks {', '.join(missing)}")
    return runs


class ThorWorld(World, Protocol):
    """A world with AI2-THOR's objects, whose start can be arranged."""

    @property
    def state(self) -> SceneState:
        """The room as it is."""

    def arrange(
        self,
        poses: Sequence[Mapping[str, Any]] = (),
        toggles: Sequence[Mapping[str, Any]] = (),
        dirty_and_empty: bool = False,
    ) -> None:
        """Set the start of the scene that was reset."""


def replay_runs(
    runs: Iterable[Mapping[str, Any]],
    on_run: Callable[[int], None] = lambda number: None,
    world: ThorWorld | None = None,
) -> ReplayReport:
    """Do every run again in a world, the household where none is given; ``on_run`` is told how
    many are done.

    Raises WorldError where the world cannot be set up or is lost.
    """
    report = ReplayReport()
    for run in runs:
        report.runs += 1
        if failure := _replay(run, world or HouseholdWorld()):
            report.failures.append(failure)
        on_run(report.runs)
    return report


def _replay(run: Mapping[str, Any], world: ThorWorld) -> ReplayFailure | None:
    world.reset(run["scene"])
    world.arrange(run["object_poses"], run["object_toggles"], run.get("dirty_and_empty", False))
    seen = _Seen(world)
    ids: dict[str, str] = {}
    for number, action in enumerate(run["actions"], start=1):
        try:
            step = _step(world, action, ids)
        except InputError as error:
            return ReplayFailure(run["id"], number, str(error))
        outcome = world.act(step)
        if outcome.error_code is ErrorCode.WORLD_LOST:
            raise WorldError(f"run {run['id']}, step {number}: {outcome.error_msg}")
        if not outcome.success:
            return ReplayFailure(run["id"], number, f"{action['action']}: {outcome.error_msg}")
        if missing := world.verify(step):
            return ReplayFailure(run["id"], number, f"{action['action']}: {missing}")
        seen.look()
    if not _is_done(run, world, seen, ids):
        return ReplayFailure(run["id"], 0, f"the task's condition is not true: {run['task_type']}")
    return None


class _Seen:
    """What was rinsed, hot or cold at some time (a later action may change it again)."""

    def __init__(self, world: ThorWorld) -> None:
        self.world = world
        self.rinsed: set[str] = set()
        self.hot: set[str] = set()
        self.cold: set[str] = set()

    def look(self) -> None:
        state = self.world.state
        running = any(o.type == "Faucet" and o.is_toggled for o in state.objects.values())
        for item in state.objects.values():
            if item.temperature == "Hot":
                self.hot.add(item.id)
            if item.temperature == "Cold":
                self.cold.add(item.id)
            parents = {p.type for p in state.parents(item.id)}
            if running and parents & {"Sink", "SinkBasin", "BathtubBasin"}:
                self.rinsed.add(item.id)


def _step(world: ThorWorld, action: Mapping[str, Any], ids: dict[str, str]) -> Step:
    """The recorded action as a step; there a put names the thing and its receptacle."""
    name = str(action["action"])
    object_id = _resolve(world, str(action["objectId"]), ids)
    if name != "PutObject":
        return Step(name, object_id, label=name)
    target = _resolve(world, str(action["receptacleObjectId"]), ids)
    return Step(name, object_id, target, name, FORCE if action.get("forceAction") else "")


def _resolve(world: ThorWorld, recorded: str, ids: dict[str, str]) -> str:
    """The world's id of a recorded one: the same, or the nearest object of its type.

    ``ids`` remembers what was found, since things are moved. Raises InputError where there is
    none near.
    """
    objects = world.state.objects
    if recorded in ids:
        return ids[recorded]
    if recorded in objects:
        ids[recorded] = recorded
        return recorded
    if piece := PIECE.search(recorded):
        whole = _resolve(world, recorded[: piece.start()], ids)
        found = f"{whole}|{piece[1]}"
        if found not in objects:
            raise InputError(f"there is no piece {recorded!r}")
        ids[recorded] = found
        return found
    parts = recorded.split("|")
    try:
        position = (float(parts[1]), float(parts[2]), float(parts[3]))
    except (IndexError, ValueError) as error:
        raise InputError(f"there is no object {recorded!r}") from error
    kind = current_type(parts[4] if len(parts) > 4 else parts[0])
    best = nearest(objects.values(), kind, position, FAR_M) or _renamed(world, position)
    if best is None:
        raise InputError(f"there is no {kind} near {recorded!r}")
    ids[recorded] = best.id
    return best.id


def _renamed(world: ThorWorld, position: tuple[float, float, float]) -> ObjectState | None:
    """The receptacle at a place where the recorded release had one of another type."""
    for item in world.state.objects.values():
        if not item.can("receptacle") or item.type == "Floor":
            continue
        if math.dist(item.position, position) <= SAME_PLACE_M:
            return item
    return None


def _is_done(run: Mapping[str, Any], world: ThorWorld, seen: _Seen, ids: Mapping[str, str]) -> bool:
    """The condition of the run's task type (ALFRED's goal conditions) on the room as it is;
    ``ids`` are the recorded ids with the world's."""
    state, task = world.state, run["pddl_params"]
    target, sliced = current_type(task["object_target"]), bool(task["object_sliced"])

    def is_target(item: ObjectState) -> bool:
        kinds = {f"{target}Sliced", "EggCracked"} if sliced else {target, f"{target}Sliced"}
        return item.type in kinds

    targets = [o for o in state.objects.values() if is_target(o) and o.is_usable]
    kind = run["task_type"]
    if kind == "look_at_obj_in_light":
        lit = any(o.type == task["toggle_target"] and o.is_toggled for o in state.objects.values())
        return lit and any(o.id == state.held for o in targets)
    parent = current_type(task["parent_target"])
    stands_for_parent = {now for then, now in ids.items() if then.split("|")[0] == parent}
    there = [
        o
        for o in targets
        if any(p.type == parent or p.id in stands_for_parent for p in state.parents(o.id))
    ]
    if kind == "pick_and_place_simple":
        return bool(there)
    if kind == "pick_two_obj_and_place":
        return len(there) >= 2
    if kind == "pick_and_place_with_movable_recep":
        movable = task["mrecep_target"]
        return any(any(p.type == movable for p in state.parents(o.id)) for o in there)
    changed = {
        "pick_clean_then_place_in_recep": seen.rinsed,
        "pick_heat_then_place_in_recep": seen.hot,
        "pick_cool_then_place_in_recep": seen.cold,
    }.get(kind)
    if changed is None:
        raise InputError(f"run {run['id']} has the unknown task type {kind!r}")
    return any(o.id in changed for o in there)
