"""BoxLift: robots that lift boxes whose weight they cannot see (appendix D).

Sizes are those of the published instances: (robots, boxes) (4, 16), (6, 24), (8, 35), (10, 45).
Volumes are 1 to 10 in halves; a weight is its volume with a tenth of noise, and one in twenty is
half as much more or less. Capacities are 0.5 to 7.5 in halves, all raised until together they lift
the heaviest. 20 steps, 25 on the largest; given up after 4 without anything new. Unlike in the
published code, boxes of one volume keep apart ('box[4.5V]-2'), and no robot lifts twice in a step.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply
from good_ros.optimize.environments.replies import plan_object

STEP_V, STEP_W = 0.5, 0.5


class BoxLift(Environment):
    """A plan gives robots to boxes; a box is lifted, and gone, where together they can."""

    name: ClassVar[str] = "boxlift"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SYNTAX, Kind.STUCK, Kind.LIMIT)
    sizes = tuple({"agents": a, "boxes": b} for a, b in ((4, 16), (6, 24), (8, 35), (10, 45)))
    stuck_after = 4
    start_prompt = (
        "You direct robots that lift boxes. All boxes have to be lifted in as few steps as "
        "possible. Robots can lift a box together; it is lifted where the sum of what they can "
        "lift is at least its weight. You see a box's volume, to which its weight is roughly "
        "proportional, and each robot's capacity. In a step a robot can help with one box.\n"
        'Reply with a JSON object that gives robots to boxes, such as {"box[1.5V]": "agent[1.5W]",'
        ' "box[4.0V]": "agent[2.0W], agent[2.5W]"}.'
    )

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.agents = dict(
            zip(_names("agent", "W", layout["capacities"]), layout["capacities"], strict=True)
        )
        self.weights = dict(
            zip(_names("box", "V", layout["volumes"]), layout["weights"], strict=True)
        )
        self.total = sum(self.weights.values())
        self.left = list(self.weights)
        self.tries: dict[str, list[str]] = {}
        self.max_steps = 25 if len(self.agents) >= 10 else 20

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        volumes, weights = [], []
        for _ in range(int(size["boxes"])):
            volume = rng.randint(2, 20) * STEP_V
            weight = volume + rng.gauss(0, 0.1 * volume)
            if rng.random() < 0.05:
                weight += rng.choice((-1, 1)) * 0.5 * volume
            volumes.append(volume)
            weights.append(round(max(weight, 0.1), 2))
        capacities = [rng.randint(1, 15) * STEP_W for _ in range(int(size["agents"]))]
        while sum(capacities) < max(weights):
            capacities = [c + STEP_W for c in capacities]
        return {"volumes": volumes, "weights": weights, "capacities": capacities}

    def state_text(self) -> str:
        tried = "; ".join(f"{box}: {', '.join(self.tries[box])}" for box in self.tries)
        return (
            f"Robots: {', '.join(self.agents)}.\n"
            f"Boxes left ({len(self.left)}): {', '.join(self.left)}.\n"
            f"Tried without success, with the sum of capacities: {tried or 'nothing'}."
        )

    def state_key(self) -> str:
        """The boxes left: a step in which none is lifted brings nothing new."""
        return ", ".join(self.left)

    def do(self, reply: str) -> str:
        plan: dict[str, list[str]] = {}
        for box, names in plan_object(reply).items():
            if box not in self.left:
                raise WrongReply(Kind.SYNTAX, f"there is no {box} left.")
            plan[box] = [name.strip() for name in names.split(",")]
        used = Counter(name for names in plan.values() for name in names)
        for name, count in used.items():
            if name not in self.agents:
                raise WrongReply(Kind.SYNTAX, f"there is no '{name}'.")
            if count > 1:
                raise WrongReply(Kind.SYNTAX, f"{name} is used twice in the step.")
        said = []
        for box, team in plan.items():
            force = sum(self.agents[name] for name in team)
            if force >= self.weights[box]:
                self.left.remove(box)
                self.tries.pop(box, None)
                said.append(f"{box} was lifted")
            else:
                before = self.tries.setdefault(box, [])
                if f"{force:g}W" not in before:
                    before.append(f"{force:g}W")
                said.append(f"{box} was not lifted: {force:g}W are not enough")
        return "; ".join(said) + "."

    def progress(self) -> float:
        left = sum(self.weights[box] for box in self.left)
        return 1 - left / self.total if self.left else 1.0

    def solution(self) -> list[str]:
        left = sorted(self.left, key=lambda box: -self.weights[box])
        replies: list[str] = []
        while left and len(replies) < self.max_steps:
            free = dict(self.agents)
            plan: dict[str, str] = {}
            for box in list(left):
                team = _smallest_team(free, self.weights[box])
                if team:
                    plan[box] = ", ".join(team)
                    left.remove(box)
                    free = {name: c for name, c in free.items() if name not in team}
            replies.append(json.dumps(plan))
        return replies


def _names(word: str, unit: str, values: Sequence[float]) -> list[str]:
    """A name for each value; those that were there before get a number."""
    seen: Counter[float] = Counter()
    names = []
    for value in values:
        seen[value] += 1
        number = f"-{seen[value]}" if seen[value] > 1 else ""
        names.append(f"{word}[{value}{unit}]{number}")
    return names


def _smallest_team(free: Mapping[str, float], weight: float) -> tuple[str, ...]:
    """The robots with the least sum of capacities that is enough; empty where none are."""
    teams = (
        team for count in range(1, len(free) + 1) for team in itertools.combinations(free, count)
    )
    able = [team for team in teams if sum(free[name] for name in team) >= weight]
    return min(able, key=lambda team: sum(free[name] for name in team), default=())
