"""What a method is: levels of new prompts from good ones, until nothing gets better (4.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from good_ros.optimize.search import Candidate, Search
from good_ros.optimize.trial import Trial

FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n?```", re.DOTALL)
ROUNDS_SHOWN = 2
STATE_CHARS = 600


@dataclass(frozen=True)
class Proposal:
    """A new prompt, the prompts it was made from, and how."""

    text: str
    parents: Sequence[Candidate]
    note: str = ""


class Method(Protocol):
    """Searches from the start prompt, which is scored already, until SearchOver is raised or it
    is done."""

    def run(self, search: Search) -> str:
        """Why the search ended. Raises SearchOver, ModelError."""


class LevelMethod:
    """Makes ``kids`` new prompts from each of the ``beam`` best, level after level, and ends after
    ``patience`` levels without gain: the same number of prompts for every method."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def parents(self, search: Search, level: int) -> Sequence[Candidate]:
        """Whom this level's prompts are made from."""
        return search.archive.top(search.config.beam)

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        """At most ``kids`` new prompts; each is scored before the next is asked for."""
        raise NotImplementedError

    def run(self, search: Search) -> str:
        config = search.config
        best, without_gain = search.archive.best.score, 0
        for level in range(1, config.levels + 1):
            kids = config.kids[0] if level == 1 else config.kids[1]
            for parent in self.parents(search, level):
                for proposal in self.propose(search, parent, kids, level):
                    search.evaluate(proposal.text, proposal.parents, level, proposal.note)
            beam = search.archive.top(config.beam)
            record_level(search, level, beam)
            without_gain = 0 if beam[0].score > best else without_gain + 1
            best = beam[0].score
            if without_gain >= config.patience:
                return f"{config.patience} levels brought no gain"
        return f"all {config.levels} levels are done"


def record_level(search: Search, level: int, beam: Sequence[Candidate]) -> None:
    """Keep what a level came to."""
    search.folder.put(
        "levels",
        str(level),
        {
            "best": beam[0].score,
            "beam": [c.id for c in beam],
            "prompts": len(search.archive.candidates),
            "trials": search.meter.trials,
        },
    )


def cleaned(reply: str) -> str:
    """The prompt in a reply: without a code fence, rules or quotes around it."""
    text = reply.strip()
    if (fenced := FENCE.search(text)) is not None:
        text = fenced[1].strip()
    text = re.sub(r"\A(?:-{3,}\s*\n)+|(?:\n\s*-{3,})+\Z", "", text).strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    return text


def trajectory_text(search: Search, candidate: Candidate) -> str:
    """The last prompts that led to one, with their scores."""
    chain = search.archive.trajectory(candidate)[-search.config.trajectory :]
    return "\n".join(
        f"Prompt {n} (score {c.score:.2f}):\n{c.text}" for n, c in enumerate(chain, start=1)
    )


def plain_errors(trials: Sequence[Trial]) -> str:
    """How trials ended, in the environment's own words, without the rules of people."""
    return "\n\n".join(f"Example {n}:\n{_ending(t)}" for n, t in enumerate(trials, start=1))


def _ending(trial: Trial) -> str:
    shown = trial.rounds[-ROUNDS_SHOWN:]
    return "\n".join(
        f"State: {r.state[:STATE_CHARS]}\nReply: {r.reply.strip()[:300]}\nResult: {r.text[:300]}"
        for r in shown
    )


def some_failures(search: Search, candidate: Candidate, *key: object) -> list[Trial]:
    """As many failed trials as PROMST takes instances of feedback (4.2)."""
    failures = candidate.failures
    count = min(len(failures), search.config.feedback_instances)
    return search.random("failures", candidate.id, *key).sample(failures, count)


def seed_of(search: Search, *key: object) -> int:
    """A seed for one call of the model that writes prompts."""
    return search.random("seed", *key).randrange(2**31)
