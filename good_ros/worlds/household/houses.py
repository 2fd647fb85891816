"""Procedural houses (ProcTHOR's form): a JSON file as a scene.

A house lists its rooms and its objects by asset; what an asset is like comes from the asset
database that procthor carries. Walls, doors and windows hold nothing and are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.worlds.household.scenes import read_database

SUFFIX = ".json"
PROPERTIES = {
    "receptacle": "Receptacle",
    "toggleable": "CanToggleOnOff",
    "breakable": "CanBreak",
    "dirtyable": "CanBeDirty",
    "openable": "CanOpen",
    "sliceable": "CanBeSliced",
    "canFillWithLiquid": "CanBeFilled",
    "cookable": "CanBeCooked",
    "canBeUsedUp": "CanBeUsedUp",
    "isHeatSource": "isHeatSource",
    "isColdSource": "isColdSource",
}
"""The metadata's fields by the asset database's secondary properties."""

Vector = Mapping[str, float]


def is_house(scene: str) -> bool:
    """Whether a scene is named by the file of a house."""
    return scene.endswith(SUFFIX)


def read_house(path: str) -> dict[str, Any]:
    """The house in a file. Raises WorldError where there is none."""
    try:
        house = json.loads(Path(path).read_text())
    except OSError as error:
        raise WorldError(f"the house {path} cannot be read: {error}") from error
    except ValueError as error:
        raise WorldError(f"the house {path} is not JSON: {error}") from error
    if not isinstance(house, dict) or not isinstance(house.get("objects"), list):
        raise WorldError(f"{path} is no house: it needs a list of objects, as ProcTHOR writes it")
    return house


def load_house(path: str) -> list[dict[str, Any]]:
    """The metadata of the objects of a house's file at its start, in AI2-THOR's shape."""
    return house_objects(read_house(path))


def house_objects(house: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The metadata of a house's objects, its rooms' floors among them.

    Raises WorldError where an object lacks its id, place or asset, or the asset is unknown.
    """
    try:
        objects = [_floor(room) for room in house.get("rooms") or ()]
        floors = [item["objectId"] for item in objects]
        for item in house["objects"]:
            parents = [_floor_of(item, floors)] if floors else []
            objects += _with_children(item, parents)
    except (KeyError, TypeError, ValueError) as error:
        raise WorldError(f"this is no house as ProcTHOR writes it: {error!r}") from error
    _list_contents(objects)
    return objects


def _with_children(item: Mapping[str, Any], parents: list[str]) -> Iterator[dict[str, Any]]:
    yield _object(item, parents)
    for child in item.get("children") or ():
        yield from _with_children(child, [str(item["id"]), *parents])


def _object(item: Mapping[str, Any], parents: list[str]) -> dict[str, Any]:
    asset = _assets().get(str(item["assetId"]))
    if asset is None:
        raise WorldError(f"the house has the unknown asset {item['assetId']!r}")
    has = set(asset.get("secondaryProperties") or ())
    primary = asset.get("primaryProperty")
    openness = float(item.get("openness") or 0.0)
    return {
        **_blank(str(item["id"]), str(asset["objectType"]), item["position"], asset["boundingBox"]),
        "assetId": asset["assetId"],
        "rotation": dict(item.get("rotation") or {"x": 0.0, "y": 0.0, "z": 0.0}),
        "pickupable": primary == "CanPickup",
        "moveable": primary == "Moveable",
        **{field: name in has for field, name in PROPERTIES.items()},
        "isOpen": openness > 0.0,
        "openness": openness,
        "isToggled": bool(item.get("isOn") or item.get("isToggled")),
        "isDirty": bool(item.get("isDirty")),
        "parentReceptacles": parents or None,
    }


def _floor(room: Mapping[str, Any]) -> dict[str, Any]:
    xs = [float(corner["x"]) for corner in room["floorPolygon"]]
    zs = [float(corner["z"]) for corner in room["floorPolygon"]]
    centre = {"x": (min(xs) + max(xs)) / 2, "y": 0.0, "z": (min(zs) + max(zs)) / 2}
    size = {"x": max(xs) - min(xs), "y": 0.0, "z": max(zs) - min(zs)}
    return {**_blank(str(room["id"]), "Floor", centre, size), "receptacle": True}


def _floor_of(item: Mapping[str, Any], floors: list[str]) -> str:
    """The room that an object names (``Fridge|2|1`` is in ``room|2``), else the first one."""
    rooms = {floor.rpartition("|")[2]: floor for floor in floors}
    return next(
        (rooms[part] for part in str(item["id"]).split("|")[1:] if part in rooms), floors[0]
    )


def _blank(object_id: str, kind: str, position: Vector, size: Vector) -> dict[str, Any]:
    """An object of which nothing is true."""
    place = {axis: float(position[axis]) for axis in "xyz"}
    return {
        "objectId": object_id,
        "name": object_id,
        "objectType": kind,
        "assetId": "",
        "position": place,
        "rotation": {"x": 0.0, "y": 0.0, "z": 0.0},
        "axisAlignedBoundingBox": {
            "center": dict(place),
            "size": {axis: float(size[axis]) for axis in "xyz"},
        },
        "pickupable": False,
        "moveable": False,
        **dict.fromkeys(PROPERTIES, False),
        "isOpen": False,
        "openness": 0.0,
        "isToggled": False,
        "isPickedUp": False,
        "isBroken": False,
        "isSliced": False,
        "isCooked": False,
        "isDirty": False,
        "isFilledWithLiquid": False,
        "fillLiquid": None,
        "temperature": "RoomTemp",
        "parentReceptacles": None,
        "receptacleObjectIds": None,
        "controlledObjects": None,
    }


def _list_contents(objects: list[dict[str, Any]]) -> None:
    for item in objects:
        if item["receptacle"]:
            item["receptacleObjectIds"] = [
                other["objectId"]
                for other in objects
                if item["objectId"] in (other["parentReceptacles"] or ())
            ]


@cache
def _assets() -> dict[str, dict[str, Any]]:
    """The assets by id."""
    return {
        str(asset["assetId"]): asset
        for assets in read_database("asset-database.json").values()
        for asset in assets
    }
