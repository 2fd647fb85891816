"""Gridworld1 and Gridworld2: a robot that picks goals in a grid with obstacles (appendix D).

Sizes and limits are those of the published instances, whose seeds were not published: n × n cells,
goals and obstacles (4, 3, 4), (5, 4, 6), (6, 5, 10), (7, 6, 14), kept where solvable; 30 steps, 50
on the largest; given up after 15 without anything new.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply
from good_ros.optimize.environments.replies import braced_action

Cell = tuple[int, int]
MOVES: dict[str, Cell] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
ACTIONS = {**{f"move {way}": way for way in MOVES}, "pick goal": "pick"}


class Gridworld1(Environment):
    """Goals in any order. A move onto an obstacle or off the grid ends the trial."""

    name: ClassVar[str] = "gridworld1"
    kinds: ClassVar[tuple[Kind, ...]] = (
        Kind.SYNTAX,
        Kind.STUCK,
        Kind.LIMIT,
        Kind.COLLISION,
        Kind.OFF_GRID,
    )
    sizes = (
        {"n": 4, "goals": 3, "obstacles": 4},
        {"n": 5, "goals": 4, "obstacles": 6},
        {"n": 6, "goals": 5, "obstacles": 10},
        {"n": 7, "goals": 6, "obstacles": 14},
    )
    stuck_after = 15
    in_order: ClassVar[bool] = False
    start_prompt = (
        "You control a robot in a grid. Cells are (row, column); row 0 is at the top, column 0 at "
        "the left. Visit every goal and pick it.\n"
        "The actions are {Move up}, {Move down}, {Move left}, {Move right} and {Pick goal}.\n"
        "Reply with the next action in braces, such as {Move up}."
    )

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.n = int(layout["n"])
        self.robot: Cell = _cell(layout["robot"])
        self.obstacles = frozenset(_cell(c) for c in layout["obstacles"])
        self.goals = {i: _cell(c) for i, c in enumerate(layout["goals"])}
        self.max_steps = 50 if self.n >= 7 else 30

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        n = int(size["n"])
        cells = [[row, column] for row in range(n) for column in range(n)]
        drawn = rng.sample(cells, 1 + size["goals"] + size["obstacles"])
        goals = 1 + int(size["goals"])
        return {"n": n, "robot": drawn[0], "goals": drawn[1:goals], "obstacles": drawn[goals:]}

    def state_text(self) -> str:
        goals = ", ".join(self._goal_text(i) for i in sorted(self.goals)) or "none"
        obstacles = ", ".join(str(cell) for cell in sorted(self.obstacles))
        return (
            f"The grid has {self.n} rows and {self.n} columns. The robot is at {self.robot}. "
            f"Goals left: {goals}. Obstacles: {obstacles}."
        )

    def _goal_text(self, number: int) -> str:
        return str(self.goals[number])

    def do(self, reply: str) -> str:
        action = braced_action(reply, ACTIONS)
        if action == "pick":
            return self._pick()
        row, column = self._neighbour(self.robot, action)
        if not (0 <= row < self.n and 0 <= column < self.n):
            raise WrongReply(Kind.OFF_GRID, f"({row}, {column}) is not in the grid.")
        if (row, column) in self.obstacles:
            raise WrongReply(Kind.COLLISION, f"there is an obstacle at ({row}, {column}).")
        self.robot = (row, column)
        return f"The robot is now at {self.robot}."

    def _pick(self) -> str:
        here = [i for i, cell in self.goals.items() if cell == self.robot]
        if not here:
            return f"There is no goal at {self.robot}; nothing was picked."
        self._may_pick(here[0])
        del self.goals[here[0]]
        return f"The goal at {self.robot} was picked."

    def _may_pick(self, number: int) -> None:
        """Raises WrongReply where it is not this goal's turn."""

    def progress(self) -> float:
        return 1 - len(self.goals) / len(self.layout["goals"])

    def solution(self) -> list[str]:
        replies: list[str] = []
        robot, goals = self.robot, dict(self.goals)
        while goals:
            wanted = {min(goals)} if self.in_order else set(goals)
            path = self._path(robot, {goals[i] for i in wanted})
            if path is None:
                return replies
            for way in path:
                robot = self._neighbour(robot, way)
                replies.append(f"{{Move {way}}}")
            replies.append("{Pick goal}")
            goals = {i: cell for i, cell in goals.items() if cell != robot}
        return replies

    @staticmethod
    def _neighbour(cell: Cell, way: str) -> Cell:
        return cell[0] + MOVES[way][0], cell[1] + MOVES[way][1]

    def _path(self, start: Cell, ends: set[Cell]) -> list[str] | None:
        """The shortest way to the nearest of the ends; None where there is none."""
        known: dict[Cell, list[str]] = {start: []}
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            if cell in ends:
                return known[cell]
            for way in MOVES:
                there = self._neighbour(cell, way)
                inside = 0 <= there[0] < self.n and 0 <= there[1] < self.n
                if inside and there not in self.obstacles and there not in known:
                    known[there] = [*known[cell], way]
                    queue.append(there)
        return None


class Gridworld2(Gridworld1):
    """The goals have numbers and are picked in their order; a wrong one ends the trial."""

    name = "gridworld2"
    kinds = (*Gridworld1.kinds, Kind.WRONG_ORDER)
    in_order = True
    start_prompt = (
        "You control a robot in a grid. Cells are (row, column); row 0 is at the top, column 0 at "
        "the left. Visit every goal and pick it, goal_0 first, then goal_1 and so on.\n"
        "The actions are {Move up}, {Move down}, {Move left}, {Move right} and {Pick goal}.\n"
        "Reply with the next action in braces, such as {Move up}."
    )

    def _goal_text(self, number: int) -> str:
        return f"goal_{number} at {self.goals[number]}"

    def _may_pick(self, number: int) -> None:
        if number != min(self.goals):
            raise WrongReply(
                Kind.WRONG_ORDER, f"goal_{number} was picked while goal_{min(self.goals)} is left."
            )


def _cell(pair: list[int]) -> Cell:
    return int(pair[0]), int(pair[1])
