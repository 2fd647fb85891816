"""Warehouse: robots on tracks that bring boxes to the target region (appendix D).

Tracks run along x from column 0, beside which the target region lies; boxes lie between tracks, at
rows half a step from one. Sizes are those of the published instances: (tracks, columns, share of
places with a box, robots) (3, 5, 0.5, 2), (4, 4, 0.3, 3), (4, 6, 0.3, 4), (5, 6, 0.3, 5). 50 steps;
given up after 8 without anything new. Unlike in the published code, the state that is shown is the
present one.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply
from good_ros.optimize.environments.replies import plan_object

Place = tuple[int, float]
"""(column, row); robots stand at whole rows, boxes lie at halves."""


class Warehouse(Environment):
    """All robots move at once. Two in one cell, two that change places, or two that reach for one
    box are a collision, which ends the trial; the target region has room for all."""

    name: ClassVar[str] = "warehouse"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SYNTAX, Kind.STUCK, Kind.LIMIT, Kind.COLLISION)
    sizes = tuple(
        {"tracks": t, "columns": c, "density": d, "agents": a}
        for t, c, d, a in ((3, 5, 0.5, 2), (4, 4, 0.3, 3), (4, 6, 0.3, 4), (5, 6, 0.3, 5))
    )
    max_steps = 50
    stuck_after = 8
    start_prompt = (
        "You direct robots in a warehouse. Robots drive left and right on tracks; column 0 is at "
        "the left, beside the target region. All boxes have to be brought to the target region in "
        "as few steps as possible. A robot can pick up a box that lies half a row above or below "
        "it in its column, one at a time. From column 0 it can move to the target region, where "
        "its box is put down, and from there to column 0 of any track. Two robots must never be "
        "in the same cell.\n"
        'Reply with a JSON object that gives an action to the robots that should act, such as {"'
        'agent0": "left", "agent1": "right", "agent2": "pick box[2, 0.5]", "agent3": "to target", '
        '"agent4": "to track 1"}.'
    )

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.tracks, self.columns = int(layout["tracks"]), int(layout["columns"])
        self.boxes: set[Place] = {(int(x), float(y)) for x, y in layout["boxes"]}
        self.robots: list[Place | None] = [(int(x), float(y)) for x, y in layout["robots"]]
        """Where each is; None in the target region."""
        self.carries = [False] * len(self.robots)

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        tracks, columns = int(size["tracks"]), int(size["columns"])
        places = [[x, t - 0.5] for t in range(tracks + 1) for x in range(columns)]
        boxes = [place for place in places if rng.random() < size["density"]]
        cells = [[x, t] for t in range(tracks) for x in range(columns)]
        return {
            "tracks": tracks,
            "columns": columns,
            "boxes": boxes or [places[0]],
            "robots": rng.sample(cells, int(size["agents"])),
        }

    def state_text(self) -> str:
        lines = [
            f"Boxes left: {', '.join(_box(place) for place in sorted(self.boxes)) or 'none'}.",
            f"Tracks: 0 to {self.tracks - 1}; columns: 0 to {self.columns - 1}.",
        ]
        for number, place in enumerate(self.robots):
            where = (
                f"at column {place[0]} of track {place[1]:g}" if place else "in the target region"
            )
            load = ", carries a box" if self.carries[number] else ""
            can = ", ".join(f'"{action}"' for action in self.possible(number)) or "nothing"
            lines.append(f"agent{number} is {where}{load}. It can do: {can}.")
        return "\n".join(lines)

    def possible(self, number: int) -> list[str]:
        """What a robot can do now, whatever the others do."""
        place = self.robots[number]
        if place is None:
            return [f"to track {track}" for track in range(self.tracks)]
        column, row = place
        actions = ["left"] if column > 0 else ["to target"]
        if column < self.columns - 1:
            actions.append("right")
        if not self.carries[number]:
            around = [(column, row - 0.5), (column, row + 0.5)]
            actions += [f"pick {_box(box)}" for box in around if box in self.boxes]
        return actions

    def do(self, reply: str) -> str:
        plan = self._read(reply)
        robots, carries = list(self.robots), list(self.carries)
        said, picked = [], Counter[str]()
        for number, action in plan.items():
            place = robots[number]
            if action.startswith("pick "):
                picked[action] += 1
                carries[number] = True
                said.append(f"agent{number} has picked {action[5:]}")
                continue
            if action == "to target":
                robots[number] = None
                put = ", where it put down its box" if carries[number] else ""
                carries[number] = False
                said.append(f"agent{number} is in the target region{put}")
                continue
            if action.startswith("to track "):
                robots[number] = (0, float(action[9:]))
            else:
                assert place is not None
                robots[number] = (place[0] + (1 if action == "right" else -1), place[1])
            said.append(f"agent{number} has moved")
        self._check(robots, picked)
        self.robots, self.carries = robots, carries
        self.boxes -= {box for box in self.boxes if f"pick {_box(box)}" in picked}
        return "; ".join(said) + "."

    def _read(self, reply: str) -> dict[int, str]:
        names = {f"agent{number}": number for number in range(len(self.robots))}
        plan: dict[int, str] = {}
        for name, action in plan_object(reply).items():
            if name not in names:
                raise WrongReply(Kind.SYNTAX, f"there is no {name}.")
            if action not in self.possible(names[name]):
                raise WrongReply(Kind.SYNTAX, f"{name} cannot do '{action}' now.")
            plan[names[name]] = action
        return plan

    def _check(self, robots: list[Place | None], picked: Counter[str]) -> None:
        for action, count in picked.items():
            if count > 1:
                raise WrongReply(Kind.COLLISION, f"two robots reach for {action[5:]}.")
        for cell, count in Counter(place for place in robots if place).items():
            if count > 1:
                where = f"column {cell[0]} of track {cell[1]:g}"
                raise WrongReply(Kind.COLLISION, f"{count} robots would be at {where}.")
        for one, now in enumerate(robots):
            for other, place in enumerate(robots[:one]):
                changed = now and place and now == self.robots[other] and place == self.robots[one]
                if changed and now != place:
                    raise WrongReply(
                        Kind.COLLISION, f"agent{other} and agent{one} would meet on track."
                    )

    def progress(self) -> float:
        return 1 - (len(self.boxes) + sum(self.carries)) / len(self.layout["boxes"])

    def solution(self) -> list[str]:
        """One track is one robot's at a time, so that no two ever meet."""
        copy = Warehouse(self.layout)
        copy.boxes, copy.robots = set(self.boxes), list(self.robots)
        copy.carries = list(self.carries)
        replies: list[str] = []
        while not copy.done() and len(replies) < self.max_steps:
            plan = copy._step()
            replies.append(json.dumps({f"agent{n}": a for n, a in sorted(plan.items())}))
            copy.do(replies[-1])
        return replies

    def _step(self) -> dict[int, str]:
        plan: dict[int, str] = {}
        wanted: set[Place] = set()
        held = {place[1] for place in self.robots if place}
        after: set[Place] = set()
        on_track = [(p, n) for n, p in enumerate(self.robots) if p]
        # From column 0 on, so that whoever is in the way has made up its mind first.
        for place, number in sorted(on_track):
            action = self._on_track(number, place, wanted)
            there = (place[0] + {"left": -1, "right": 1}.get(action, 0), place[1])
            blocked = there in after or any(
                other == there and n not in plan for other, n in on_track if n != number
            )
            if action in ("left", "right") and blocked:
                after.add(place)
                continue
            plan[number] = action
            if action != "to target":
                after.add(there)
        for number, standing in enumerate(self.robots):
            if standing is None and (track := self._track_for(held)) is not None:
                plan[number] = f"to track {track}"
                held.add(track)
        return plan

    def _on_track(self, number: int, place: Place, wanted: set[Place]) -> str:
        column, row = place
        home = "to target" if column == 0 else "left"
        alone = sum(1 for p in self.robots if p and p[1] == row) == 1
        if self.carries[number]:
            return home
        near = [(column, row - 0.5), (column, row + 0.5)]
        for box in near:
            if box in self.boxes and box not in wanted:
                wanted.add(box)
                return f"pick {_box(box)}"
        # Only a robot that has the track for itself looks further.
        ways = sorted((abs(x - column), x) for x, y in self.boxes - wanted if abs(y - row) == 0.5)
        if not alone or not ways:
            return home
        return "right" if ways[0][1] > column else "left"

    def _track_for(self, held: set[float]) -> int | None:
        """The free track with the most boxes beside it."""
        counts = {
            track: sum(abs(y - track) == 0.5 for _, y in self.boxes)
            for track in range(self.tracks)
            if track not in held
        }
        best = max(counts, key=lambda track: (counts[track], -track), default=None)
        return best if best is not None and counts[best] else None


def _box(place: Place) -> str:
    return f"box[{place[0]}, {place[1]}]"
