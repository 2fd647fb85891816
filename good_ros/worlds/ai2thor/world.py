"""The AI2-THOR world: the household's interface and actions on the real engine."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.ai2thor.driver import Answer, Driver, OwnFault, PlayerLost
from good_ros.worlds.ai2thor.failures import code_of
from good_ros.worlds.ai2thor.mirror import differences, first_state, next_state
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.base import ActionOutcome
from good_ros.worlds.household import faults, rules
from good_ros.worlds.household.failures import ActionFailed, find
from good_ros.worlds.household.houses import is_house, read_house
from good_ros.worlds.household.moving import FORCE, read_pose
from good_ros.worlds.household.poses import Pose, box_of, ranked
from good_ros.worlds.household.preparing import (
    DROP,
    GET_POSES,
    PICKUP,
    PUT,
    TASK_COMPLETED,
    TELEPORT,
    out_of_reach,
    prepare,
    tries,
    with_opened,
)
from good_ros.worlds.household.room import Room, failed, refuse_unknown
from good_ros.worlds.household.state import SceneState

SAME_PLACE_M = 0.05
"""How far off a thing may be after a replay: the engine's physics settle a little otherwise."""
ANOTHER_POSE_HELPS = frozenset(
    {ErrorCode.NOT_VISIBLE, ErrorCode.NOT_INTERACTABLE, ErrorCode.BLOCKED}
)
"""Failures that may be due to where the robot stands."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Told:
    """An action that the engine has done."""

    action: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Start:
    """How a room is set up: the scene, the seed, and what was arranged then."""

    scene: str
    seed: int = 0
    arranged: tuple[Told, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """A room as its start and what was done since; ``state`` is what a replay must lead to."""

    start: Start
    done: tuple[Told, ...]
    state: SceneState


class Ai2thorWorld(Room):
    """Implements ``worlds.base.World`` on ``ai2thor.controller.Controller``.

    The player is started by the first ``reset``. A snapshot is the list of actions that worked;
    ``restore`` resets the scene and does them again, and checks that the room is the same. The
    engine decides whether an action works; the words for it are the household's where both
    agree on what happened.
    """

    name = "ai2thor"

    def __init__(self, options: Ai2thorOptions | None = None) -> None:
        super().__init__()
        self.options = options or Ai2thorOptions()
        self._driver: Driver | None = None
        self._start = Start("")
        self._done: tuple[Told, ...] = ()
        self._lost = "no scene was set up"

    def reset(self, scene: str, seed: int = 0) -> None:
        """Set up a scene of the build, or a procedural house from its JSON file; another seed
        than 0 moves things.

        Raises WorldError where there is no such scene or the player cannot be started.
        """
        self._lost = "no scene was set up"
        self._go_back(Snapshot(Start(scene, seed), (), SceneState({})), compared=False)
        self.scene, self._lost = scene, ""

    def arrange(
        self,
        poses: Sequence[Mapping[str, Any]] = (),
        toggles: Sequence[Mapping[str, Any]] = (),
        dirty_and_empty: bool = False,
    ) -> None:
        """Set the start of the scene that was reset, as ``household.arrange`` describes.

        Raises WorldError where the engine does not do it.
        """
        told = []
        if poses:
            told.append(Told("SetObjectPoses", {"objectPoses": [dict(p) for p in poses]}))
        if toggles:
            told.append(Told("SetObjectToggles", {"objectToggles": [dict(t) for t in toggles]}))
        if dirty_and_empty:
            for change in ("CanBeDirty", "CanBeFilled"):
                told.append(
                    Told(
                        "SetStateOfAllObjects",
                        {"StateChange": change, "forceAction": change == "CanBeDirty"},
                    )
                )
        if told:
            self._start = replace(self._start, arranged=(*self._start.arranged, *told))
            self._state = first_state(_all(self._running(), told).metadata)

    def metadata(self) -> list[dict[str, Any]]:
        """The objects' metadata as the engine last gave it."""
        return [dict(item) for item in self._running().last().metadata["objects"]]

    def interactable_poses(self, object_id: str) -> list[dict[str, Any]]:
        """As the engine gives them. Raises WorldError where there is no such object."""
        answer = self._running().step(GET_POSES, objectId=object_id)
        if not answer.success:
            raise WorldError(answer.message)
        return [dict(pose) for pose in answer.returned]

    def act(self, step: Step) -> ActionOutcome:
        if unknown := refuse_unknown(step):
            return unknown
        if self._lost:
            return _world_lost(self._lost)
        before = self.snapshot()
        try:
            try:
                return ActionOutcome(True, self._do(step))
            except ActionFailed as failure:
                self._take_back(before)
                return failed(failure)
            except OwnFault as fault:
                _log.error(fault)
                self._take_back(before)
                return ActionOutcome(
                    False,
                    error_code=ErrorCode.INVALID_ACTION,
                    error_msg=f"this is a fault of the AI2-THOR bridge, not of the plan: {fault}",
                    detail=str(fault),
                )
        except PlayerLost as lost:
            return self._rebuild(before, lost)
        except WorldError as error:
            self._lost = str(error)
            return _world_lost(self._lost)

    def snapshot(self) -> Snapshot:
        return Snapshot(self._start, self._done, self._state)

    def restore(self, snapshot: object) -> None:
        """Reset the scene and do again what had worked by then.

        Raises WorldError where that does not lead to the same room, or the player is lost and
        cannot be started again.
        """
        if not isinstance(snapshot, Snapshot):
            raise WorldError("restore takes what snapshot of an ai2thor world gave")
        if not self._lost and (snapshot.start, snapshot.done) == (self._start, self._done):
            return
        try:
            self._go_back(snapshot)
        except WorldError as error:
            self._lost = str(error)
            raise
        self.scene, self._lost = snapshot.start.scene, ""

    def close(self) -> None:
        """End the player; ``reset`` starts another one."""
        if self._driver is not None:
            self._driver.close()
        self._driver = None
        self._lost = self._lost or "the world was closed"

    # One step.

    def _do(self, step: Step) -> str:
        """Do a step with all that it needs before; the effect. Raises ActionFailed."""
        prepared = prepare(self._state, step)
        if step.action == TASK_COMPLETED:
            self._state, effect = rules.perform(self._state, step)
            return effect
        if step.action == GET_POSES:
            name = find(self._state, step.object_id).name
            self._state = replace(self._state, last_moved=None)
            return f"{name} can be reached from {len(self._poses(step.object_id))} poses"
        for receptacle in prepared.opened:
            self._do_near(receptacle, Step("OpenObject", receptacle))
        effect = self._do_near(prepared.near, prepared.step)
        return with_opened(self._state, prepared.opened, effect)

    def _do_near(self, object_id: str, step: Step) -> str:
        """Do an action from the best pose that allows it. Raises ActionFailed."""
        poses = self._poses(object_id) if object_id else ()
        if not poses:
            return self._tell(step)
        hidden = any(parent.is_closed for parent in self._state.parents(object_id))
        count = tries(len(poses))
        failure: ActionFailed | None = None
        collision = ""
        for pose in poses[:count]:
            try:
                if pose != self._state.pose:
                    self._tell(Step(TELEPORT), pose)
            except ActionFailed as problem:
                collision = problem.detail
                continue
            try:
                return self._tell(step)
            except ActionFailed as problem:
                failure = failure or problem
                if hidden or problem.code not in ANOTHER_POSE_HELPS:
                    break
        name = self._state.objects[object_id].name
        raise failure or out_of_reach(name, count, collision)

    def _poses(self, object_id: str) -> list[Pose]:
        """The poses from which the engine says that an object can be reached, best first."""
        answer = self._running().step(GET_POSES, objectId=object_id)
        if not answer.success:
            raise ActionFailed(code_of(answer.message), answer.message, answer.message)
        poses = [_pose(given) for given in answer.returned or ()]
        return ranked(poses, box_of(self._state.objects[object_id]))

    def _tell(self, step: Step, pose: Pose | None = None) -> str:
        """Have the engine do one action; the effect in words. Raises ActionFailed."""
        told = Told(step.action, _arguments(step, pose))
        before = self._state
        answer = self._running().step(told.action, **told.arguments)
        if not answer.success:
            raise _failure(before, step, answer.message)
        self._state = _seen(before, step, answer)
        self._done = (*self._done, told)
        return "" if pose is not None else _effect(before, self._state, step)

    # Going back.

    def _take_back(self, before: Snapshot) -> None:
        """The room as it was before a step that failed: undo its preparations one by one, or,
        where that does not lead there, reset and replay. Raises WorldError."""
        extra = self._done[len(before.done) :]
        if extra and not self._undo(extra, before):
            self._go_back(before)
        self._done = before.done
        self._state = replace(self._state, last_moved=before.state.last_moved)

    def _undo(self, extra: Sequence[Told], before: Snapshot) -> bool:
        """Close what was opened, from where it was opened, and go back; whether it worked."""
        places = [before.state.pose]
        places += [_pose(told.arguments) for told in extra if told.action == TELEPORT]
        driver = self._running()
        for told in reversed(extra):
            if told.action == "OpenObject":
                answer = driver.step("CloseObject", **told.arguments)
            elif told.action == TELEPORT:
                places.pop()
                answer = driver.step(TELEPORT, **places[-1].as_arguments())
            else:
                return False
            if not answer.success:
                return False
            self._state = next_state(self._state, answer.metadata)
        return not differences(before.state, self._state, SAME_PLACE_M)

    def _rebuild(self, before: Snapshot, lost: PlayerLost) -> ActionOutcome:
        """Start the player again and bring the room back; the outcome of the step."""
        try:
            self._go_back(before)
        except WorldError as error:
            self._lost = f"{lost}; the room could not be rebuilt: {error}"
            return _world_lost(self._lost)
        return ActionOutcome(
            False,
            error_code=ErrorCode.BLOCKED,
            error_msg=f"{lost}; it was started again and the room is as it was before the step",
            detail=str(lost),
        )

    def _go_back(self, snapshot: Snapshot, compared: bool = True) -> None:
        """Set the room up from its start and do again what was done. Raises WorldError."""
        was_running = self._driver is not None and not self._driver.is_lost
        try:
            state = self._replay(snapshot)
        except PlayerLost:
            if not was_running:
                raise
            state = self._replay(snapshot)
        if compared and (found := differences(snapshot.state, state, SAME_PLACE_M)):
            raise WorldError(
                "doing again what was done did not lead to the same room: " + ", ".join(found[:5])
            )
        self._start, self._done = snapshot.start, snapshot.done
        self._state = replace(state, last_moved=snapshot.state.last_moved)

    def _replay(self, snapshot: Snapshot) -> SceneState:
        driver, answer = self._set_up(snapshot.start)
        answer = _all(driver, snapshot.start.arranged) or answer
        state = first_state(answer.metadata)
        for told in snapshot.done:
            state = next_state(state, _all(driver, [told]).metadata)
        return state

    def _set_up(self, start: Start) -> tuple[Driver, Answer]:
        """The scene at its start, in a new player where the last one is lost."""
        scene = read_house(start.scene) if is_house(start.scene) else start.scene
        if self._driver is not None and self._driver.is_lost:
            self._driver.close()
            self._driver = None
        if self._driver is None:
            self._driver = Driver(self.options, scene)
            answer = self._driver.last()
        else:
            answer = self._driver.reset(scene)
        if start.seed:
            spawn = {"randomSeed": start.seed, "forceVisible": False, "placeStationary": True}
            answer = _all(self._driver, [Told("InitialRandomSpawn", spawn)])
        return self._driver, answer

    def _running(self) -> Driver:
        if self._driver is None:
            raise WorldError(f"AI2-THOR is not running: {self._lost}; reset the world")
        return self._driver


def _all(driver: Driver, actions: Sequence[Told]) -> Any:
    """Do actions that must work; the last answer, None where there are none.

    Raises WorldError where one does not.
    """
    answer = None
    for told in actions:
        answer = driver.step(told.action, **told.arguments)
        if not answer.success:
            raise WorldError(f"{told.action}, which has to work, does not: {answer.message}")
    return answer


def _arguments(step: Step, pose: Pose | None) -> dict[str, Any]:
    """The engine's arguments of an action."""
    if step.action == TELEPORT:
        return (pose or read_pose(step.argument)).as_arguments()
    if step.action == DROP:
        return {}
    if step.action == PUT:
        forced = {"forceAction": True} if step.argument == FORCE else {}
        return {"objectId": step.target_id, **forced}
    if step.action == "FillObjectWithLiquid":
        return {"objectId": step.object_id, "fillLiquid": step.argument}
    return {"objectId": step.object_id}


def _pose(given: Mapping[str, Any]) -> Pose:
    return Pose(
        given["x"],
        given["y"],
        given["z"],
        given["rotation"],
        given["horizon"],
        bool(given["standing"]),
    )


def _seen(before: SceneState, step: Step, answer: Answer) -> SceneState:
    """The room after an action that worked."""
    state = replace(next_state(before, answer.metadata), last_moved=None)
    if step.action in ("PushObject", "PullObject"):
        now, was = state.objects[step.object_id], before.objects[step.object_id]
        if now.position != was.position:
            return replace(state, last_moved=step.object_id)
    return state


def _effect(before: SceneState, now: SceneState, step: Step) -> str:
    """What an action led to, in the household's words where it is so."""
    rule = rules.RULES[step.action]
    item = now.objects.get(step.object_id)
    try:
        _, effect = rules.perform(before, step)
    except ActionFailed:
        effect = ""
    if effect and (item is None or rule.holds(now, item, step)):
        return effect
    return f"AI2-THOR did {step.action}"


def _failure(state: SceneState, step: Step, message: str) -> ActionFailed:
    """The engine's refusal as a typed failure, in the household's words where both agree."""
    code = code_of(message)
    words = {
        (PUT, ErrorCode.FULL): lambda: faults.no_place(state, step),
        (PICKUP, ErrorCode.BLOCKED): lambda: faults.clips(state, step),
        (TELEPORT, ErrorCode.BLOCKED): lambda: faults.collides(state),
    }
    foreseen: ActionFailed | None = None
    try:
        if step.action != TELEPORT:
            rules.perform(state, step)
    except ActionFailed as same:
        foreseen = same
    if foreseen is None or foreseen.code is not code:
        make = words.get((step.action, code))
        has_hand = step.action == PICKUP or state.held is not None
        foreseen = make() if make is not None and has_hand else None
    if foreseen is None:
        return ActionFailed(code, f"AI2-THOR did not do {step.action}: {message}", message)
    return ActionFailed(code, foreseen.message, message)


def _world_lost(reason: str) -> ActionOutcome:
    return ActionOutcome(
        False, error_code=ErrorCode.WORLD_LOST, error_msg=f"AI2-THOR is lost: {reason}"
    )
