"""The state of a household scene: immutable, so that a snapshot is a reference to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from good_ros.worlds.household.poses import Grid, Pose

RULES: dict[str, Any] = json.loads((Path(__file__).parent / "object_rules.json").read_text())
PLACEABLE_IN: dict[str, frozenset[str]] = {
    kind: frozenset(receptacles) for kind, receptacles in RULES["placeable_in"].items()
}
MUST_BE_OPEN = frozenset(RULES["must_be_open_to_place"])
COOKABLE_SLICES = frozenset(RULES["cookable_slices"])
SLICES: dict[str, str] = RULES["slices"]
LIQUIDS: tuple[str, ...] = tuple(RULES["liquids"])
IN_TYPES = frozenset(RULES["in_types"])

SOURCES = frozenset({"Faucet", "StoveBurner", "Toaster", "Microwave", "Fridge", "CoffeeMachine"})
"""Types that change what is in, on or under them."""

AFFORDANCES = (
    "pickupable",
    "moveable",
    "openable",
    "toggleable",
    "receptacle",
    "sliceable",
    "breakable",
    "cookable",
    "dirtyable",
    "canFillWithLiquid",
)
"""The metadata fields that say what can be done with an object."""

Position = tuple[float, float, float]
"""x, y (up), z in metres."""


@dataclass(frozen=True)
class ObjectState:
    """One object now. ``fixed`` is its metadata at the scene's start, never changed."""

    id: str
    name: str
    type: str
    fixed: Mapping[str, Any]
    parent: str | None
    """The receptacle that it is in or on; None on nothing, or in hand."""
    is_open: bool
    is_toggled: bool
    position: Position
    is_broken: bool = False
    is_sliced: bool = False
    is_cooked: bool = False
    is_dirty: bool = False
    liquid: str = ""
    """Water, coffee or wine; empty where nothing is in it."""
    temperature: str = "RoomTemp"
    """RoomTemp, Hot or Cold."""
    piece_of: str = ""
    """The short name of the thing that it is a piece of, or empty."""

    def but(self, **fields: Any) -> ObjectState:
        """A copy with other fields, without the cost of ``dataclasses.replace``."""
        result = object.__new__(ObjectState)
        result.__dict__.update(self.__dict__)
        result.__dict__.update(fields)
        return result

    def can(self, affordance: str) -> bool:
        return bool(self.fixed.get(affordance))

    @property
    def is_usable(self) -> bool:
        """False for what has turned into pieces."""
        return not self.is_sliced and not (self.is_broken and self.type == "Egg")

    @property
    def is_closed(self) -> bool:
        """Whether it hides what is in it."""
        return self.can("openable") and self.can("receptacle") and not self.is_open

    @property
    def preposition(self) -> str:
        return "in" if self.type in IN_TYPES else "on"


@dataclass(frozen=True)
class SceneState:
    """All objects, what is in hand, and where the robot stands (metres)."""

    objects: Mapping[str, ObjectState]
    held: str | None = None
    agent: Position = (0.0, 0.9, 0.0)
    last_moved: str | None = None
    """What the last push or pull moved, until the next action."""
    rotation: float = 0.0
    """Degrees clockwise from +z."""
    horizon: float = 0.0
    """Degrees, positive downwards."""
    standing: bool = True
    grid: Grid | None = field(default=None, compare=False, repr=False)
    """The scene's free floor, the same for all of its states."""

    @property
    def pose(self) -> Pose:
        return Pose(*self.agent, self.rotation, self.horizon, self.standing)

    def at(self, pose: Pose) -> SceneState:
        """The state with the robot at a pose; what it holds it has with it."""
        return self._with(
            agent=(pose.x, pose.y, pose.z),
            rotation=pose.rotation,
            horizon=pose.horizon,
            standing=pose.standing,
        )

    def moved(self, object_id: str | None) -> SceneState:
        """The state in which a push or pull has moved this object last, or none has."""
        return self if self.last_moved == object_id else self._with(last_moved=object_id)

    def holding(self, object_id: str | None) -> SceneState:
        """The state with this in hand."""
        return self._with(held=object_id)

    def change(self, object_id: str, **fields: Any) -> SceneState:
        """The state with one object changed; the rest is shared."""
        objects = dict(self.objects)
        objects[object_id] = objects[object_id].but(**fields)
        if "parent" in fields:
            return self._with(
                objects=objects, contents=self._regrouped(object_id, fields["parent"])
            )
        return self._with(objects=objects)

    def move(self, object_id: str, parent: str | None, position: Position) -> SceneState:
        """The state with one object in another place; what is in it comes along."""
        old = self.objects[object_id].position
        objects = dict(self.objects)
        objects[object_id] = objects[object_id].but(parent=parent, position=position)
        for content in self.inside(object_id):
            x, y, z = (
                was + new - start
                for was, new, start in zip(content.position, position, old, strict=True)
            )
            objects[content.id] = content.but(position=(x, y, z))
        return self._with(objects=objects, contents=self._regrouped(object_id, parent))

    def _with(self, **fields: Any) -> SceneState:
        """A copy with other fields, without the cost of ``dataclasses.replace``: what was worked
        out is kept, so that the objects must stay the same ones and ``contents`` be told where
        one has moved."""
        result = object.__new__(SceneState)
        result.__dict__.update(self.__dict__)
        result.__dict__.update(fields)
        return result

    def _regrouped(self, object_id: str, parent: str | None) -> Mapping[str, tuple[str, ...]]:
        """``contents`` with one object in or on another receptacle, in the objects' order."""
        old = self.objects[object_id].parent
        if old == parent:
            return self.contents
        contents = dict(self.contents)
        if old is not None:
            contents[old] = tuple(i for i in contents[old] if i != object_id)
        if parent is not None:
            there = (*contents.get(parent, ()), object_id)
            contents[parent] = tuple(sorted(there, key=self._order.__getitem__))
        return contents

    @property
    def floor(self) -> ObjectState | None:
        """What things drop to; the RoboTHOR scenes name none."""
        return next((o for o in self.objects.values() if o.type == "Floor"), None)

    def inside(self, receptacle_id: str) -> Iterator[ObjectState]:
        """What is in or on a receptacle, and in what is in it."""
        for content in self.contents.get(receptacle_id, ()):
            yield self.objects[content]
            yield from self.inside(content)

    def parents(self, object_id: str) -> Iterator[ObjectState]:
        """The receptacles that an object is in or on, nearest first."""
        parent = self.objects[object_id].parent
        while parent is not None:
            yield self.objects[parent]
            parent = self.objects[parent].parent

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The ids of what changes other things: water, heat, cold, coffee."""
        return tuple(o.id for o in self.objects.values() if o.type in SOURCES)

    @cached_property
    def switches(self) -> Mapping[str, str]:
        """By id of what is controlled, the id of what turns it on and off."""
        return {
            controlled: item.id
            for item in reversed(list(self.objects.values()))
            for controlled in item.fixed.get("controlledObjects") or ()
        }

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {object_id: number for number, object_id in enumerate(self.objects)}

    @cached_property
    def contents(self) -> Mapping[str, tuple[str, ...]]:
        """By receptacle, the ids of what is directly in or on it."""
        result: dict[str, tuple[str, ...]] = {}
        for object_id, item in self.objects.items():
            parent = item.parent
            if parent is not None:
                result[parent] = (*result.get(parent, ()), object_id)
        return result


def start_state(metadata: Sequence[Mapping[str, Any]]) -> SceneState:
    """The state of a scene as its metadata gives it."""
    names = short_names({m["objectId"]: m["objectType"] for m in metadata})
    parents = nearest_parents(metadata)
    objects = {
        item["objectId"]: object_state(
            item, names[item["objectId"]], parents[item["objectId"]], item
        )
        for item in sorted(metadata, key=lambda m: str(m["objectId"]))
    }
    return SceneState(_without_loops(objects), grid=Grid(metadata))


def object_state(
    item: Mapping[str, Any],
    name: str,
    parent: str | None,
    fixed: Mapping[str, Any],
    piece_of: str = "",
) -> ObjectState:
    """An object as its metadata says that it is."""
    position = item["position"]
    return ObjectState(
        id=item["objectId"],
        name=name,
        type=item["objectType"],
        fixed=fixed,
        parent=parent,
        is_open=bool(item["isOpen"]),
        is_toggled=bool(item["isToggled"]),
        position=(position["x"], position["y"], position["z"]),
        is_broken=bool(item["isBroken"]),
        is_sliced=bool(item["isSliced"]),
        is_cooked=bool(item["isCooked"]),
        is_dirty=bool(item["isDirty"]),
        liquid=item["fillLiquid"] or ("water" if item["isFilledWithLiquid"] else ""),
        temperature=item["temperature"],
        piece_of=piece_of,
    )


def nearest_parents(metadata: Sequence[Mapping[str, Any]]) -> dict[str, str | None]:
    """By id the receptacle that an object is directly in or on, or None.

    The engine names all receptacles around an object, in no order. The nearest is the one that
    is itself in the most of the others; of several, the smallest.
    """
    volumes = {m["objectId"]: _volume(m) for m in metadata}
    around = {m["objectId"]: frozenset(m["parentReceptacles"] or ()) for m in metadata}
    openable = {m["objectId"] for m in metadata if m["openable"]}
    result: dict[str, str | None] = {}
    for item in metadata:
        object_id = item["objectId"]
        parents = [p for p in item["parentReceptacles"] or () if p in volumes and p != object_id]
        if not item["pickupable"]:
            # The box of a cabinet may reach around a fridge; furniture is never put away.
            parents = [p for p in parents if p not in openable]
        result[object_id] = min(
            parents,
            key=lambda p: (-len(around[p].intersection(parents) - {p}), volumes[p]),
            default=None,
        )
    return result


def spawn(state: SceneState, source: ObjectState, kind: str, count: int) -> SceneState:
    """The state with ``count`` pieces of ``source`` where it is, named and numbered."""
    objects = dict(state.objects)
    there = sum(o.type == kind for o in objects.values())
    for number in range(1, count + 1):
        object_id = f"{source.id}|{kind}" if count == 1 else f"{source.id}|{kind}_{number}"
        fixed = {
            **source.fixed,
            **dict.fromkeys(AFFORDANCES, False),
            "pickupable": True,
            "cookable": kind in COOKABLE_SLICES,
            "objectId": object_id,
            "objectType": kind,
            "name": object_id,
            "assetId": "",
            "controlledObjects": None,
        }
        objects[object_id] = replace(
            source,
            id=object_id,
            name=f"{kind}_{there + number}",
            type=kind,
            fixed=fixed,
            piece_of=source.name,
            is_broken=False,
            is_sliced=False,
        )
    return replace(state, objects=objects)


def short_names(types: Mapping[str, str]) -> dict[str, str]:
    """By id a short name: the type alone where it is the only one, else numbered by id."""
    by_type: dict[str, list[str]] = {}
    for object_id in sorted(types):
        by_type.setdefault(types[object_id], []).append(object_id)
    return {
        object_id: kind if len(ids) == 1 else f"{kind}_{number}"
        for kind, ids in by_type.items()
        for number, object_id in enumerate(ids, start=1)
    }


def words_of(kind: str) -> str:
    """A type in plain words: ``RemoteControl`` is ``remote control``."""
    return " ".join(re.findall(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z]?[a-z]+|\d+", kind)).lower()


def _volume(metadata: Mapping[str, Any]) -> float:
    size = (metadata.get("axisAlignedBoundingBox") or {}).get("size") or {}
    return float(size.get("x", 0.0) * size.get("y", 0.0) * size.get("z", 0.0))


def _without_loops(objects: dict[str, ObjectState]) -> dict[str, ObjectState]:
    """Objects that are in each other (bounding boxes overlap) stand on nothing instead."""
    for object_id in list(objects):
        seen = {object_id}
        parent = objects[object_id].parent
        while parent is not None:
            if parent in seen:
                objects[object_id] = replace(objects[object_id], parent=None)
                break
            seen.add(parent)
            parent = objects[parent].parent
    return objects
