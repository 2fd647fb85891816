"""The engine's actions on the household's rules, as the player answers them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.core.plan import Step
from good_ros.worlds.household import rules
from good_ros.worlds.household.arrange import arrange
from good_ros.worlds.household.effects import settle
from good_ros.worlds.household.failures import ActionFailed, find, require_visible
from good_ros.worlds.household.faults import NO_FAULTS, Faults
from good_ros.worlds.household.houses import house_objects
from good_ros.worlds.household.moving import FORCE, POSE_FIELDS
from good_ros.worlds.household.poses import is_within_reach
from good_ros.worlds.household.preparing import DROP, GET_POSES, PUT, TASK_COMPLETED, TELEPORT
from good_ros.worlds.household.room import metadata_of
from good_ros.worlds.household.scenes import load_objects, scene_names
from good_ros.worlds.household.state import SceneState
from good_ros.worlds.household.world import settled_start, shuffled

PROCEDURAL = "Procedural"
PHYSICS = "_physics"
NOT_VISIBLE = "Target object not found within the specified visibility."
SIZE = 300
"""Pixels, square."""

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Said:
    """How an action went, in the engine's words."""

    success: bool = True
    message: str = ""
    code: str = ""
    returned: Any = None


class Engine:
    """A scene and the actions on it; ``faults`` are failures of physics that are put in."""

    def __init__(self, faults: Faults = NO_FAULTS) -> None:
        self.faults = faults
        self.scene = ""
        self.state = SceneState({})
        self.size = [SIZE, SIZE]
        self._others: dict[str, Callable[[Arguments], Said]] = {
            "Reset": self._reset,
            "GetScenesInBuild": lambda _: Said(returned=_scenes_in_build()),
            "ChangeResolution": self._resize,
            "ChangeQuality": lambda _: Said(),
            "Initialize": lambda _: Said(returned={"cameraNearPlane": 0.1, "cameraFarPlane": 20.0}),
            "CreateHouse": self._create_house,
            "InitialRandomSpawn": self._spawn,
            "SetObjectPoses": lambda a: self._arrange(poses=a["objectPoses"]),
            "SetObjectToggles": lambda a: self._arrange(toggles=a["objectToggles"]),
            "SetStateOfAllObjects": lambda a: self._arrange(dirty_and_empty=True),
            GET_POSES: self._poses,
            "Pass": lambda _: Said(),
        }

    def act(self, action: Arguments) -> Said:
        """Do one action of the engine's; a failure changes nothing."""
        name = str(action.get("action"))
        if (other := self._others.get(name)) is None and (
            name not in rules.RULES or name == TASK_COMPLETED
        ):
            return Said(False, f"Action: {name} not found.", "InvalidAction")
        try:
            return other(action) if other is not None else self._perform(name, action)
        except KeyError as error:
            return Said(False, f"{name} needs {error}", "MissingArguments")
        except (ActionFailed, WorldError) as failure:
            return Said(False, str(getattr(failure, "detail", failure)))

    def metadata(self, action: str, said: Said) -> dict[str, Any]:
        """The metadata of the one agent."""
        state = self.state
        held = state.objects[state.held] if state.held is not None else None
        inventory = [{"objectId": held.id, "objectType": held.type}] if held is not None else []
        return {
            "screenWidth": self.size[0],
            "screenHeight": self.size[1],
            "thirdPartyCameras": [],
            "lastAction": action,
            "lastActionSuccess": said.success,
            "errorMessage": said.message,
            "errorCode": said.code,
            "actionReturn": said.returned,
            "sceneName": self.scene,
            "objects": list(metadata_of(state)),
            "inventoryObjects": inventory,
            "agent": {
                "position": dict(zip("xyz", state.agent, strict=True)),
                "rotation": {"x": 0.0, "y": state.rotation, "z": 0.0},
                "cameraHorizon": state.horizon,
                "isStanding": state.standing,
            },
        }

    def _perform(self, name: str, action: Arguments) -> Said:
        step = _step(name, action)
        if name not in (DROP, TELEPORT):
            self._require_reach(step.target_id or step.object_id, step.argument == FORCE)
        self.state, _ = rules.perform(self.state, step, self.faults)
        return Said()

    def _require_reach(self, object_id: str, forced: bool) -> None:
        target = find(self.state, object_id)
        if forced:
            return
        require_visible(self.state, target)
        carried = (target.id, *(p.id for p in self.state.parents(target.id)))
        if self.state.held not in carried and not is_within_reach(self.state.agent, target):
            raise WorldError(NOT_VISIBLE)

    def _reset(self, action: Arguments) -> Said:
        scene = str(action["sceneName"])
        objects = () if scene == PROCEDURAL else load_objects(scene.removesuffix(PHYSICS))
        self.scene, self.state = scene, settled_start(objects)
        self.faults.restart()
        return Said()

    def _resize(self, action: Arguments) -> Said:
        self.size = [int(action["x"]), int(action["y"])]
        return Said()

    def _create_house(self, action: Arguments) -> Said:
        self.state = settled_start(house_objects(action["house"]))
        return Said()

    def _spawn(self, action: Arguments) -> Said:
        self.state = shuffled(self.state, int(action["randomSeed"]))
        return Said()

    def _arrange(self, **what: Any) -> Said:
        self.state = settle(arrange(self.state, **what))
        return Said()

    def _poses(self, action: Arguments) -> Said:
        target = find(self.state, str(action["objectId"]))
        poses = rules.poses_for(self.state, target.id)
        return Said(returned=[pose.as_arguments() for pose in poses])


def _step(name: str, action: Arguments) -> Step:
    """The action as a step of the household's."""
    if name == DROP:
        return Step(name)
    if name == TELEPORT:
        rotation = action["rotation"]
        pose = {**action["position"]} if "position" in action else {k: action[k] for k in "xyz"}
        pose["rotation"] = rotation["y"] if isinstance(rotation, Mapping) else rotation
        return Step(
            name, argument=json.dumps({**{k: action.get(k) for k in POSE_FIELDS[4:]}, **pose})
        )
    object_id = str(action["objectId"])
    if name == PUT:
        return Step(name, "", object_id, argument=FORCE if action.get("forceAction") else "")
    return Step(name, object_id, argument=str(action.get("fillLiquid", "")))


def _scenes_in_build() -> list[str]:
    ithor = [f"{name}{PHYSICS}" for name in scene_names() if "_" not in name]
    return [*ithor, *(name for name in scene_names() if "_" in name), PROCEDURAL]
