"""The arm's table without an arm: the same things, places and actions, symbolic and at once.

For teaching and for experiments that count words, not motions; nothing falls or is out of reach.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.base import ActionOutcome, ObjectView

THINGS = (
    *("Carrots", "AppleSlices", "Goldfish", "Fork", "Spoon", "Cheerios", "Milk", "Skittles"),
    *("GummyCandy", "RiceKrispie", "HandSanitizer"),
)
"""The eleven things of ProVox's lunch bag packing."""
PREPOSITIONS = {"LunchBag": "in", "Bin": "in", "Table": "on"}
SCENE = "lunch_bag"
HOME = "home"


@dataclass(frozen=True)
class State:
    """``places``: by thing where it is, in order; empty for in hand. ``above``: what the hand is
    over."""

    places: tuple[tuple[str, str], ...] = ()
    above: str = HOME

    def where(self, thing: str) -> str:
        return dict(self.places)[thing]

    @property
    def held(self) -> str:
        return next((thing for thing, place in self.places if not place), "")

    def moved(self, thing: str, place: str, above: str) -> State:
        places = tuple((t, place if t == thing else p) for t, p in self.places)
        return State(places, above)


@dataclass
class TableWorld:
    """Implements ``worlds.base.World``; the one scene is ``lunch_bag``.

    ``things``: those on the table; another seed than 0 puts them in another order.
    """

    things: Sequence[str] = THINGS
    name: str = "table"
    state: State = field(default_factory=State)

    def reset(self, scene: str, seed: int = 0) -> None:
        if scene != SCENE:
            raise WorldError(f"the table has no scene {scene!r}; there is {SCENE}: set scene")
        things = list(self.things)
        if seed:
            random.Random(seed).shuffle(things)
        self.state = State(tuple((thing, "Table") for thing in things))

    def observe(self) -> list[ObjectView]:
        views = [
            ObjectView(
                thing,
                thing,
                thing,
                frozenset({"pickupable"}),
                {"held": not place},
                (place,) if place else (),
            )
            for thing, place in self.state.places
        ]
        receptacle = frozenset({"receptacle"})
        return views + [ObjectView(place, place, place, receptacle) for place in PREPOSITIONS]

    def possible_actions(self, relevant: Sequence[str]) -> list[Step]:
        things = [name for name in relevant if name in dict(self.state.places)]
        places = [name for name in relevant if name in PREPOSITIONS]
        steps = [
            Step("PutObject", thing, place, f"put {thing} {PREPOSITIONS[place]} {place}")
            for thing in things
            for place in places or [p for p in PREPOSITIONS if p != self.state.where(thing)]
        ]
        steps += [Step("PickupObject", thing, label=f"pick up {thing}") for thing in things]
        steps += [Step("GoTo", name, label=f"go to {name}") for name in (*things, *places)]
        return [
            *steps,
            Step("Grasp", label="grasp"),
            Step("Release", label="release"),
            Step("GoHome", label="go home"),
            Step("TaskCompleted", label="task completed"),
        ]

    def act(self, step: Step) -> ActionOutcome:
        state, thing, place = self.state, step.object_id, step.target_id
        known = dict(state.places)
        for name in (thing, place):
            if name and name not in known and name not in PREPOSITIONS:
                return _failed(ErrorCode.NOT_FOUND, f"there is no {name!r}")
        held = state.held
        if step.action == "Grasp":
            thing = state.above
        if step.action in ("PickupObject", "Grasp"):
            if held:
                return _failed(ErrorCode.HAND_FULL, f"{held} is in hand")
            if thing not in known:
                return _failed(ErrorCode.MISSED_GRASP, "nothing is beneath the hand")
            self.state = state.moved(thing, "", thing)
            return ActionOutcome(True, f"{thing} is in hand")
        if step.action in ("PutObject", "Release"):
            if step.action == "Release":
                thing = held
                place = state.above if state.above in PREPOSITIONS else "Table"
            if not held or held != thing:
                if step.action == "Release":
                    return ActionOutcome(True, "the hand is empty")
                return _failed(ErrorCode.HAND_EMPTY, f"{thing} is not in hand")
            if place not in PREPOSITIONS:
                return _failed(ErrorCode.INCOMPATIBLE, f"nothing can be put in {place}")
            self.state = state.moved(thing, place, place)
            return ActionOutcome(True, f"{thing} is {PREPOSITIONS[place]} {place}")
        if step.action in ("GoTo", "GoHome"):
            above = thing if step.action == "GoTo" else HOME
            self.state = replace(state, above=above)
            return ActionOutcome(True, f"the hand is at {above}")
        if step.action == "TaskCompleted":
            return ActionOutcome(True)
        return _failed(ErrorCode.INVALID_ACTION, f"there is no action {step.action!r}")

    def snapshot(self) -> object:
        return self.state

    def restore(self, snapshot: object) -> None:
        if not isinstance(snapshot, State):
            raise WorldError("restore takes what snapshot of this table gave")
        self.state = snapshot

    def verify(self, step: Step) -> str | None:
        state, name = self.state, step.object_id
        known = dict(state.places)
        fine = {
            "PickupObject": lambda: state.held == name,
            "PutObject": lambda: known.get(name) == step.target_id,
            "GoTo": lambda: state.above == name,
            "Grasp": lambda: bool(state.held),
            "Release": lambda: not state.held,
            "GoHome": lambda: state.above == HOME,
            "TaskCompleted": lambda: True,
        }.get(step.action, lambda: False)()
        return None if fine else f"after '{step.label or step.action}' it is not so"

    def describe(self) -> str:
        parts = []
        for place, preposition in PREPOSITIONS.items():
            if there := [t for t, p in self.state.places if p == place]:
                parts.append(f"{preposition} {place}: {', '.join(there)}")
        if self.state.held:
            parts.append(f"in hand: {self.state.held}")
        return "; ".join(parts)

    def close(self) -> None:
        """Nothing is held."""


def _failed(code: ErrorCode, message: str) -> ActionOutcome:
    return ActionOutcome(False, error_code=code, error_msg=message)
