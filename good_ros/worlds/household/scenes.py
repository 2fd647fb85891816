"""The real scenes: 120 of iTHOR and 75 of RoboTHOR, from the metadata that procthor carries.

The package (Apache-2.0) holds the objects of every scene at its start in one large JSON file;
each scene is kept in the cache in a file of its own, so that a second start is quick.
"""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import os
import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

from good_ros.core.cache import cache_folder
from good_ros.core.errors import WorldError

FORMAT = 1
PACKAGE = "procthor"
INSTALL = "pip install --no-deps procthor==0.0.1.dev2"

# Index + 1 within a room type is the scene's number: seen to be so for FloorPlan1 by its
# objects, taken to be so for the rest.
ROOM_OFFSETS = {"kitchens": 0, "living_rooms": 200, "bedrooms": 300, "bathrooms": 400}
ROOM_COUNT = 30


def scene_names() -> list[str]:
    """All scenes by AI2-THOR's names; RoboTHOR's order (Train 1_1 … 12_5, Val 1_1 … 3_5) is
    taken to be that of its build."""
    return list(_index())


@cache
def _index() -> dict[str, tuple[str, int]]:
    index: dict[str, tuple[str, int]] = {}
    for room, offset in ROOM_OFFSETS.items():
        for i in range(ROOM_COUNT):
            index[f"FloorPlan{offset + i + 1}"] = (room, i)
    robothor = [("Train", 12), ("Val", 3)]
    names = [
        f"FloorPlan_{split}{house}_{layout}"
        for split, houses in robothor
        for house in range(1, houses + 1)
        for layout in range(1, 6)
    ]
    for i, name in enumerate(names):
        index[name] = ("robothor", i)
    return index


@cache
def load_objects(scene: str) -> tuple[dict[str, Any], ...]:
    """The metadata of a scene's objects at its start, in AI2-THOR's shape; not to be changed.

    Raises WorldError where there is no such scene or procthor is not installed.
    """
    if scene not in _index():
        raise WorldError(
            f"there is no scene {scene!r}: iTHOR has FloorPlan1-30, 201-230, 301-330 and "
            "401-430, RoboTHOR FloorPlan_Train1_1 to FloorPlan_Val3_5"
        )
    cached = _cached_path(scene)
    if objects := _read_cached(cached):
        return tuple(objects)
    scenes = _read_package()
    try:
        for name, (room, i) in _index().items():
            path = _cached_path(name)
            if name == scene or not path.exists():
                _write_cached(path, scenes[room][i])
    except OSError:
        pass  # A cache that cannot be written only costs the next start its time.
    room, i = _index()[scene]
    return tuple(scenes[room][i])


def _cached_path(scene: str) -> Path:
    try:
        version = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError as error:
        raise WorldError(f"the real scenes are not installed: {INSTALL}") from error
    return cache_folder() / "scenes" / f"{version}-{FORMAT}" / f"{scene}.json.gz"


def _read_cached(path: Path) -> list[dict[str, Any]]:
    """The objects in a file of the cache; none where it is missing or damaged."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            objects = json.load(file)
    except (OSError, EOFError, ValueError, zlib.error):
        return []
    if not isinstance(objects, list):
        return []
    return objects if all(isinstance(o, dict) and "objectId" in o for o in objects) else []


def _read_package() -> dict[str, list[list[dict[str, Any]]]]:
    scenes: dict[str, list[list[dict[str, Any]]]] = read_database("ai2thor-object-metadata.json")
    return scenes


def read_database(name: str) -> Any:
    """One of the JSON files that the package carries. Raises WorldError where it is not there."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise WorldError(f"the real scenes are not installed: {INSTALL}") from error
    for file in files:
        if file.name == name:
            return json.loads(Path(str(file.locate())).read_text())
    raise WorldError(f"the installed procthor has no {name}: {INSTALL}")


def _write_cached(path: Path, objects: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with (
            os.fdopen(handle, "wb") as raw,
            gzip.open(raw, "wt", compresslevel=3, encoding="utf-8") as file,
        ):
            json.dump(objects, file)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
