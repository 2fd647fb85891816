"""Setting a scene's start: where things are, what is on, what is dirty.

Recorded runs (ALFRED) give the poses of all things that can be picked up, made anew for each
run; their ids follow from the poses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.worlds.household.scenes import load_objects, scene_names
from good_ros.worlds.household.state import ObjectState, SceneState, short_names

OLD_TYPES = {"Glassbottle": "Bottle"}
"""Types by their names in older releases of AI2-THOR."""
MARGIN_M = 0.06
"""How far outside of a receptacle's box a thing may stand and still be in or on it."""
ABOVE_M = 0.45
"""How far above the top of a receptacle's box the centre of a thing on it may be."""

Point = tuple[float, float, float]


def arrange(
    state: SceneState,
    poses: Sequence[Mapping[str, Any]] = (),
    toggles: Sequence[Mapping[str, Any]] = (),
    dirty_and_empty: bool = False,
) -> SceneState:
    """The scene with things at ``poses`` ({objectName, position}, metres) in place of those of
    the same types, switches as in ``toggles`` ({objectType, isOn}), and, with
    ``dirty_and_empty``, everything that can be dirty or full made dirty and empty.

    Raises WorldError for a type that no scene has.
    """
    if poses:
        state = _place(state, poses)
    for toggle in toggles:
        for item in state.objects.values():
            if item.type == toggle["objectType"]:
                state = state.change(item.id, is_toggled=bool(toggle["isOn"]))
    if dirty_and_empty:
        for item in list(state.objects.values()):
            if item.can("dirtyable") or item.can("canFillWithLiquid"):
                dirty = item.can("dirtyable") or item.is_dirty
                state = state.change(item.id, is_dirty=dirty, liquid="")
    return state


def current_type(kind: str) -> str:
    """The type's name in the scenes' release."""
    return OLD_TYPES.get(kind, kind)


def nearest(
    objects: Iterable[ObjectState], kind: str, position: Point, within_m: float
) -> ObjectState | None:
    """The object of a type that is nearest to a position, at most ``within_m`` off; the only
    one of its type is it however far off (releases of AI2-THOR moved some furniture)."""
    found = [o for o in objects if o.type == kind and o.is_usable]
    if len(found) == 1:
        return found[0]
    best = min(found, key=lambda o: _distance(o.position, position), default=None)
    return best if best and _distance(best.position, position) <= within_m else None


def _place(state: SceneState, poses: Sequence[Mapping[str, Any]]) -> SceneState:
    kinds = {_kind(pose) for pose in poses}
    kept = {
        o.id: o for o in state.objects.values() if not (o.can("pickupable") and o.type in kinds)
    }
    kept = {
        i: replace(o, parent=None) if o.parent is not None and o.parent not in kept else o
        for i, o in kept.items()
    }
    templates = {o.type: o.fixed for o in state.objects.values()}
    placed: dict[str, ObjectState] = {}
    for pose in poses:
        kind = _kind(pose)
        position = (pose["position"]["x"], pose["position"]["y"], pose["position"]["z"])
        object_id = "|".join([kind, *(f"{value:+06.2f}" for value in position)])
        fixed = templates.get(kind) or _template(kind)
        placed[object_id] = ObjectState(
            id=object_id,
            name="",
            type=kind,
            fixed={**fixed, "objectId": object_id, "name": pose["objectName"]},
            parent=None,
            is_open=bool(fixed["isOpen"]),
            is_toggled=bool(fixed["isToggled"]),
            position=position,
        )
    for object_id, item in placed.items():
        others = [*kept.values(), *(o for o in placed.values() if o.id != object_id)]
        placed[object_id] = replace(item, parent=_under(item.position, others))
    objects = dict(sorted({**kept, **placed}.items()))
    names = short_names({o.id: o.type for o in objects.values()})
    return replace(
        state, objects={i: replace(o, name=names[i]) for i, o in objects.items()}, held=None
    )


def _under(position: Point, others: Iterable[ObjectState]) -> str | None:
    """The smallest receptacle whose box a position is in or stands on."""
    found: list[tuple[float, str]] = []
    for other in others:
        if not other.can("receptacle") or other.type == "Floor":
            continue
        if other.can("pickupable"):
            # A bowl in which something lies was moved with it: its box is that of the start.
            continue
        box = other.fixed.get("axisAlignedBoundingBox") or {}
        if not box:
            continue
        centre, size = box["center"], box["size"]
        inside = all(
            abs(position[axis] - centre[name]) <= size[name] / 2 + MARGIN_M
            for axis, name in ((0, "x"), (2, "z"))
        )
        bottom, top = centre["y"] - size["y"] / 2, centre["y"] + size["y"] / 2
        # Nothing stands on what is closed: it is inside, or somewhere else.
        above = MARGIN_M if other.can("openable") else ABOVE_M
        if inside and bottom - MARGIN_M <= position[1] <= top + above:
            found.append((size["x"] * size["y"] * size["z"], other.id))
    return min(found)[1] if found else None


def _kind(pose: Mapping[str, Any]) -> str:
    return current_type(str(pose["objectName"]).split("_")[0])


@cache
def _template(kind: str) -> Mapping[str, Any]:
    """The metadata of some object of a type, from the first scene that has one."""
    for scene in scene_names():
        for item in load_objects(scene):
            if item["objectType"] == kind:
                return item
    raise WorldError(f"no scene has an object of the type {kind!r}")


def _distance(first: Point, second: Point) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5)
