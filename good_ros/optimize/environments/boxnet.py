"""BoxNet1 and BoxNet2: arms that hand coloured boxes on to targets of their colour (appendix D).

Each cell has one arm, 'Agent[x, y]' at the cell's centre. Sizes are those of the published
instances (cells 2×2, 2×4, 4×4, 4×8), whose seeds were not published; 30 steps, 40 on the largest;
given up after 4 without anything new. What an arm may do in a step is listed in the state; anything
else counts as a reply in the wrong form. Unlike in the published code, the state that is shown is
the present one.
"""

from __future__ import annotations

import json
import random
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply
from good_ros.optimize.environments.replies import plan_object

Cell = tuple[int, int]
COLOURS = ("red", "green", "blue", "purple", "orange")


def _centre(cell: Cell) -> str:
    return f"[{cell[0] + 0.5}, {cell[1] + 0.5}]"


class _BoxNet(Environment):
    """What both have in common: cells, targets, and plans of one action for each arm."""

    sizes = tuple({"rows": r, "columns": c} for r, c in ((2, 2), (2, 4), (4, 4), (4, 8)))
    stuck_after = 4

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.rows, self.columns = int(layout["rows"]), int(layout["columns"])
        self.max_steps = 40 if self.rows * self.columns >= 32 else 30
        self.cells = [(r, c) for r in range(self.rows) for c in range(self.columns)]
        self.boxes: list[tuple[str, Cell]] = sorted((c, (p[0], p[1])) for c, p in layout["boxes"])
        self.targets: list[tuple[str, Cell]] = sorted(
            (c, (p[0], p[1])) for c, p in layout["targets"]
        )

    def possible(self, cell: Cell) -> list[str]:
        """What the arm of a cell can do now."""
        raise NotImplementedError

    def sees(self, cell: Cell) -> list[str]:
        """What the arm of a cell has within its reach."""
        raise NotImplementedError

    def state_text(self) -> str:
        lines = [f"Boxes that are not yet at a target: {len(self.boxes)}."]
        for cell in self.cells:
            if seen := self.sees(cell):
                can = ", ".join(f'"{action}"' for action in self.possible(cell)) or "nothing"
                lines.append(f"Agent{_centre(cell)} sees {', '.join(seen)}. It can do: {can}.")
        return "\n".join(lines)

    def progress(self) -> float:
        return 1 - len(self.boxes) / len(self.layout["boxes"])

    def read(self, reply: str) -> dict[Cell, str]:
        """The plan in a reply, by cell. Raises WrongReply where an arm cannot do its part."""
        names = {f"Agent{_centre(cell)}": cell for cell in self.cells}
        plan: dict[Cell, str] = {}
        for agent, action in plan_object(reply).items():
            if agent not in names:
                raise WrongReply(Kind.SYNTAX, f"there is no {agent}.")
            if action not in self.possible(names[agent]):
                raise WrongReply(Kind.SYNTAX, f"{agent} cannot do '{action}' now.")
            plan[names[agent]] = action
        return plan

    def solution(self) -> list[str]:
        """The replies of ``_step`` on a copy, until all is done or nothing moves."""
        copy = type(self)(self.layout)
        copy.boxes, copy.targets = list(self.boxes), list(self.targets)
        replies: list[str] = []
        while copy.boxes and len(replies) < self.max_steps:
            plan = copy._step()
            if not plan:
                break
            replies.append(json.dumps({f"Agent{_centre(cell)}": a for cell, a in plan.items()}))
            copy.do(replies[-1])
        return replies

    def _step(self) -> dict[Cell, str]:
        """A good plan for one step."""
        raise NotImplementedError


class BoxNet1(_BoxNet):
    """Boxes lie in cells; an arm moves one to a neighbouring cell, or onto a target of its colour
    in its own cell, where both vanish. Any number of boxes may share a cell."""

    name: ClassVar[str] = "boxnet1"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SYNTAX, Kind.STUCK, Kind.LIMIT)
    start_prompt = (
        "You direct robot arms, one in each square of a grid. All boxes have to be brought onto "
        "targets of their colour in as few steps as possible. An arm can move one box of its "
        "square to a neighbouring square, or onto a target of the same colour in its own square.\n"
        'Reply with a JSON object that gives an action to the arms that should act, such as {"Agent'
        '[0.5, 0.5]": "move(box_red, square[0.5, 1.5])", "Agent[1.5, 0.5]": "move(box_blue, '
        'target_blue)"}.'
    )

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        rows, columns = int(size["rows"]), int(size["columns"])
        boxes, targets = [], []
        for colour in COLOURS:
            for _ in range(rng.randint(1, 3)):
                boxes.append([colour, [rng.randrange(rows), rng.randrange(columns)]])
                targets.append([colour, [rng.randrange(rows), rng.randrange(columns)]])
        return {"rows": rows, "columns": columns, "boxes": boxes, "targets": targets}

    def sees(self, cell: Cell) -> list[str]:
        boxes = [f"box_{colour}" for colour, where in self.boxes if where == cell]
        return boxes + [f"target_{colour}" for colour, where in self.targets if where == cell]

    def possible(self, cell: Cell) -> list[str]:
        actions = []
        for colour in dict.fromkeys(c for c, where in self.boxes if where == cell):
            actions += [f"move(box_{colour}, square{_centre(n)})" for n in self._around(cell)]
            if (colour, cell) in self.targets:
                actions.append(f"move(box_{colour}, target_{colour})")
        return actions

    def _around(self, cell: Cell) -> Iterator[Cell]:
        for row, column in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            there = (cell[0] + row, cell[1] + column)
            if 0 <= there[0] < self.rows and 0 <= there[1] < self.columns:
                yield there

    def do(self, reply: str) -> str:
        plan = self.read(reply)
        said = []
        arrived: list[tuple[str, Cell]] = []
        for cell, action in plan.items():
            colour, goal = action[len("move(box_") : -1].split(", ", 1)
            self.boxes.remove((colour, cell))
            if goal.startswith("target_"):
                self.targets.remove((colour, cell))
                said.append(f"box_{colour} is at its target")
            else:
                there = next(n for n in self._around(cell) if goal == f"square{_centre(n)}")
                arrived.append((colour, there))
                said.append(f"box_{colour} is now in square{_centre(there)}")
        self.boxes = sorted(self.boxes + arrived)
        return "; ".join(said) + "."

    def _step(self) -> dict[Cell, str]:
        free = Counter(self.targets)
        best: dict[Cell, tuple[int, str]] = {}
        distance = lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1])  # noqa: E731
        pairs = sorted(
            (distance(box[1], target[1]), box, target)
            for box in set(self.boxes)
            for target in set(self.targets)
            if box[0] == target[0]
        )
        left = Counter(self.boxes)
        for far, box, target in pairs:
            while left[box] and free[target]:
                left[box] -= 1
                free[target] -= 1
                colour, cell = box
                if far:
                    near = min(self._around(cell), key=lambda n: distance(n, target[1]))
                    action = f"move(box_{colour}, square{_centre(near)})"
                else:
                    action = f"move(box_{colour}, target_{colour})"
                # The box with the longest way goes first.
                if cell not in best or far > best[cell][0]:
                    best[cell] = (far, action)
        return {cell: action for cell, (_, action) in sorted(best.items())}


class BoxNet2(_BoxNet):
    """Boxes lie on the corners of cells, one on each; an arm moves one to another corner of its
    cell, or onto the target of its colour in its cell. Two boxes on a corner, or two arms at a
    box, are a collision, which ends the trial."""

    name = "boxnet2"
    kinds = (*BoxNet1.kinds, Kind.COLLISION)
    start_prompt = (
        "You direct robot arms, one in each square of a grid. All boxes have to be brought onto "
        "targets of their colour in as few steps as possible. Boxes lie on the corners of squares. "
        "An arm can move one box from a corner of its square to another corner of it, or onto the "
        "target of the same colour in its square.\n"
        'Reply with a JSON object that gives an action to the arms that should act, such as {"Agent'
        '[0.5, 0.5]": "move(box_red, position[0.0, 1.0])", "Agent[1.5, 0.5]": "move(box_blue, '
        'target_blue)"}.'
    )

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        rows, columns = int(size["rows"]), int(size["columns"])
        corners = [[r, c] for r in range(rows + 1) for c in range(columns + 1)]
        places = rng.sample(corners, len(COLOURS))
        return {
            "rows": rows,
            "columns": columns,
            "boxes": [[colour, place] for colour, place in zip(COLOURS, places, strict=True)],
            "targets": [
                [colour, [rng.randrange(rows), rng.randrange(columns)]] for colour in COLOURS
            ],
        }

    @staticmethod
    def corners(cell: Cell) -> list[Cell]:
        row, column = cell
        return [(r, c) for r in (row, row + 1) for c in (column, column + 1)]

    @staticmethod
    def _position(corner: Cell) -> str:
        return f"position[{float(corner[0])}, {float(corner[1])}]"

    def sees(self, cell: Cell) -> list[str]:
        corners = self.corners(cell)
        boxes = [f"box_{c} at {self._position(p)}" for c, p in self.boxes if p in corners]
        return boxes + [f"target_{colour}" for colour, where in self.targets if where == cell]

    def possible(self, cell: Cell) -> list[str]:
        corners = self.corners(cell)
        actions = []
        for colour, place in self.boxes:
            if place in corners:
                actions += [
                    f"move(box_{colour}, {self._position(p)})" for p in corners if p != place
                ]
                if (colour, cell) in self.targets:
                    actions.append(f"move(box_{colour}, target_{colour})")
        return actions

    def do(self, reply: str) -> str:
        plan = self.read(reply)
        places = dict(self.boxes)
        said, moved = [], set()
        for cell, action in plan.items():
            colour, goal = action[len("move(box_") : -1].split(", ", 1)
            if colour in moved:
                raise WrongReply(Kind.COLLISION, f"two arms reach for box_{colour}.")
            moved.add(colour)
            if goal.startswith("target_"):
                del places[colour]
                said.append(f"box_{colour} is at its target")
            else:
                places[colour] = next(p for p in self.corners(cell) if self._position(p) == goal)
                said.append(f"box_{colour} is now at {goal}")
        for place, count in Counter(places.values()).items():
            if count > 1:
                raise WrongReply(
                    Kind.COLLISION, f"there would be {count} boxes at {self._position(place)}."
                )
        self.boxes = sorted(places.items())
        self.targets = [target for target in self.targets if target[0] in places]
        return "; ".join(said) + "."

    def _step(self) -> dict[Cell, str]:
        targets = dict(self.targets)
        taken = {place for _, place in self.boxes}
        plan: dict[Cell, str] = {}
        ways = []
        for colour, place in self.boxes:
            way = self._way(place, targets[colour], taken)
            if way is not None:
                ways.append((-len(way), colour, place, way))
        # The box with the longest way goes first; the others keep off its corner and its arm.
        for _, colour, place, way in sorted(ways):
            if not way:
                cell, action = targets[colour], f"move(box_{colour}, target_{colour})"
                if cell not in plan:
                    plan[cell] = action
                continue
            there = way[0]
            arms = [c for c in self.cells if {place, there} <= set(self.corners(c))]
            arm = next((c for c in arms if c not in plan), None)
            if arm is not None and there not in taken:
                plan[arm] = f"move(box_{colour}, {self._position(there)})"
                taken.add(there)
        return plan or self._give_way()

    def _way(self, place: Cell, target: Cell, taken: set[Cell]) -> list[Cell] | None:
        """Free corners to step on until one of the target's cell; None where none leads there."""
        known: dict[Cell, list[Cell]] = {place: []}
        queue = deque([place])
        ends = set(self.corners(target))
        while queue:
            corner = queue.popleft()
            if corner in ends:
                return known[corner]
            for cell in self.cells:
                if corner in (around := self.corners(cell)):
                    for there in around:
                        if there not in known and there not in taken:
                            known[there] = [*known[corner], there]
                            queue.append(there)
        return None

    def _give_way(self) -> dict[Cell, str]:
        taken = {place for _, place in self.boxes}
        for colour, place in self.boxes:
            for cell in self.cells:
                if place in self.corners(cell):
                    for there in self.corners(cell):
                        if there not in taken:
                            return {cell: f"move(box_{colour}, {self._position(there)})"}
        return {}
