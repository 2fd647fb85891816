"""The arm world: a UR5e with a two-finger gripper at a table, in physics or behind a controller."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.arm.behaviours import APART_M, Behaviours
from good_ros.worlds.arm.body import ArmState, Body
from good_ros.worlds.arm.config import BOX, ArmConfig, Place, load_config
from good_ros.worlds.arm.motion import ArmFailed, Motion, Target
from good_ros.worlds.arm.scene import Pose, Thing, load_things, scene_model
from good_ros.worlds.arm.sim import Saved, SimBody
from good_ros.worlds.base import ActionOutcome, ObjectView

PICKUP, PUT, GOTO, GRASP = "PickupObject", "PutObject", "GoTo", "Grasp"
RELEASE, HOME, END = "Release", "GoHome", "TaskCompleted"
ACTIONS = (PICKUP, PUT, GOTO, GRASP, RELEASE, HOME, END)
MOVED_M = 0.03
"""A thing that is no farther from where it was has not been moved."""

MakeBody = Callable[[ArmConfig, Sequence[Thing]], Body]


@dataclass(frozen=True)
class _Sight:
    """What a physical arm can go back to: where everything was."""

    state: ArmState


class ArmWorld:
    """Implements ``worlds.base.World``.

    Without ``make_body`` the arm is in MuJoCo, and snapshots are the physics' whole state. With
    it the arm is a physical one: ``restore`` brings back by motions what was moved, and raises
    WorldError, with a request for help, where that cannot be done; ``reset`` moves nothing; and
    plans are tried in physics (``rehearsal``), never on the arm.
    """

    name = "arm"

    def __init__(self, config: ArmConfig | None = None, make_body: MakeBody | None = None) -> None:
        self.config = config or load_config()
        self.is_physical = make_body is not None
        self._make_body: MakeBody = make_body or SimBody
        self._twin: ArmWorld | None = None
        self._body: Body | None = None
        self._moved: list[str] = []
        self.scene = ""

    def reset(self, scene: str, seed: int = 0) -> None:
        """Set the table; seed 0 as the scene has it, another one puts the things elsewhere on it.

        On a physical arm it is left as it is. Raises WorldError where there is no such scene,
        the arm's software is not installed, or the arm does not answer.
        """
        things = load_things(scene)
        if self._body is None or scene != self.scene:
            self.close()
            model = scene_model(things, tuple(self.config.places.values()))
            self._body = self._make_body(self.config, things)
            self.motion = Motion(self.config, model)
            self.things = {thing.name: thing for thing in things}
            self.behaviours = Behaviours(self._body, self.motion, self.config, self.things)
        self.scene, self._moved = scene, []
        if isinstance(self._body, SimBody) and not self.is_physical:
            poses = {thing.name: thing.pose for thing in things}
            if seed:
                poses = _scattered(things, self._surface(), seed)
            self._body.start(self._home(), poses)
        else:
            # An arm that does not answer is told of at once.
            self._body.state()

    def _home(self) -> Any:
        return self.motion.solve(Target(*self.config.home, self.config.travel_height, 0.0))

    def _surface(self) -> Place:
        surface = next((p for p in self.config.places.values() if p.kind != BOX), None)
        if surface is None:
            raise WorldError("the arm's file has no place of kind surface: add one")
        return surface

    @property
    def body(self) -> Body:
        if self._body is None:
            raise WorldError("the arm was not reset yet")
        return self._body

    def arrange(self, poses: Mapping[str, tuple[float, float, float]]) -> None:
        """Put things elsewhere on the table: x, y (m) and the turn in degrees, by name."""
        body = self.body
        if not isinstance(body, SimBody):
            raise WorldError("only in physics can things be put elsewhere without the arm")
        state = body.state()
        placed = {
            name: Pose((x, y, self.things[name].size[2] / 2), _turn(math.radians(degrees)))
            for name, (x, y, degrees) in poses.items()
        }
        body.start(state.q, {**state.things, **placed})

    # Looking.

    def observe(self) -> list[ObjectView]:
        state = self.body.state()
        views = [self._view(name, state) for name in self.things]
        return views + [
            ObjectView(
                place.name,
                place.name,
                place.name,
                frozenset({"receptacle"}),
                {"position": (place.x, place.y, place.height)},
            )
            for place in self.config.places.values()
        ]

    def _view(self, name: str, state: ArmState) -> ObjectView:
        where = self.behaviours.inside(name, state)
        return ObjectView(
            name,
            name,
            name,
            frozenset({"pickupable"}),
            {
                "held": state.held == name,
                "position": tuple(round(v, 3) for v in state.things[name].position),
            },
            (where,) if where else (),
        )

    def possible_actions(self, relevant: Sequence[str]) -> list[Step]:
        state = self.body.state()
        things = [name for name in relevant if name in self.things]
        places = [name for name in relevant if name in self.config.places]
        steps = []
        for name in things:
            where = self.behaviours.inside(name, state)
            for place in places or [p for p in self.config.places if p != where]:
                preposition = self.config.places[place].preposition
                steps.append(Step(PUT, name, place, f"put {name} {preposition} {place}"))
        steps += [Step(PICKUP, name, label=f"pick up {name}") for name in things]
        steps += [Step(GOTO, name, label=f"go to {name}") for name in (*things, *places)]
        steps.append(Step(GRASP, label="grasp"))
        steps.append(Step(RELEASE, label="release"))
        steps.append(Step(HOME, label="go home"))
        steps.append(Step(END, label="task completed"))
        return steps

    def verify(self, step: Step) -> str | None:
        state = self.body.state()
        name, words = step.object_id, step.label or step.action
        if step.action not in ACTIONS:
            return f"there is no action {step.action!r}"
        if name and name not in self.things and name not in self.config.places:
            return f"there is no {name!r}"
        fine = {
            PICKUP: lambda: state.held == name,
            PUT: lambda: self.behaviours.inside(name, state) == step.target_id,
            GOTO: lambda: self.behaviours.is_above(name, state),
            GRASP: lambda: state.held is not None and name in ("", state.held),
            RELEASE: lambda: state.held is None,
            HOME: lambda: self.behaviours.is_home(state),
            END: lambda: True,
        }[step.action]()
        return None if fine else f"after '{words}' it is not so"

    def describe(self) -> str:
        try:
            state = self.body.state()
        except WorldError as error:
            return f"not seen: {error}"
        parts = []
        for place in self.config.places.values():
            there = [n for n in self.things if self.behaviours.inside(n, state) == place.name]
            if there:
                parts.append(f"{place.preposition} {place.name}: {', '.join(there)}")
        lost = [n for n in self.things if n != state.held and not self.behaviours.inside(n, state)]
        if lost:
            parts.append(f"in or on nothing: {', '.join(lost)}")
        if state.held:
            parts.append(f"in hand: {state.held}")
        return "; ".join(parts)

    # Acting.

    def act(self, step: Step) -> ActionOutcome:
        if problem := self._refused(step):
            return problem
        if self.body.halted:
            return _failed(ArmFailed(ErrorCode.HALTED, "the arm is halted: let it go on first"))
        before = self.snapshot()
        try:
            effect = self._do(step)
        except ArmFailed as failure:
            if not self.is_physical:
                self.restore(before)
            elif failure.code is not ErrorCode.HALTED:
                self.behaviours.retreat()
            return _failed(failure)
        if step.object_id in self.things:
            self._moved.append(step.object_id)
        return ActionOutcome(True, effect)

    def _refused(self, step: Step) -> ActionOutcome | None:
        name, target = step.object_id, step.target_id
        if step.action not in ACTIONS:
            message = f"there is no action {step.action!r}; there are {', '.join(ACTIONS)}"
            return _failed(ArmFailed(ErrorCode.INVALID_ACTION, message))
        for known in (name, target):
            if known and known not in self.things and known not in self.config.places:
                return _failed(ArmFailed(ErrorCode.NOT_FOUND, f"there is no {known!r}"))
        if step.action in (PICKUP, PUT, GRASP) and name not in (*self.things, ""):
            message = f"{name} cannot be picked up"
            return _failed(ArmFailed(ErrorCode.INCOMPATIBLE, message))
        if (step.action in (PICKUP, PUT, GOTO) and not name) or (step.action == PUT and not target):
            message = f"{step.action} needs to be told what, and where to"
            return _failed(ArmFailed(ErrorCode.INVALID_ACTION, message))
        if step.action == PUT and target not in self.config.places:
            message = f"nothing can be put in or on {target}"
            return _failed(ArmFailed(ErrorCode.INCOMPATIBLE, message))
        return None

    def _do(self, step: Step) -> str:
        do = self.behaviours
        if step.action == PICKUP:
            return do.pickup(step.object_id)
        if step.action == PUT:
            return do.put(step.object_id, step.target_id)
        if step.action == GOTO:
            return do.goto(step.object_id)
        if step.action == GRASP:
            return do.grasp(step.object_id)
        if step.action == RELEASE:
            return do.release()
        return do.go_home() if step.action == HOME else ""

    def halt(self) -> None:
        """Stop within one control period, from any thread; what is under way fails as HALTED."""
        if self._body is not None:
            self._body.halt()

    def go_on(self) -> None:
        """Allow motion again after ``halt``."""
        if self._body is not None:
            self._body.go_on()

    # Going back.

    def snapshot(self) -> object:
        body = self.body
        if isinstance(body, SimBody) and not self.is_physical:
            return (self.scene, body.save())
        return _Sight(body.state())

    def restore(self, snapshot: object) -> None:
        body = self.body
        match snapshot:
            case (self.scene, Saved() as saved) if isinstance(body, SimBody):
                body.load(saved)
            case _Sight(state) if self.is_physical:
                self._bring_back(state)
            case _:
                raise WorldError("restore takes what snapshot of this arm gave")

    def _bring_back(self, before: ArmState) -> None:
        """By motions, the last moved first."""
        help_asked = "a person has to look at the table and put things right"
        if self.body.halted:
            raise WorldError(f"the arm is halted and moves no more; {help_asked}")
        try:
            state = self.body.state()
            if state.held is not None and state.held != before.held:
                self.behaviours.put_back(state.held, before.things[state.held])
            for name in dict.fromkeys(reversed([*self.things, *self._moved])):
                state = self.body.state()
                if name != before.held and _distance(state, before, name) > MOVED_M:
                    self.behaviours.pickup(name)
                    self.behaviours.put_back(name, before.things[name])
            if before.held is not None:
                self.behaviours.pickup(before.held)
        except ArmFailed as failure:
            raise WorldError(f"{failure.message}; {help_asked}") from failure
        state = self.body.state()
        if off := [
            name
            for name in self.things
            if name != before.held
            and self.behaviours.inside(name, state) != self.behaviours.inside(name, before)
        ]:
            raise WorldError(f"{', '.join(off)} could not be brought back; {help_asked}")

    def rehearsal(self) -> ArmWorld:
        """The world to try plans in: this one in physics, else a twin in physics that is as the
        arm sees the table now."""
        if not self.is_physical:
            return self
        if self._twin is None or self._twin.scene != self.scene:
            self._twin = ArmWorld(self.config)
            self._twin.reset(self.scene)
        state, twin = self.body.state(), self._twin.body
        assert isinstance(twin, SimBody)
        twin.start(state.q, state.things, state.opening, state.held or "")
        return self._twin

    def close(self) -> None:
        if self._body is not None:
            self._body.close()
        self._body = None


def _failed(failure: ArmFailed) -> ActionOutcome:
    return ActionOutcome(False, error_code=failure.code, error_msg=failure.message)


def _distance(now: ArmState, before: ArmState, name: str) -> float:
    return math.dist(now.things[name].position, before.things[name].position)


def _turn(yaw: float) -> tuple[float, float, float, float]:
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def _scattered(things: Sequence[Thing], surface: Place, seed: int) -> dict[str, Pose]:
    """The things at random on the table, apart from each other and turned at random."""
    generator = np.random.default_rng(seed)
    low = np.array([surface.x - surface.size[0] / 2, surface.y - surface.size[1] / 2])
    spots: list[Any] = []
    while len(spots) < len(things):
        spot = low + generator.random(2) * surface.size
        if all(float(np.linalg.norm(spot - other)) >= APART_M + 0.01 for other in spots):
            spots.append(spot)
        elif generator.random() < 0.01:
            # The table filled up badly: begin again.
            spots = []
    return {
        thing.name: Pose(
            (float(x), float(y), thing.size[2] / 2), _turn(generator.uniform(-math.pi, math.pi))
        )
        for thing, (x, y) in zip(things, spots, strict=True)
    }
