"""Blocksworld and Logistics: a world of facts that actions in words change (appendix D).

The published runs used 12 fixed problems each; here 12 are drawn by seed, and a folder of PDDL
problems of the two domains can be read instead (``problem_layout``). 20 steps, given up after 15
without anything new. An action that is not possible changes nothing and gets feedback; one that
cannot be read ends the trial.
"""

from __future__ import annotations

import heapq
import itertools
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply

Fact = tuple[str, ...]
Facts = frozenset[Fact]
MAX_NODES = 200_000
COLOURS = (
    *("red", "blue", "green", "yellow", "orange", "purple", "white", "black"),
    *("brown", "pink", "grey", "cyan", "gold", "silver", "violet", "magenta"),
)
_NAME = r"([a-z]+_[0-9_]+)"
TRANSPORT_FORMS = tuple(
    (form, re.compile(r"\b" + re.sub(r"\{\d\}", _NAME, form)))
    for form in (
        "load {0} into {1} at {2}",
        "unload {0} from {1} at {2}",
        "drive {0} from {1} to {2} in {3}",
        "fly {0} from {1} to {2}",
    )
)


class FactsEnvironment(Environment):
    """A set of facts, actions with what they need and change, and a goal of facts."""

    max_steps = 20
    stuck_after = 15

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.facts: Facts = frozenset(tuple(fact) for fact in layout["init"])
        self.goal: Facts = frozenset(tuple(fact) for fact in layout["goal"])

    def progress(self) -> float:
        return len(self.goal & self.facts) / len(self.goal)

    def actions(self, facts: Facts) -> Iterator[tuple[str, Facts]]:
        """What is possible: the action in words, and the facts after it."""
        raise NotImplementedError

    def estimate(self, facts: Facts) -> int:
        """Steps that are needed at least, more or less; for the solver alone."""
        return len(self.goal - facts)

    def read(self, reply: str) -> str:
        """The action in a reply, in the words of ``actions``. Raises WrongReply."""
        raise NotImplementedError

    def do(self, reply: str) -> str:
        action = self.read(reply)
        for words, after in self.actions(self.facts):
            if words == action:
                self.facts = after
                return f"Done: {action}."
        raise WrongReply(Kind.INVALID, f"'{action}' cannot be done now.", ends=False)

    def solution(self) -> list[str]:
        """By search, the cheapest estimate first; empty where MAX_NODES were not enough."""
        start = self.facts
        queue: list[tuple[int, int, int, Facts, tuple[str, ...]]] = []
        heapq.heappush(queue, (self.estimate(start), 0, 0, start, ()))
        known = {start: 0}
        count = 0
        while queue and count < MAX_NODES:
            _, _, _, facts, path = heapq.heappop(queue)
            if self.goal <= facts:
                return list(path)
            if len(path) >= self.max_steps or known[facts] < len(path):
                continue
            for words, after in self.actions(facts):
                if known.get(after, self.max_steps + 1) > len(path) + 1:
                    known[after] = len(path) + 1
                    count += 1
                    left = self.estimate(after)
                    entry = (len(path) + 1 + left, left, count, after, (*path, words))
                    heapq.heappush(queue, entry)
        return []


class Blocksworld(FactsEnvironment):
    """Coloured blocks, one hand, four actions."""

    name: ClassVar[str] = "blocksworld"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SYNTAX, Kind.STUCK, Kind.LIMIT, Kind.INVALID)
    sizes = ({"blocks": 4}, {"blocks": 5}, {"blocks": 6})
    start_prompt = (
        "You stack blocks with one hand. The actions are:\n"
        "pick up the X block (from the table)\n"
        "unstack the X block from on top of the Y block\n"
        "put down the X block (on the table)\n"
        "stack the X block on top of the Y block\n"
        "A block can be picked up or unstacked where nothing is on it and the hand is empty, and "
        "stacked on a block that has nothing on it. Bring about the goal.\n"
        "Reply with the next action alone, such as: pick up the red block"
    )
    _FORMS = (
        ("pick up the {0} block", re.compile(r"pick up (?:the )?(\w+) block")),
        (
            "unstack the {0} block from on top of the {1} block",
            re.compile(
                r"unstack (?:the )?(\w+) block from (?:on )?(?:top of )?(?:the )?(\w+) block"
            ),
        ),
        ("put down the {0} block", re.compile(r"put down (?:the )?(\w+) block")),
        (
            "stack the {0} block on top of the {1} block",
            re.compile(r"\bstack (?:the )?(\w+) block on (?:top of )?(?:the )?(\w+) block"),
        ),
    )

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        blocks = list(COLOURS[: size["blocks"]])
        init = [["handempty"], *_piles(blocks, rng)]
        goal = [fact for fact in _piles(blocks, rng) if fact[0] == "on"]
        return {"blocks": blocks, "init": sorted(init), "goal": sorted(goal) or [["clear", "red"]]}

    def state_text(self) -> str:
        return f"Now: {self._text(self.facts)}\nGoal: {self._text(self.goal)}"

    @staticmethod
    def _text(facts: Facts) -> str:
        words = {
            "on": "the {0} block is on the {1} block",
            "ontable": "the {0} block is on the table",
            "clear": "nothing is on the {0} block",
            "holding": "the {0} block is in the hand",
            "handempty": "the hand is empty",
        }
        return "; ".join(words[fact[0]].format(*fact[1:]) for fact in sorted(facts)) + "."

    def actions(self, facts: Facts) -> Iterator[tuple[str, Facts]]:
        clear = sorted(fact[1] for fact in facts if fact[0] == "clear")
        held = [fact[1] for fact in facts if fact[0] == "holding"]
        if held:
            block, held_fact = held[0], {("holding", held[0])}
            free = {("handempty",), ("clear", block)}
            yield (
                self._FORMS[2][0].format(block),
                facts - held_fact | free | {("ontable", block)},
            )
            for under in clear:
                after = facts - held_fact - {("clear", under)} | free | {("on", block, under)}
                yield self._FORMS[3][0].format(block, under), after
            return
        under_of = {fact[1]: fact[2] for fact in facts if fact[0] == "on"}
        for block in clear:
            taken = facts - {("clear", block), ("handempty",)} | {("holding", block)}
            if block in under_of:
                under = under_of[block]
                after = taken - {("on", block, under)} | {("clear", under)}
                yield self._FORMS[1][0].format(block, under), after
            else:
                yield self._FORMS[0][0].format(block), taken - {("ontable", block)}

    def estimate(self, facts: Facts) -> int:
        return 2 * len(self.goal - facts) - (("handempty",) not in facts)

    def read(self, reply: str) -> str:
        text = " ".join(reply.casefold().split())
        found = [
            (form, match.groups()) for form, seen in self._FORMS for match in seen.finditer(text)
        ]
        if len(found) != 1:
            count = "no action" if not found else "more than one action"
            raise WrongReply(Kind.SYNTAX, f"there is {count} in the reply.")
        form, blocks = found[0]
        for block in blocks:
            if block not in self.layout["blocks"]:
                raise WrongReply(Kind.INVALID, f"there is no {block} block.", ends=False)
        return form.format(*blocks)


class Logistics(FactsEnvironment):
    """Packages, a truck in each city, airplanes between the cities' airports."""

    name: ClassVar[str] = "logistics"
    kinds: ClassVar[tuple[Kind, ...]] = (*Blocksworld.kinds, Kind.WRONG_OBJECT)
    sizes = (
        {"cities": 2, "locations": 1, "packages": 2, "planes": 1},
        {"cities": 2, "locations": 2, "packages": 2, "planes": 1},
        {"cities": 3, "locations": 2, "packages": 2, "planes": 2},
    )
    start_prompt = (
        "You transport packages. Trucks drive between the places of one city; airplanes fly "
        "between airports. The actions are:\n"
        "load P into V at L\n"
        "unload P from V at L\n"
        "drive V from L to L in C\n"
        "fly V from L to L\n"
        "P is a package, V a vehicle (truck or airplane), L a place and C a city. Bring about the "
        "goal.\n"
        "Reply with the next action alone, such as: load package_0 into truck_1 at location_1_0"
    )
    _FORMS = TRANSPORT_FORMS

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        init: list[list[str]] = []
        places, airports = [], []
        for city in range(size["cities"]):
            here = [f"location_{city}_{n}" for n in range(size["locations"])]
            init += [["in-city", place, f"city_{city}"] for place in here]
            init += [["airport", here[0]], ["at", f"truck_{city}", rng.choice(here)]]
            places += here
            airports.append(here[0])
        init += [["at", f"airplane_{n}", rng.choice(airports)] for n in range(size["planes"])]
        goal = []
        for n in range(size["packages"]):
            start, end = rng.sample(places, 2)
            init.append(["at", f"package_{n}", start])
            goal.append(["at", f"package_{n}", end])
        return {"init": sorted(init), "goal": sorted(goal)}

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self.city = {f[1]: f[2] for f in self.facts if f[0] == "in-city"}
        self.airports = sorted(f[1] for f in self.facts if f[0] == "airport")
        self.facts = frozenset(f for f in self.facts if f[0] in ("at", "in"))
        self.things = {name for fact in self.facts for name in fact[1:]} | set(self.city)
        self.things |= set(self.city.values())

    def state_text(self) -> str:
        by_city: dict[str, list[str]] = {}
        for place, city in sorted(self.city.items()):
            note = " (airport)" if place in self.airports else ""
            by_city.setdefault(city, []).append(place + note)
        cities = "; ".join(f"{city} has {', '.join(p)}" for city, p in sorted(by_city.items()))
        return f"Cities: {cities}.\nNow: {self._text(self.facts)}\nGoal: {self._text(self.goal)}"

    @staticmethod
    def _text(facts: Facts) -> str:
        return "; ".join(f"{f[1]} is {f[0]} {f[2]}" for f in sorted(facts)) + "."

    def actions(self, facts: Facts) -> Iterator[tuple[str, Facts]]:
        at = {fact[1]: fact[2] for fact in sorted(facts) if fact[0] == "at"}
        loaded = {fact[1]: fact[2] for fact in sorted(facts) if fact[0] == "in"}
        vehicles = [name for name in at if not name.startswith("package")]
        for package, place in at.items():
            if package.startswith("package"):
                for vehicle in vehicles:
                    if at[vehicle] == place:
                        after = facts - {("at", package, place)} | {("in", package, vehicle)}
                        yield self._FORMS[0][0].format(package, vehicle, place), after
        for package, vehicle in loaded.items():
            place = at[vehicle]
            after = facts - {("in", package, vehicle)} | {("at", package, place)}
            yield self._FORMS[1][0].format(package, vehicle, place), after
        for vehicle in vehicles:
            here = at[vehicle]
            if vehicle.startswith("truck"):
                for there in sorted(self.city):
                    if there != here and self.city[there] == self.city[here]:
                        after = facts - {("at", vehicle, here)} | {("at", vehicle, there)}
                        words = self._FORMS[2][0].format(vehicle, here, there, self.city[here])
                        yield words, after
            else:
                for there in self.airports:
                    if there != here:
                        after = facts - {("at", vehicle, here)} | {("at", vehicle, there)}
                        yield self._FORMS[3][0].format(vehicle, here, there), after

    def estimate(self, facts: Facts) -> int:
        """Loads and unloads that every package needs, and the flights and drives between."""
        at = {fact[1]: fact[2] for fact in facts if fact[0] == "at"}
        total = 0
        for _, package, end in self.goal:
            where = at.get(package, "")
            vehicle = next((f[2] for f in facts if f[0] == "in" and f[1] == package), "")
            if where == end:
                continue
            place = where or at[vehicle]
            same = self.city[place] == self.city[end]
            if where:
                total += 2 if same else 2 + 2 * (where not in self.airports)
                total += 0 if same else 2 * (end not in self.airports)
            else:
                total += 1
                if vehicle.startswith("truck") and not same:
                    total += 2 + 2 * (end not in self.airports)
                if vehicle.startswith("airplane") and end not in self.airports:
                    total += 2
        return total

    def read(self, reply: str) -> str:
        text = " ".join(reply.casefold().split())
        found = [
            (form, match.groups()) for form, seen in self._FORMS for match in seen.finditer(text)
        ]
        if len(found) != 1:
            count = "no action" if not found else "more than one action"
            raise WrongReply(Kind.SYNTAX, f"there is {count} in the reply.")
        form, names = found[0]
        for name in names:
            if name not in self.things:
                raise WrongReply(Kind.WRONG_OBJECT, f"there is no {name}.", ends=False)
        vehicle = names[1] if form.startswith(("load", "unload")) else names[0]
        wanted = {"drive": ("truck",), "fly": ("airplane",)}.get(
            form.split()[0], ("truck", "airplane")
        )
        if not vehicle.startswith(wanted):
            raise WrongReply(
                Kind.WRONG_OBJECT, f"{vehicle} is no {' or '.join(wanted)}.", ends=False
            )
        return form.format(*names)


def _piles(blocks: list[str], rng: random.Random) -> list[list[str]]:
    """Facts of a random arrangement: each block on the table or on a pile."""
    piles: list[list[str]] = []
    for block in rng.sample(blocks, len(blocks)):
        choice = rng.randrange(len(piles) + 1)
        if choice == len(piles):
            piles.append([block])
        else:
            piles[choice].append(block)
    facts = []
    for pile in piles:
        facts.append(["ontable", pile[0]])
        facts += [["on", upper, lower] for lower, upper in itertools.pairwise(pile)]
        facts.append(["clear", pile[-1]])
    return facts


def problem_layout(path: Path) -> tuple[str, Layout]:
    """(environment's name, layout) of a PDDL problem of the four-operator Blocksworld or of
    Logistics. Raises InputError where the file is neither."""
    try:
        tree = _parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    parts = {part[0]: part[1:] for part in tree[1:] if isinstance(part, list) and part}
    try:
        domain = parts[":domain"][0]
        init = [list(map(str, fact)) for fact in parts[":init"]]
        goal = parts[":goal"][0]
        facts = [list(map(str, f)) for f in (goal[1:] if goal[0] == "and" else [goal])]
    except (KeyError, IndexError) as error:
        raise InputError(f"{path} is no PDDL problem") from error
    if domain.startswith("blocksworld"):
        names = dict(zip(sorted(parts[":objects"]), COLOURS, strict=False))
        rename = lambda fact: [fact[0], *(names[name] for name in fact[1:])]  # noqa: E731
        return "blocksworld", {
            "blocks": list(names.values()),
            "init": sorted(rename(fact) for fact in init),
            "goal": sorted(rename(fact) for fact in facts),
        }
    if domain.startswith("logistics"):
        return "logistics", _logistics_layout(init, facts)
    raise InputError(f"{path}: there is no environment for the domain {domain}")


def _logistics_layout(init: list[list[str]], goal: list[list[str]]) -> Layout:
    kinds = {"obj": "package", "truck": "truck", "airplane": "airplane", "city": "city"}
    names: dict[str, str] = {}
    city = {fact[1]: fact[2] for fact in init if fact[0] == "in-city"}
    for fact in init:
        if (kind := kinds.get(fact[0])) is not None:
            names[fact[1]] = f"{kind}_{sum(n.startswith(kind) for n in names.values())}"
    for place in sorted(city):
        prefix = names[city[place]].replace("city", "location") + "_"
        names[place] = prefix + str(sum(n.startswith(prefix) for n in names.values()))
    kept = [fact for fact in init if fact[0] in ("at", "in", "in-city", "airport")]
    rename = lambda fact: [fact[0], *(names[name] for name in fact[1:])]  # noqa: E731
    return {
        "init": sorted(rename(fact) for fact in kept),
        "goal": sorted(rename(fact) for fact in goal),
    }


def _parse(text: str) -> list[Any]:
    """Nested lists of an s-expression in lower case. Raises InputError where it is not one."""
    stack: list[list[Any]] = [[]]
    text = re.sub(r";.*", "", text.casefold())
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) < 2:
                raise InputError("a bracket is closed that was not opened")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise InputError("a PDDL file is one expression in brackets")
    whole: list[Any] = stack[0][0]
    return whole
