"""The methods that PROMST is compared with (4.2), each as far as its idea goes in this harness:
same start prompt, same instances, same number of prompts, no rules of feedback by people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import yaml

from good_ros.optimize.methods.base import (
    LevelMethod,
    Proposal,
    cleaned,
    plain_errors,
    seed_of,
    some_failures,
    trajectory_text,
)
from good_ros.optimize.resources import data_file
from good_ros.optimize.search import Candidate, Search


class Ape(LevelMethod):
    """Automatic Prompt Engineer: other wordings of the best prompts (iterative Monte Carlo)."""

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        for number in range(kids):
            seed = seed_of(search, parent.id, level, number)
            reply = search.ask("ape_vary", seed, prompt=parent.text)
            yield Proposal(cleaned(reply), [parent], "other wording")


class Apo(LevelMethod):
    """Automatic Prompt Optimization: reasons for errors as a gradient in words, an edit against
    it, and every second time another wording of the edit. The beam is chosen by the score on all
    instances, where the original uses a bandit on samples."""

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        edited = ""
        for number in range(kids):
            seed = seed_of(search, parent.id, level, number)
            if number % 2 and edited:
                reply = search.ask("ape_vary", seed, prompt=edited)
                yield Proposal(cleaned(reply), [parent], "other wording of an edit")
                continue
            errors = plain_errors(some_failures(search, parent, level, number))
            errors = errors or "(no errors)"
            reasons = search.ask("apo_reasons", seed, prompt=parent.text, errors=errors)
            reply = search.ask("apo_edit", seed, prompt=parent.text, errors=errors, reasons=reasons)
            edited = cleaned(reply)
            yield Proposal(edited, [parent], "edit against reasons")


class PromptAgent(LevelMethod):
    """PromptAgent: a tree of prompts in which upper confidence bounds choose where to go on;
    errors are reflected on, and the way through the tree is shown."""

    exploration = 0.5

    def parents(self, search: Search, level: int) -> Sequence[Candidate]:
        known = search.archive.candidates
        below = {c.id: [c] for c in known}
        for candidate in known:
            for ancestor in search.archive.trajectory(candidate)[:-1]:
                below[ancestor.id].append(candidate)

        def bound(candidate: Candidate) -> float:
            value = max(c.score for c in below[candidate.id])
            above = below[candidate.parents[0]] if candidate.parents else known
            visits = len(below[candidate.id])
            return value + self.exploration * math.sqrt(math.log(len(above) + 1) / visits)

        ranked = sorted(known, key=lambda c: (-bound(c), c.id))
        return ranked[: search.config.beam]

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        for number in range(kids):
            seed = seed_of(search, parent.id, level, number)
            errors = plain_errors(some_failures(search, parent, level, number))
            errors = errors or "(no errors)"
            thoughts = search.ask("promptagent_reflect", seed, prompt=parent.text, errors=errors)
            reply = search.ask(
                "promptagent_edit",
                seed,
                prompt=parent.text,
                thoughts=thoughts,
                trajectory=trajectory_text(search, parent),
            )
            yield Proposal(cleaned(reply), [parent], "reflection")


class LlmAsOptimizer(LevelMethod):
    """LLM-as-optimizer: the best prompts so far with their scores, the best last, and the request
    for one that scores higher."""

    shown = 10

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        for number in range(kids):
            top = search.archive.top(self.shown)
            listed = "\n".join(f"Prompt:\n{c.text}\nScore: {c.score:.3f}\n" for c in top[::-1])
            seed = seed_of(search, parent.id, level, number)
            yield Proposal(cleaned(search.ask("opro_next", seed, prompts=listed)), top[:1])


class PromptBreeder(LevelMethod):
    """PromptBreeder: of two drawn prompts the better one is changed by an instruction that is
    itself changed now and then; some are made anew from a way of thinking, or from the list of
    the best."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        data = yaml.safe_load(data_file("breeder.yaml"))
        self.changes: list[str] = list(data["changes"])
        self.thinking: list[str] = list(data["thinking"])

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        changes = list(self.changes)
        for number in range(kids):
            random = search.random("breeder", level, parent.id, number)
            seed = random.randrange(2**31)
            drawn = [random.choice(search.archive.candidates) for _ in range(2)]
            better = max(drawn, key=lambda c: c.score)
            change, thinking = random.choice(changes), random.choice(self.thinking)
            way = random.choice(("change", "think", "list", "hyper"))
            if way == "list":
                top = search.archive.top(search.config.beam)[::-1]
                listed = "\n".join(f"{n}. {c.text}" for n, c in enumerate(top, start=1))
                reply = search.ask("breeder_list", seed, prompts=listed)
                yield Proposal(cleaned(reply), top, "from the list of the best")
                continue
            if way == "hyper":
                reply = search.ask("breeder_hyper", seed, instruction=change, thinking=thinking)
                change = cleaned(reply)[:300] or change
                changes.append(change)
            elif way == "think":
                change = f"{thinking} {change}"
            reply = search.ask("breeder_mutate", seed, instruction=change, prompt=better.text)
            yield Proposal(cleaned(reply), [better], f"{way}: {change}"[:200])


class Evolutionary(LevelMethod):
    """Evolutionary prompt optimizer: two parents, drawn by their scores, are crossed and the child
    changed."""

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        for number in range(kids):
            random = search.random("evolution", level, parent.id, number)
            beam = search.archive.top(max(2, search.config.beam))
            least = min(0.0, *(c.score for c in beam)) if len(beam) > 1 else 0.0
            weights = [c.score - least + 0.01 for c in beam]
            first, second = (random.choices(beam, weights)[0] for _ in range(2))
            seed = random.randrange(2**31)
            reply = search.ask("evolve_child", seed, first=first.text, second=second.text)
            yield Proposal(cleaned(reply), [first, second], "crossed and changed")
