"""PROMST itself (Algorithms 1 to 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Feedback, Kind
from good_ros.optimize.methods.base import (
    LevelMethod,
    Proposal,
    cleaned,
    seed_of,
    trajectory_text,
)
from good_ros.optimize.score_model import ScoreModel, make_embed
from good_ros.optimize.search import Candidate, Search

TRIES_A_KID = 3
"""How many prompts are written for each that the score model should let through (Algorithm 2)."""


class Promst(LevelMethod):
    """``summarise`` false leaves SumLLM out (Table 4); ``leave_out`` names types of feedback that
    are not used, or ``all`` of them (Figure 5b, Table 5)."""

    def __init__(self, summarise: bool = True, leave_out: Any = (), **options: Any) -> None:
        super().__init__(**options)
        self.summarise = summarise
        try:
            self.left_out = set(Kind) if leave_out == "all" else {Kind(kind) for kind in leave_out}
        except ValueError as error:
            raise InputError(
                f"leave_out: {error}; there are {', '.join(kind.value for kind in Kind)}"
            ) from error
        self._model: ScoreModel | None = None

    def propose(
        self, search: Search, parent: Candidate, kids: int, level: int
    ) -> Iterator[Proposal]:
        options = search.config.score_model
        if options is None or level < options.from_level or not self._fit(search, parent, level):
            for number in range(kids):
                yield Proposal(self._write(search, parent, level, number), [parent])
            return
        assert self._model is not None
        made = 0
        for number in range(TRIES_A_KID * kids):
            if made == kids:
                break
            text = search.task.usable(self._write(search, parent, level, number))
            if not text or text in search.archive:
                continue
            best = search.archive.best.score
            passes, mean = self._model.lets_through(text, best, options.hyper_m)
            search.folder.put(
                "models",
                f"{level}-{parent.id}-{number}",
                {"kind": "prediction", "predicted": mean, "passed": passes, "text": text},
            )
            if passes:
                made += 1
                yield Proposal(text, [parent], f"predicted {mean:.3f}")

    def _fit(self, search: Search, parent: Candidate, level: int) -> bool:
        options = search.config.score_model
        assert options is not None
        if self._model is None:
            embed = make_embed(options.features)
            self._model = ScoreModel(embed, options.rounds, search.config.seed)
        known = search.archive.candidates
        fit = self._model.fit([c.text for c in known], [c.score for c in known])
        if fit is None:
            return False
        search.folder.put(
            "models",
            f"fit-{level}-{parent.id}",
            {
                "kind": "fit",
                "pairs": fit.pairs,
                "train_error": fit.train_error,
                "test_error": fit.test_error,
            },
        )
        return True

    def _write(self, search: Search, parent: Candidate, level: int, number: int) -> str:
        """One new prompt (Algorithm 3)."""
        random = search.random("feedback", parent.id, level, number)
        pool = [f for f in search.feedback_of(parent) if f.kind not in self.left_out]
        chosen = random.sample(pool, min(len(pool), search.config.feedback_instances))
        seed = seed_of(search, parent.id, level, number)
        said = "\n".join(
            self._of_one_kind(search, parent, kind, [f for f in chosen if f.kind is kind], seed)
            for kind in Kind
            if any(f.kind is kind for f in chosen)
        )
        reply = search.ask(
            "generate",
            seed,
            prompt=parent.text,
            feedback=said or "(none; make the prompt clearer)",
            trajectory=trajectory_text(search, parent),
        )
        return cleaned(reply)

    def _of_one_kind(
        self, search: Search, parent: Candidate, kind: Kind, feedback: list[Feedback], seed: int
    ) -> str:
        limit = search.config.feedback_chars
        texts = "\n".join(f"- {shortened(f.text, limit)}" for f in feedback)
        if not self.summarise:
            return f"{kind.value}:\n{texts}"
        reply = search.ask("summarise", seed, prompt=parent.text, kind=kind.value, feedback=texts)
        return f"{kind.value}:\n{reply.strip()}"


def shortened(text: str, limit: int) -> str:
    """A text with its middle left out where it is longer: what was wrong is said at the ends."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} … {text[-(limit // 2) :]}"
