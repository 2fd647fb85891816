"""What every method searches with: scoring prompts, asking the model that writes them, and the
budget that is the same for all (PROMST, 4.3)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from good_ros.language import prompts
from good_ros.language.generator import Generator, Sampling
from good_ros.optimize.config import Budget, RunConfig
from good_ros.optimize.environments.base import Feedback
from good_ros.optimize.environments.registry import Instance
from good_ros.optimize.resources import PROMPTS
from good_ros.optimize.scores import Score
from good_ros.optimize.store import RunFolder, key_of
from good_ros.optimize.tasks import Task
from good_ros.optimize.trial import Trial


class SearchOver(Exception):
    """The search ends here, with a reason: the budget is spent, or the score reached."""


@dataclass(frozen=True)
class Candidate:
    """A prompt that was scored. ``parents`` are ids; level 0 is the start prompt; ``note`` says
    how it came about."""

    id: str
    text: str
    parents: tuple[str, ...]
    level: int
    note: str
    score: float
    trials: tuple[Trial, ...]

    @property
    def feedback(self) -> list[Feedback]:
        return [f for trial in self.trials for f in trial.feedback]

    @property
    def failures(self) -> list[Trial]:
        """The trials that were not completed."""
        return [trial for trial in self.trials if not trial.completed]


class Archive:
    """All prompts that were scored, in order."""

    def __init__(self) -> None:
        self.candidates: list[Candidate] = []
        self._texts: set[str] = set()

    def __contains__(self, text: str) -> bool:
        return text in self._texts

    def add(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        self._texts.add(candidate.text)

    def of(self, name: str) -> Candidate:
        return self.candidates[int(name)]

    def top(self, count: int) -> list[Candidate]:
        """The best by score, of equal ones the earlier."""
        return sorted(self.candidates, key=lambda c: (-c.score, c.id))[:count]

    @property
    def best(self) -> Candidate:
        return self.top(1)[0]

    def trajectory(self, candidate: Candidate) -> list[Candidate]:
        """The prompts that led to one, by first parents, itself the last."""
        chain = [candidate]
        while chain[0].parents:
            chain.insert(0, self.of(chain[0].parents[0]))
        return chain


class Meter:
    """What was spent, in the order in which the search used it, whether it was computed now or
    was there already. ``check`` raises SearchOver where the budget is spent."""

    def __init__(self, budget: Budget, seconds_before: float = 0.0) -> None:
        self.budget = budget
        self.trials = 0
        self.calls = {"task": 0, "prompt": 0}
        self.tokens = {"task": [0, 0], "prompt": [0, 0]}
        self._before = seconds_before
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    @property
    def all_tokens(self) -> int:
        return sum(map(sum, self.tokens.values()))

    def add(self, role: str, calls: int, tokens_in: int, tokens_out: int) -> None:
        self.calls[role] += calls
        self.tokens[role][0] += tokens_in
        self.tokens[role][1] += tokens_out

    def cost(self, prices: Mapping[str, Sequence[float]]) -> float:
        """In the currency of the prices, which are for a million tokens (read, written)."""
        return sum(
            price * count / 1e6
            for role, pair in prices.items()
            for price, count in zip(pair, self.tokens.get(role, (0, 0)), strict=False)
        )

    def check(self) -> None:
        for what, spent, limit in (
            ("trials", self.trials, self.budget.trials),
            ("calls", sum(self.calls.values()), self.budget.calls),
            ("tokens", self.all_tokens, self.budget.tokens),
            ("minutes", self.seconds / 60, self.budget.minutes),
        ):
            if limit and spent >= limit:
                raise SearchOver(f"the budget of {limit:g} {what} is spent")


class Search:
    """One run's search; methods call ``ask`` and ``evaluate``, which raise SearchOver at the
    end."""

    def __init__(
        self,
        config: RunConfig,
        task: Task,
        score: Score,
        folder: RunFolder,
        task_model: Generator,
        writer: Generator,
        on_prompt: Callable[[Candidate, Search], None] = lambda candidate, search: None,
    ) -> None:
        self.config = config
        self.task = task
        self.score = score
        self.folder = folder
        self.task_model = task_model
        self.writer = writer
        self.on_prompt = on_prompt
        self.archive = Archive()
        clock = folder.read("clock.json") or {"seconds": 0.0}
        self.meter = Meter(config.budget, float(clock["seconds"]))
        self.given = list(task.given_feedback())

    def random(self, *key: object) -> random.Random:
        """Draws that depend on the run's seed and the key alone, not on what was drawn before."""
        return random.Random(key_of(self.config.seed, *map(str, key)))

    def feedback_of(self, candidate: Candidate) -> list[Feedback]:
        """What the rules said of a prompt's trials, and what came from people."""
        return [*candidate.feedback, *self.given]

    def ask(self, form: str, seed: int, /, **slots: str) -> str:
        """The reply of the model that writes prompts. Raises ModelError where it fails."""
        self.meter.check()
        options = self.config.writer
        sampling = Sampling(
            int(options.get("max_tokens", 1024)), float(options.get("temperature", 0.0)), seed
        )
        messages = prompts.load(form, folder=PROMPTS).messages(**slots)
        return self._call(form, messages, sampling)

    def _call(self, purpose: str, messages: Sequence[Any], sampling: Sampling) -> str:
        said = [[m.role, m.content] for m in messages]
        seed = sampling.seed if sampling.temperature else 0
        key = key_of(said, sampling.max_tokens, sampling.temperature, sampling.seed)
        known = self.folder.get("calls", key)
        if known is None:
            reply = self.writer.generate(
                messages, Sampling(sampling.max_tokens, sampling.temperature, sampling.seed)
            )
            self.folder.put(
                "calls",
                key,
                {
                    "purpose": purpose,
                    "messages": said,
                    "seed": seed,
                    "reply": reply.text,
                    "tokens_in": reply.tokens_in,
                    "tokens_out": reply.tokens_out,
                    "seconds": round(reply.seconds, 3),
                },
            )
            known = self.folder.get("calls", key)
            assert known is not None
        self.meter.add("prompt", 1, known["tokens_in"], known["tokens_out"])
        return str(known["reply"])

    def ask_plain(self, text: str, seed: int = 0) -> str:
        """As ``ask``, with a text that a method's own package wrote."""
        from good_ros.language.generator import Message

        self.meter.check()
        sampling = Sampling(int(self.config.writer.get("max_tokens", 1024)), 0.0, seed)
        return self._call("plain", [Message("user", text)], sampling)

    def trials(
        self, text: str, instances: Sequence[Instance], *, checked: bool = True, memory: str = ""
    ) -> list[Trial]:
        """A trial of a prompt on each instance, ``parallel`` at a time; those that were done
        before are taken from the folder. Raises SearchOver between trials, ModelError."""
        results: list[Trial] = []
        width = self.config.parallel
        for begin in range(0, len(instances), width):
            if checked:
                self.meter.check()
            part = instances[begin : begin + width]
            with ThreadPoolExecutor(width) as pool:
                done = list(pool.map(lambda i: self._trial(text, i, memory), part))
            for trial in done:
                self.meter.trials += 1
                self.meter.add("task", trial.calls, trial.tokens_in, trial.tokens_out)
            results += done
        return results

    def _trial(self, text: str, instance: Instance, memory: str) -> Trial:
        key = key_of(text, memory, instance.id)
        known = self.folder.trial(key)
        if known is None:
            known = self.task.trial(text, instance, self.task_model, memory)
            self.folder.put_trial(key, text, known)
        return known

    def mean_score(self, trials: Iterable[Trial]) -> float:
        scores = [self.score(trial) for trial in trials]
        return sum(scores) / len(scores)

    def evaluate(
        self, text: str, parents: Sequence[Candidate], level: int, note: str = ""
    ) -> Candidate | None:
        """The prompt with its score; None where it cannot be used or was scored before."""
        text = self.task.usable(text)
        if not text or text in self.archive:
            return None
        trials = self.trials(text, self.task.instances, checked=level > 0)
        name = f"{len(self.archive.candidates):04d}"
        candidate = Candidate(
            name,
            text,
            tuple(p.id for p in parents),
            level,
            note,
            self.mean_score(trials),
            tuple(trials),
        )
        self.archive.add(candidate)
        counts: dict[str, int] = {}
        for entry in candidate.feedback:
            counts[entry.kind.value] = counts.get(entry.kind.value, 0) + 1
        self.folder.put_prompt(
            name,
            text,
            {
                "parents": list(candidate.parents),
                "level": level,
                "note": note,
                "score": candidate.score,
                "feedback": counts,
                "trials_so_far": self.meter.trials,
            },
        )
        self.folder.write("clock.json", {"seconds": round(self.meter.seconds, 1)})
        self.on_prompt(candidate, self)
        if self.config.stop_at is not None and candidate.score >= self.config.stop_at:
            raise SearchOver(f"the score of {self.config.stop_at:g} is reached")
        return candidate
