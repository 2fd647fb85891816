"""Where the robot can stand to reach a thing: a grid of free floor, without a navigation mesh.

The engine's own poses come from its physics. Here a place is free where no furniture's box
covers it at the height of a person; a thing is within reach where its box is at most
``REACH_M`` off, measured level, as the engine measures visibility.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from good_ros.worlds.household.state import ObjectState

REACH_M = 1.5
"""Farther off than this nothing can be acted on (the engine's visibility distance)."""
CELL_M = 0.25
GOOD_M = 0.6
"""How far off the robot best stands."""
MOST_POSES = 24
FLOOR_TO_HEAD_M = (0.15, 1.6)
"""What stands in the way is between these heights."""
NOT_IN_THE_WAY = frozenset({"Floor", "Ceiling", "Room"})
ALLOWED_TRIES = 8
"""Poses that are tried before a thing counts as out of reach."""
CACHED_PLACES = 4096

Box = tuple[float, float, float, float]
"""Least and greatest x, least and greatest z, in metres."""

Place = tuple[float, float, float]
"""x, y (up), z in metres."""


@dataclass(frozen=True)
class Pose:
    """A pose of the robot: metres, and degrees clockwise from +z; the horizon is positive
    downwards."""

    x: float
    y: float
    z: float
    rotation: float = 0.0
    horizon: float = 0.0
    standing: bool = True

    def as_arguments(self) -> dict[str, Any]:
        """As ``TeleportFull`` takes it and ``GetInteractablePoses`` gives it."""
        return dict(vars(self))


class Grid:
    """The free floor of a scene, and what was worked out on it."""

    def __init__(self, objects: Iterable[Mapping[str, Any]]) -> None:
        boxes = [(item, box) for item in objects if (box := item.get("axisAlignedBoundingBox"))]
        self._obstacles: list[Box] = [
            _flat(box["center"], box["size"])
            for item, box in boxes
            if not item["pickupable"]
            and item["objectType"] not in NOT_IN_THE_WAY
            and box["center"]["y"] - box["size"]["y"] / 2 < FLOOR_TO_HEAD_M[1]
            and box["center"]["y"] + box["size"]["y"] / 2 > FLOOR_TO_HEAD_M[0]
        ]
        every = [_flat(box["center"], box["size"]) for _, box in boxes] or [(0.0, 0.0, 0.0, 0.0)]
        self.bounds: Box = (
            min(b[0] for b in every),
            max(b[1] for b in every),
            min(b[2] for b in every),
            max(b[3] for b in every),
        )
        self._poses: dict[tuple[str, Place, float], tuple[Pose, ...]] = {}
        self._free: dict[tuple[int, int], bool] = {}

    def poses(self, item: ObjectState, height: float) -> tuple[Pose, ...]:
        """The poses from which a thing can be reached, best first; there is at least one."""
        key = (item.id, item.position, height)
        found = self._poses.get(key)
        if found is None:
            if len(self._poses) >= CACHED_PLACES:
                self._poses.clear()
            found = self._poses[key] = tuple(self._around(box_of(item), item.position, height))
        return found

    def is_free(self, column: int, row: int) -> bool:
        """Whether the robot can stand on a cell of the grid."""
        found = self._free.get((column, row))
        if found is None:
            x, z = column * CELL_M, row * CELL_M
            found = self._free[column, row] = _within(x, z, self.bounds) and not any(
                _within(x, z, obstacle) for obstacle in self._obstacles
            )
        return found

    def _around(self, box: Box, position: Place, height: float) -> Sequence[Pose]:
        columns = range(
            math.ceil((box[0] - REACH_M) / CELL_M), math.floor((box[1] + REACH_M) / CELL_M) + 1
        )
        rows = range(
            math.ceil((box[2] - REACH_M) / CELL_M), math.floor((box[3] + REACH_M) / CELL_M) + 1
        )
        near = [
            (column, row)
            for column in columns
            for row in rows
            if _gap(column * CELL_M, row * CELL_M, box) <= REACH_M
        ]
        # A thing that furniture stands all around is reached over it: there are no aisles here.
        free = [cell for cell in near if self.is_free(*cell)] or near
        poses = [_facing(c * CELL_M, r * CELL_M, position, height) for c, r in free]
        return ranked(poses, box)[:MOST_POSES]


def ranked(poses: Iterable[Pose], box: Box) -> list[Pose]:
    """Poses by how good they are to reach a thing from: upright, about ``GOOD_M`` off, looking
    as level as may be."""
    return sorted(
        poses,
        key=lambda pose: (
            not pose.standing,
            round(abs(_gap(pose.x, pose.z, box) - GOOD_M), 6),
            abs(pose.horizon),
            pose.x,
            pose.z,
            pose.rotation,
        ),
    )


def is_within_reach(position: Place, item: ObjectState) -> bool:
    """Whether a robot at ``position`` can reach a thing."""
    return _gap(position[0], position[2], box_of(item)) <= REACH_M + 1e-6


def box_of(item: ObjectState) -> Box:
    """Where a thing is, seen from above: its box at the start, moved along with it."""
    box, start = item.fixed.get("axisAlignedBoundingBox"), item.fixed["position"]
    x, _, z = item.position
    if not box:
        return (x, x, z, z)
    centre, size = box["center"], box["size"]
    moved = {
        "x": x + centre["x"] - start["x"],
        "z": z + centre["z"] - start["z"],
    }
    return _flat(moved, size)


def _facing(x: float, z: float, target: Place, height: float) -> Pose:
    """Upright at a place, turned to the nearest quarter towards a target."""
    angle = math.degrees(math.atan2(target[0] - x, target[2] - z))
    rotation = round(angle / 90.0) % 4 * 90.0
    return Pose(x, height, z, rotation, 0.0 if target[1] >= height / 2 else 30.0, True)


def _flat(centre: Mapping[str, float], size: Mapping[str, float]) -> Box:
    return (
        centre["x"] - size["x"] / 2,
        centre["x"] + size["x"] / 2,
        centre["z"] - size["z"] / 2,
        centre["z"] + size["z"] / 2,
    )


def _within(x: float, z: float, box: Box) -> bool:
    return box[0] <= x <= box[1] and box[2] <= z <= box[3]


def _gap(x: float, z: float, box: Box) -> float:
    """How far a place is from a box, level; 0 within it."""
    across = max(box[0] - x, 0.0, x - box[1])
    along = max(box[2] - z, 0.0, z - box[3])
    return math.hypot(across, along)
