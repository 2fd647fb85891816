"""ALFWorld through its own packages, with games generated here (extra ``alfworld``).

The engine, the domain and the grammar come with the package, games do not: an instance is a room of
receptacles and things drawn by seed, and a wish of one of the kinds place, clean, heat, cool. S is
the share of sub-goals reached: the thing held once, changed as wished, and put down where wished.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply

RECEPTACLES = {
    "Fridge": True,
    "Microwave": True,
    "SinkBasin": False,
    "CounterTop": False,
    "DiningTable": False,
    "Cabinet": True,
    "Drawer": True,
    "Shelf": False,
}
"""Types, and whether they open."""
THINGS = ("Apple", "Potato", "Tomato", "Bread", "Mug", "Plate", "Egg", "Cup")
CHANGES = {"place": "", "clean": "isClean", "heat": "isHot", "cool": "isCool"}
ABLE = {"isClean": "cleanable", "isHot": "heatable", "isCool": "coolable"}
NOTHING_HAPPENS = "Nothing happens"


class Alfworld(Environment):
    """A household in text; the actions are the engine's commands."""

    name: ClassVar[str] = "alfworld"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SYNTAX, Kind.STUCK, Kind.LIMIT, Kind.INVALID)
    sizes = tuple({"change": change, "things": 5} for change in CHANGES)
    max_steps = 30
    stuck_after = 8
    start_prompt = (
        "You act in a household. Commands are: go to R, open R, close R, take O from R, move O to "
        "R, clean O with R, heat O with R, cool O with R, examine O, look, inventory. O is a thing "
        "and R a place, with their numbers, such as mug 1 and cabinet 2.\n"
        "Reply with the next command alone."
    )

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._folder = tempfile.TemporaryDirectory(prefix="alfworld")
        self._engine = _engine()
        game = Path(self._folder.name) / "game.tw-pddl"
        game.write_text(json.dumps(game_of(layout)))
        self._engine.load(str(game))
        self._state = self._engine.reset()
        self._seen_last = str(self._state.feedback).strip()
        self._reached: set[str] = set()

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        things = rng.sample(THINGS, int(size["things"]))
        places = {thing: rng.choice(sorted(RECEPTACLES)) for thing in things}
        wanted = things[0]
        goal = rng.choice(sorted(set(RECEPTACLES) - {places[wanted], "SinkBasin"}))
        return {"places": places, "thing": wanted, "goal": goal, "change": size["change"]}

    @property
    def wish(self) -> str:
        return wish_of(self.layout)

    def state_text(self) -> str:
        commands = ", ".join(sorted(self._state.admissible_commands or ()))
        return f"Task: {self.wish}.\n{self._seen_last}\nPossible commands: {commands}"

    def do(self, reply: str) -> str:
        lines = [line.strip() for line in reply.strip().splitlines() if line.strip()]
        if len(lines) != 1:
            raise WrongReply(Kind.SYNTAX, "the reply must be one command in one line.")
        command = " ".join(lines[0].lower().lstrip("> ").split())
        self._state, _, _ = self._engine.step(command)
        self._seen_last = str(self._state.feedback).strip()
        self._look_for_subgoals()
        if self._seen_last.startswith(NOTHING_HAPPENS):
            raise WrongReply(Kind.INVALID, f"'{command}' cannot be done now.", ends=False)
        return self._seen_last

    def _look_for_subgoals(self) -> None:
        wanted = str(self.layout["thing"]).lower()
        # The engine writes names of facts in small letters.
        changed = CHANGES[self.layout["change"]].lower()
        for fact in self._state.facts or ():
            if wanted not in [a.name.partition(" ")[0] for a in fact.arguments]:
                continue
            if fact.name == "holds":
                self._reached.add("held")
            if fact.name == changed:
                self._reached.add("changed")
        if self._state.won:
            self._reached.add("put")

    def progress(self) -> float:
        if self._state.won:
            return 1.0
        return len(self._reached) / (2 + (self.layout["change"] != "place"))

    def solution(self) -> list[str]:
        """The commands of the engine's own planner."""
        return list(self._state.policy_commands or ())

    def close(self) -> None:
        self._engine.close()
        self._folder.cleanup()


def wish_of(layout: Layout) -> str:
    """What is wanted, in words."""
    changed = {"place": "", "clean": "clean ", "heat": "hot ", "cool": "cool "}[layout["change"]]
    return f"put a {changed}{layout['thing'].lower()} in or on the {layout['goal'].lower()}"


def problem_of(layout: Layout) -> str:
    """The room and the wish as a PDDL problem of ALFWorld's domain."""
    objects = ["agent1 - agent", "loc_0 - location"]
    init = ["(atLocation agent1 loc_0)", "(= (total-cost) 0)"]
    for number, (kind, opens) in enumerate(RECEPTACLES.items(), start=1):
        receptacle = f"{kind}_bar_1"
        objects += [f"{receptacle} - receptacle", f"loc_{number} - location"]
        objects.append(f"{kind}Type - rtype")
        init += [
            f"(receptacleType {receptacle} {kind}Type)",
            f"(receptacleAtLocation {receptacle} loc_{number})",
        ]
        init += [f"(openable {receptacle})"] * opens
        init += [f"(canContain {kind}Type {thing}Type)" for thing in layout["places"]]
    for thing, place in layout["places"].items():
        item, where = f"{thing}_bar_1", list(RECEPTACLES).index(place) + 1
        objects += [f"{item} - object", f"{thing}Type - otype"]
        init += [
            f"(objectType {item} {thing}Type)",
            f"(pickupable {item})",
            f"(inReceptacle {item} {place}_bar_1)",
            f"(objectAtLocation {item} loc_{where})",
        ]
        init += [f"({able} {item})" for able in ABLE.values()]
    changed = CHANGES[layout["change"]]
    wanted = [
        "(inReceptacle ?o ?r)",
        f"(objectType ?o {layout['thing']}Type)",
        f"(receptacleType ?r {layout['goal']}Type)",
        *([f"({changed} ?o)"] if changed else []),
    ]
    return (
        "(define (problem own)\n(:domain alfred)\n(:objects\n"
        + "\n".join(objects)
        + ")\n(:init\n"
        + "\n".join(init)
        + ")\n(:goal (exists (?r - receptacle ?o - object) (and "
        + " ".join(wanted)
        + "))))\n"
    )


def game_of(layout: Layout) -> dict[str, Any]:
    """A game as the engine reads it. Raises InputError where ALFWorld is not installed."""
    data = _data_folder()
    grammar = (data / "alfred.twl2").read_text()
    return {
        "pddl_domain": (data / "alfred.pddl").read_text(),
        "grammar": grammar.replace("UNKNOWN GOAL", wish_of(layout)),
        "pddl_problem": problem_of(layout),
        "solvable": True,
        "walkthrough": None,
    }


def _data_folder() -> Path:
    import importlib.util

    spec = importlib.util.find_spec("alfworld")
    if spec is None or spec.origin is None:
        raise InputError(
            "ALFWorld is not installed: pip install 'textworld[pddl]', then "
            "pip install --no-deps alfworld"
        )
    return Path(spec.origin).parent / "data"


def _engine() -> Any:
    _data_folder()
    try:
        import textworld
        from textworld.envs import PddlEnv
    except ImportError as error:
        raise InputError(
            f"TextWorld is not installed ({error}): pip install 'textworld[pddl]'"
        ) from error
    infos = textworld.EnvInfos(
        admissible_commands=True, won=True, facts=True, policy_commands=True, feedback=True
    )

    class Named(textworld.core.Wrapper):
        """Things by their type and number instead of their ids."""

        def load(self, *arguments: Any, **options: Any) -> None:
            super().load(*arguments, **options)
            for info in self._entity_infos.values():
                kind, bar, number = info.id.partition("_bar_")
                info.name = f"{kind.lower()} {number}" if bar else info.id

    return Named(PddlEnv(infos))
