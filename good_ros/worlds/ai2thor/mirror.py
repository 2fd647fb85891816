"""The state of a room as the engine's metadata tells it, with names that stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from good_ros.worlds.household.poses import Pose
from good_ros.worlds.household.state import (
    ObjectState,
    SceneState,
    nearest_parents,
    object_state,
    start_state,
)

Metadata = Mapping[str, Any]


def first_state(metadata: Metadata) -> SceneState:
    """A room at its start; things are named anew."""
    return _with_agent(start_state(metadata["objects"]), metadata)


def next_state(before: SceneState, metadata: Metadata) -> SceneState:
    """The room after an action. Known things keep their names, new ones (pieces) get the next
    number of their type; a thing that is gone with pieces in its place counts as sliced."""
    objects: Sequence[Metadata] = metadata["objects"]
    parents = nearest_parents(objects)
    now = {str(item["objectId"]): item for item in objects}
    result: dict[str, ObjectState] = {}
    for object_id, old in before.objects.items():
        if object_id in now:
            result[object_id] = object_state(
                now[object_id], old.name, parents[object_id], old.fixed, old.piece_of
            )
        elif any(new.startswith(f"{object_id}|") for new in now):
            result[object_id] = replace(old, is_sliced=True, parent=None)
    counts: dict[str, int] = {}
    for old in result.values():
        counts[old.type] = counts.get(old.type, 0) + 1
    for object_id, item in now.items():
        if object_id in result:
            continue
        kind = str(item["objectType"])
        counts[kind] = counts.get(kind, 0) + 1
        whole = before.objects.get(object_id.rpartition("|")[0])
        result[object_id] = object_state(
            item,
            f"{kind}_{counts[kind]}",
            parents[object_id],
            item,
            whole.name if whole is not None else "",
        )
    return _with_agent(replace(before, objects=result), metadata)


def differences(first: SceneState, second: SceneState, within_m: float) -> list[str]:
    """What is not the same in two states of a room, in words; places may differ by
    ``within_m`` metres."""
    found = [
        f"{item.name} is {'gone' if object_id in first.objects else 'new'}"
        for states, others in ((first, second), (second, first))
        for object_id, item in states.objects.items()
        if object_id not in others.objects
    ]
    if first.held != second.held:
        found.append("the hand holds something else")
    for object_id, item in first.objects.items():
        other = second.objects.get(object_id)
        if other is None or item is other:
            continue
        if replace(item, position=other.position, fixed=other.fixed) != other:
            found.append(f"{item.name} is in another state")
        elif any(abs(a - b) > within_m for a, b in zip(item.position, other.position, strict=True)):
            found.append(f"{item.name} is elsewhere")
    return found


def _with_agent(state: SceneState, metadata: Metadata) -> SceneState:
    held = next((str(o["objectId"]) for o in metadata["objects"] if o["isPickedUp"]), None)
    if held is None and metadata.get("inventoryObjects"):
        held = str(metadata["inventoryObjects"][0]["objectId"])
    agent = metadata["agent"]
    place = agent["position"]
    pose = Pose(
        place["x"],
        place["y"],
        place["z"],
        agent["rotation"]["y"],
        agent["cameraHorizon"],
        bool(agent.get("isStanding", True)),
    )
    return replace(state, held=held).at(pose)
