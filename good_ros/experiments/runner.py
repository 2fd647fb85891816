"""Runs the sessions of an experiment that are not done yet, and has them judged.

A session is the unit: one that was cut short, by a crash or a server that is down, is run anew
with the same seed, and comes out the same.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from good_ros.core.errors import ModelError
from good_ros.experiments import judges
from good_ros.experiments.play import SessionModels, Write, play
from good_ros.experiments.profiles import load_profile
from good_ros.experiments.records import Outcome
from good_ros.experiments.run_folder import JUDGEMENTS, SESSIONS, RunFolder
from good_ros.experiments.spec import SessionKey, Spec
from good_ros.experiments.usage import CountingGenerator
from good_ros.experiments.variants import VARIANTS

MOST_FAILURES = 3
"""Sessions in a row whose model fails, after which no further one is begun."""

Play = Callable[[Spec, SessionKey, SessionModels, Write], Outcome]


@dataclass(frozen=True)
class Progress:
    """Told after each session. ``seconds_left`` is None until one has been run.

    ``tokens_in`` and ``tokens_out`` are of all sessions that are done, with their judges' and the
    tokens that the belief read; ``cost`` is None where no prices are given. ``error`` says why
    the session could not be run.
    """

    key: SessionKey
    done: int
    total: int
    machine_score: float | None = None
    turns: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    error: str = ""


@dataclass
class RunResult:
    """How many sessions are done, and which could not be run, with the reason."""

    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    """Sessions that were not begun, after too many failures."""


def run(
    spec: Spec,
    folder: RunFolder,
    models: Callable[[], SessionModels],
    *,
    play_session: Play = play,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> RunResult:
    """Run what is missing in the folder, which the caller has begun (``RunFolder.begin``).

    ``models`` is called once for each worker that has something to do; what it gives is closed
    at the end. A session whose model fails is left for the next run, and the others go on.
    """
    return _Run(spec, folder, models, play_session, on_progress).run()


class _Run:
    def __init__(
        self,
        spec: Spec,
        folder: RunFolder,
        models: Callable[[], SessionModels],
        play_session: Play,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self.spec = spec
        self.folder = folder
        self.make_models = models
        self.play = play_session
        self.on_progress = on_progress
        self.keys = spec.sessions()
        self.result = RunResult()
        self._idle: queue.SimpleQueue[SessionModels] = queue.SimpleQueue()
        self._all: list[SessionModels] = []
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._to_run = 0
        self._run_here = 0
        self._in_a_row = 0
        self._tokens = [0, 0]
        self._cost = 0.0

    def run(self) -> RunResult:
        missing = []
        for key in self.keys:
            if self._is_done(key):
                self.result.done += 1
                self._count(key)
            else:
                missing.append(key)
        self._to_run = len(missing)
        # What fails always must not keep the others from being run.
        missing.sort(key=self.folder.has_failed)
        try:
            if self.spec.workers == 1:
                for key in missing:
                    self._one(key)
            else:
                self._in_parallel(missing)
        finally:
            for models in self._all:
                models.close()
        return self.result

    def _in_parallel(self, keys: Sequence[SessionKey]) -> None:
        with ThreadPoolExecutor(self.spec.workers) as pool:
            pending: set[Future[None]] = {pool.submit(self._one, key) for key in keys}
            try:
                while pending:
                    ended, pending = wait(pending, return_when=FIRST_COMPLETED)
                    for future in ended:
                        future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _is_done(self, key: SessionKey) -> bool:
        judged = not self.spec.judge_model or self.folder.has(JUDGEMENTS, key)
        return judged and self.folder.has(SESSIONS, key)

    def _one(self, key: SessionKey) -> None:
        """Run one session, or what of it is missing, and tell of it."""
        with self._lock:
            if self._in_a_row >= MOST_FAILURES:
                self.result.skipped += 1
                return
        began = time.monotonic()
        error = ""
        models = None
        try:
            models = self._take_models()
            if not self.folder.has(SESSIONS, key):
                with self.folder.writer(SESSIONS, key) as write:
                    write(_about(self.spec, key))
                    self.play(self.spec, key, models, write)
            if self.spec.judge_model:
                self._judge(key, models)
        except ModelError as problem:
            error = str(problem)
        finally:
            if models is not None:
                self._idle.put(models)
        self.folder.keep_failure(key, error)
        with self._lock:
            self._tell(key, time.monotonic() - began, error)

    def _take_models(self) -> SessionModels:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            models = self.make_models()
            with self._lock:
                self._all.append(models)
            return models

    def _judge(self, key: SessionKey, models: SessionModels) -> None:
        assert models.judge is not None, "a judge is named, and none was made"
        records = self.folder.read(SESSIONS, key)
        judge = CountingGenerator(models.judge)
        asked = judges.questions(
            load_profile(key.profile),
            records,
            VARIANTS[key.variant].manages_goals,
            self.spec.judge_chars,
        )
        with self.folder.writer(JUDGEMENTS, key) as write:
            for question in asked:
                write(judges.ask(judge, question, self.spec.deadline_s))
            cost = None
            if self.spec.prices:
                usage, price = judge.usage, self.spec.prices.get("judge")
                cost = price.cost(usage.tokens_in, usage.tokens_out) if price else 0.0
            write({"record": "cost", "usage": {"judge": judge.usage.as_json()}, "cost": cost})

    def _tell(self, key: SessionKey, seconds: float, error: str) -> None:
        self._run_here += 1
        score, turns = None, 0
        if error:
            self.result.failed[key.name] = error
            self._in_a_row += 1
        else:
            self.result.done += 1
            self._in_a_row = 0
            end = self._count(key)
            score, turns = end["machine_score"], end["turns"]
        left = self._to_run - self._run_here
        each = (time.monotonic() - self._began) / self._run_here
        self.on_progress(
            Progress(
                key,
                self.result.done,
                len(self.keys),
                score,
                turns,
                seconds,
                left * each,
                self._tokens[0],
                self._tokens[1],
                self._cost if self.spec.prices else None,
                error,
            )
        )

    def _count(self, key: SessionKey) -> dict[str, Any]:
        """Add what a session took to the totals; its end."""
        records = self.folder.read(SESSIONS, key)
        costs = [r for r in records if r["record"] == "cost"]
        if self.spec.judge_model:
            costs += [r for r in self.folder.read(JUDGEMENTS, key) if r["record"] == "cost"]
        for record in costs:
            for usage in record["usage"].values():
                self._tokens[0] += usage["tokens_in"]
                self._tokens[1] += usage["tokens_out"]
            self._tokens[0] += record.get("scoring", {}).get("tokens_scored", 0)
            self._cost += record["cost"] or 0.0
        return next(r for r in records if r["record"] == "end")


def _about(spec: Spec, key: SessionKey) -> dict[str, Any]:
    return {
        "record": "session",
        "domain": key.domain,
        "profile": key.profile,
        "variant": key.variant,
        "trial": key.trial,
        "seed": spec.seed_of(key),
        "model": spec.model,
        "scoring_model": spec.scorer if VARIANTS[key.variant].layout else "",
        "graph": spec.graph,
    }
