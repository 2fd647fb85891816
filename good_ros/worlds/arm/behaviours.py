"""What the arm can do: goto, grasp, release, pickup, put, go_home (ProVox's API), each looked at
afterwards. The same code moves the arm in physics and one behind a controller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from good_ros.core.plan import ErrorCode
from good_ros.worlds.arm.body import ArmState, Body, Ended
from good_ros.worlds.arm.config import BOX, ArmConfig, Place
from good_ros.worlds.arm.kinematics import Joints
from good_ros.worlds.arm.motion import ArmFailed, Motion, Target
from good_ros.worlds.arm.scene import Pose, Thing

SLOW = 0.5
"""Of the arm's speed, near things."""
LOWEST_GRASP_M = 0.018
"""Height of the point between the fingers at which their tips do not touch the table."""
SPARE_M = 0.008
"""By how much the open fingers are wider than what they grasp."""
TRIES = 2
ABOVE_RIM_M = 0.015
ABOVE_TABLE_M = 0.004
NEAR_M = 0.03
"""The hand is 'above' what it is so near to, seen from above."""
BENEATH_M = 0.05
APART_M = 0.10
"""Between the middles of things on the table, so that the fingers have room."""
SPOT_STEP_M = 0.05
TABLE_TOP_M = 0.15
YAWS = (0.0, math.pi / 2, math.pi / 4, -math.pi / 4)


class Behaviours:
    """Each returns what is so afterwards, in words, or raises ArmFailed."""

    def __init__(
        self, body: Body, motion: Motion, config: ArmConfig, things: Mapping[str, Thing]
    ) -> None:
        self.body = body
        self.motion = motion
        self.config = config
        self.things = things

    # Looking.

    def inside(self, name: str, state: ArmState) -> str:
        """The place that a thing is in or on; empty where it is in hand or has fallen."""
        if state.held == name:
            return ""
        x, y, z = state.things[name].position
        for place in self.config.places.values():
            if place.kind == BOX and place.covers(x, y) and 0 <= z < place.height + NEAR_M:
                return place.name
        surface = next((p for p in self.config.places.values() if p.kind != BOX), None)
        return surface.name if surface and 0 <= z < TABLE_TOP_M else ""

    def hand(self, state: ArmState | None = None) -> Joints:
        """The point between the fingers (3, m)."""
        return self.motion.kinematics.point((state or self.body.state()).q)

    def is_above(self, name: str, state: ArmState) -> bool:
        x, y = self._middle(name, state)
        hand = self.hand(state)
        return math.hypot(hand[0] - x, hand[1] - y) < NEAR_M

    def is_home(self, state: ArmState) -> bool:
        hand = self.hand(state)
        return float(np.linalg.norm(hand - (*self.config.home, self.config.travel_height))) < NEAR_M

    def _middle(self, name: str, state: ArmState) -> tuple[float, float]:
        if name in self.config.places:
            place = self.config.places[name]
            return place.x, place.y
        return state.things[name].position[:2]

    # Behaviours.

    def go_home(self) -> str:
        """Lift the hand and take it to where it is out of the way."""
        self._travel(self._home())
        return "the hand is at home"

    def goto(self, name: str) -> str:
        """Take the hand above a thing or a place, without touching it."""
        state = self.body.state()
        x, y = self._middle(name, state)
        yaws = [self._grasp_yaws(name, state)[0]] if name in self.things else list(YAWS)
        self._first(yaws, lambda yaw: self._travel(self._above(x, y, yaw)))
        if not self.is_above(name, self.body.state()):
            raise ArmFailed(ErrorCode.BLOCKED, f"the hand did not get above {name}")
        return f"the hand is above {name}"

    def pickup(self, name: str) -> str:
        """Grasp a thing from above and lift it."""
        state = self.body.state()
        if state.held == name:
            return f"{name} is in hand"
        if state.held is not None:
            raise ArmFailed(ErrorCode.HAND_FULL, f"{state.held} is in hand")
        self._open()
        last = ArmFailed(ErrorCode.MISSED_GRASP, f"{name} was not grasped")
        for _ in range(TRIES):
            state = self.body.state()
            try:
                self._first(self._grasp_yaws(name, state), lambda yaw: self._grasp_at(name, yaw))
                return f"{name} is in hand"
            except ArmFailed as failure:
                if failure.code is not ErrorCode.MISSED_GRASP:
                    raise
                last = failure
        raise last

    def grasp(self, name: str = "") -> str:
        """Close the hand on what is beneath it, and lift."""
        state = self.body.state()
        if state.held is not None:
            raise ArmFailed(ErrorCode.HAND_FULL, f"{state.held} is in hand")
        hand = self.hand(state)
        near = {
            other: math.hypot(hand[0] - pose.position[0], hand[1] - pose.position[1])
            for other, pose in state.things.items()
        }
        found = name or min(near, key=lambda other: near[other])
        if near[found] > BENEATH_M:
            words = f"{name} is not beneath the hand" if name else "nothing is beneath the hand"
            raise ArmFailed(ErrorCode.MISSED_GRASP, words)
        return self.pickup(found)

    def release(self) -> str:
        """Set down what is in hand beneath the hand: into a box where there is room in it."""
        state = self.body.state()
        if state.held is None:
            self._open()
            return "the hand is empty"
        held, hand = state.held, self.hand(state)
        place = next((p for p in self.config.places.values() if p.covers(hand[0], hand[1])), None)
        if place and place.kind == BOX:
            # Beside what is in it already, not on top of it.
            return self.put(held, place.name)
        floor = place.height if place else 0.0
        self._lower_and_open(held, floor + (ABOVE_RIM_M if floor else ABOVE_TABLE_M))
        where = self.inside(held, self.body.state())
        return f"{held} is at {where}" if where else f"{held} is let go"

    def put(self, name: str, place_name: str) -> str:
        """Put what is in hand into a box, or on the table where there is room."""
        state = self.body.state()
        if state.held is None:
            raise ArmFailed(ErrorCode.HAND_EMPTY, f"{name} is not in hand; the hand is empty")
        if state.held != name:
            raise ArmFailed(ErrorCode.WRONG_STATE, f"{state.held} is in hand, not {name}")
        place = self.config.places[place_name]
        spots = self._spots(place, state)
        if not spots:
            raise ArmFailed(ErrorCode.FULL, f"there is no room {place.preposition} {place_name}")
        yaw = self.motion.kinematics.yaw(state.q)
        options = [(x, y, yaw + turn) for x, y in spots[:6] for turn in YAWS]
        self._first(options, lambda option: self._travel(self._above(*option)))
        self._check_held(name, "on the way")
        height = place.height + (ABOVE_RIM_M if place.kind == BOX else ABOVE_TABLE_M)
        self._lower_and_open(name, height)
        if self.inside(name, self.body.state()) != place_name:
            raise ArmFailed(
                ErrorCode.DROPPED, f"{name} did not come to lie {place.preposition} {place_name}"
            )
        return f"{name} is {place.preposition} {place_name}"

    def put_back(self, name: str, pose: Pose) -> None:
        """Put what is in hand where it was (``pose``): the compensating motion of an undo."""
        x, y, _ = pose.position
        boxes = (p for p in self.config.places.values() if p.kind == BOX and p.covers(x, y))
        if box := next(boxes, None):
            self.put(name, box.name)
            return
        state = self.body.state()
        turned = _yaw_of(pose) - _yaw_of(state.things[name])
        yaw = self.motion.kinematics.yaw(state.q) + turned
        self._first([yaw, yaw + math.pi], lambda yaw: self._travel(self._above(x, y, yaw)))
        self._check_held(name, "on the way back")
        self._lower_and_open(name, ABOVE_TABLE_M)

    def retreat(self) -> None:
        """Lift the hand out of where it is, as far as that can be done."""
        try:
            self._lift()
        except ArmFailed:
            return

    # Parts of them.

    def _grasp_at(self, name: str, yaw: float) -> None:
        x, y, z = self.body.state().things[name].position
        height = max(z, LOWEST_GRASP_M)
        above = self._above(x, y, yaw)
        down = self.motion.line(above, Target(x, y, height, yaw))
        state = self.body.state()
        if hit := self.motion.clear(state, down, ignored=name):
            raise ArmFailed(ErrorCode.BLOCKED, f"{hit} is in the way of grasping {name}")
        self._travel(above)
        self._follow(down, SLOW)
        self._checked(self.body.grip(0.0))
        if self.body.state().held != name:
            self._open()
            self._follow(down[::-1])
            raise ArmFailed(ErrorCode.MISSED_GRASP, f"the fingers closed beside {name}")
        self._follow(down[::-1], SLOW)
        self._check_held(name, "while it was lifted")

    def _lower_and_open(self, name: str, height: float) -> None:
        """Lower the hand until what it holds is at ``height`` (m), open it, and lift."""
        state = self.body.state()
        hand = self.hand(state)
        hang = float(hand[2]) - _bottom(self.things[name], state.things[name])
        z = min(max(height + hang, LOWEST_GRASP_M), self.config.travel_height)
        down = self.motion.line(
            state.q, Target(float(hand[0]), float(hand[1]), z, self.motion.kinematics.yaw(state.q))
        )
        if hit := self.motion.clear(state, down):
            raise ArmFailed(ErrorCode.BLOCKED, f"{hit} is in the way of setting {name} down")
        self._follow(down, SLOW)
        self._check_held(name, "before it was set down")
        self._open()
        self._follow(down[::-1])

    def _check_held(self, name: str, when: str) -> None:
        if self.body.state().held != name:
            raise ArmFailed(ErrorCode.DROPPED, f"{name} was dropped {when}")

    def _open(self) -> None:
        self._checked(self.body.grip(self.config.gripper.opening))

    def _home(self) -> Joints:
        x, y = self.config.home
        return self._above(x, y, 0.0)

    def _above(self, x: float, y: float, yaw: float) -> Joints:
        target = Target(x, y, self.config.travel_height, yaw)
        return self.motion.solve(target, self.body.state().q)

    def _lift(self) -> None:
        """Straight up to the height at which the arm travels."""
        state = self.body.state()
        x, y, z = (float(v) for v in self.hand(state))
        if z < self.config.travel_height - NEAR_M / 3:
            up = self.motion.line(state.q, Target(x, y, self.config.travel_height, 0.0))
            self._follow(up)

    def _travel(self, goal: Joints) -> None:
        """Lift, and go to a posture at that height by a way that hits nothing."""
        self._lift()
        state = self.body.state()
        hit = self.motion.clear(state, [state.q, goal])
        if not hit:
            self._follow([state.q, goal])
            return
        home = self.motion.solve(Target(*self.config.home, self.config.travel_height, 0.0))
        if self.motion.clear(state, [state.q, home, goal]):
            raise ArmFailed(ErrorCode.BLOCKED, f"{hit} is in the way")
        self._follow([state.q, home])
        self._follow([home, goal])

    def _follow(self, path: Sequence[Joints], slower: float = 1.0) -> None:
        self._checked(self.body.follow(self.motion.timed(path, slower)))

    def _checked(self, ended: Ended) -> None:
        if ended is Ended.HALTED:
            raise ArmFailed(ErrorCode.HALTED, "the arm was halted")
        if ended is Ended.BLOCKED:
            raise ArmFailed(ErrorCode.BLOCKED, "the arm ran into something")

    def _first(self, options: Sequence[object], attempt: Callable[..., None]) -> None:
        """The first option that can be done; the first one's failure where none can."""
        problem: ArmFailed | None = None
        for option in options:
            try:
                attempt(option)
                return
            except ArmFailed as failure:
                if failure.code not in (ErrorCode.UNREACHABLE, ErrorCode.BLOCKED):
                    raise
                problem = problem or failure
        assert problem is not None, "there is always an option"
        raise problem

    def _grasp_yaws(self, name: str, state: ArmState) -> list[float]:
        """Turns of the hand with which the fingers fit around a thing, the narrow way first."""
        pose, widest = state.things[name], self.config.gripper.opening - SPARE_M
        if self.things[name].shape == "cylinder" and abs(_axis(pose, 2)[2]) > 0.9:
            return list(YAWS)
        sides = []
        for i, extent in enumerate(self.things[name].size):
            axis = _axis(pose, i)
            if abs(axis[2]) < 0.5 and extent <= widest:
                sides.append((extent, math.atan2(axis[1], axis[0])))
        if not sides:
            raise ArmFailed(ErrorCode.UNREACHABLE, f"{name} is too wide for the fingers")
        return [yaw for _, yaw in sorted(sides)]

    def _spots(self, place: Place, state: ArmState) -> list[tuple[float, float]]:
        """Where there is room in or on a place, the best first."""
        others = [p.position for n, p in state.things.items() if n != state.held]

        def room(spot: tuple[float, float]) -> float:
            return min(
                (math.hypot(spot[0] - x, spot[1] - y) for x, y, _ in others), default=math.inf
            )

        if place.kind == BOX:
            across, along = place.size[0] / 2 - 0.075, place.size[1] / 2 - 0.075
            slots = [
                (place.x + across * i, place.y + along * j) for i in (0, -1, 1) for j in (0, -1, 1)
            ]
            return sorted(slots, key=lambda slot: -round(min(room(slot), 0.2), 3))
        return [spot for spot in _grid(place) if room(spot) >= APART_M]


def _grid(place: Place) -> Iterator[tuple[float, float]]:
    counts = [int(extent / 2 / SPOT_STEP_M) for extent in place.size]
    order = sorted(
        (
            (i, j)
            for i in range(-counts[0], counts[0] + 1)
            for j in range(-counts[1], counts[1] + 1)
        ),
        key=lambda spot: (abs(spot[0]) + abs(spot[1]), spot),
    )
    for i, j in order:
        yield place.x + i * SPOT_STEP_M, place.y + j * SPOT_STEP_M


def _axis(pose: Pose, number: int) -> tuple[float, float, float]:
    """One of a thing's own axes in the frame of the arm."""
    w, x, y, z = pose.turn
    columns = (
        (1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)),
    )
    return columns[number]


def _yaw_of(pose: Pose) -> float:
    axis = max((_axis(pose, i) for i in (0, 1)), key=lambda a: math.hypot(a[0], a[1]))
    return math.atan2(axis[1], axis[0])


def _bottom(thing: Thing, pose: Pose) -> float:
    """The height (m) of the lowest point of a thing's box."""
    return pose.position[2] - sum(
        abs(_axis(pose, i)[2]) * extent / 2 for i, extent in enumerate(thing.size)
    )
