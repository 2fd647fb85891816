"""What a run came to: figures for people, numbers for programs, and a picture."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.optimize.store import read_lines, read_settings

PICTURE = "report.png"


@dataclass(frozen=True)
class RunReport:
    """A run's folder, read; ``result`` is None where the run has not ended."""

    folder: Path
    settings: Mapping[str, Any]
    prompts: Sequence[Mapping[str, Any]]
    models: Sequence[Mapping[str, Any]]
    levels: Sequence[Mapping[str, Any]]
    result: Mapping[str, Any] | None
    spent: Mapping[str, int]

    @property
    def best(self) -> Mapping[str, Any]:
        return max(self.prompts, key=lambda p: (p["score"], -int(p["key"])))

    def as_json(self) -> dict[str, Any]:
        """The keys that programs may count on; of a run that goes on, the best so far."""
        result = self.result or {}
        return {
            "start_score": self.prompts[0]["score"],
            "best_score": self.best["score"],
            "held_back_start": result.get("held_back_start"),
            "held_back_best": result.get("held_back_best"),
            "trials": result.get("trials", self.spent["trials"]),
            "tokens": result.get("tokens", self.spent["tokens"]),
            "search_trials": result.get("search_trials", self.prompts[-1]["trials_so_far"]),
            "prompts": len(self.prompts),
            "calls": result.get("calls", self.spent["calls"]),
            "cost": result.get("cost"),
            "best": self.best["key"],
            "end": result.get("end", "the run has not ended"),
            "held_back_online": result.get("held_back_online"),
        }

    def prompt(self, name: str) -> Mapping[str, Any]:
        """A prompt by its id, ``start`` or ``best``. Raises InputError where there is none."""
        if name == "best":
            return self.best
        wanted = "0000" if name == "start" else name
        for prompt in self.prompts:
            if prompt["key"] == wanted:
                return prompt
        raise InputError(f"{self.folder} has no prompt {name!r}: name an id, start or best")

    def diff(self, first: str = "start", second: str = "best") -> str:
        """What changed from one prompt to another, line by line."""
        old, new = self.prompt(first), self.prompt(second)
        lines = difflib.unified_diff(
            old["text"].splitlines(),
            new["text"].splitlines(),
            f"{old['key']} (score {old['score']:.3f})",
            f"{new['key']} (score {new['score']:.3f})",
            lineterm="",
        )
        return "\n".join(lines)


def read_run(folder: Path) -> RunReport:
    """A run's folder. Raises InputError where it is none, or nothing was scored yet."""
    import json

    folder = folder.expanduser()
    settings = read_settings(folder)
    prompts = read_lines(folder, "prompts")
    if not prompts:
        raise InputError(f"{folder}: no prompt has been scored yet")
    trials, calls = read_lines(folder, "trials"), read_lines(folder, "calls")
    result = folder / "result.json"
    spent = {
        "trials": len(trials),
        "calls": sum(t["calls"] for t in trials) + len(calls),
        "tokens": sum(r["tokens_in"] + r["tokens_out"] for r in (*trials, *calls)),
    }
    return RunReport(
        folder,
        settings,
        prompts,
        read_lines(folder, "models"),
        read_lines(folder, "levels"),
        json.loads(result.read_text(encoding="utf-8")) if result.exists() else None,
        spent,
    )


def draw(report: RunReport, path: Path) -> None:
    """Four pictures in one file: scores as they came, scores against the prompts' length, the
    score model's error against the number of pairs, and what it predicted against what was so
    (Figures 4 and 13). Raises InputError where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError(
            f"pictures need matplotlib ({error}): pip install 'good_ros[plot]'"
        ) from error
    figure = Figure(figsize=(11, 8), layout="constrained")
    evolution, length, errors, predicted = figure.subplots(2, 2).flat
    scores = [p["score"] for p in report.prompts]
    trials = [p["trials_so_far"] for p in report.prompts]
    best = [max(scores[: n + 1]) for n in range(len(scores))]
    evolution.scatter(trials, scores, c=[p["level"] for p in report.prompts], cmap="viridis", s=16)
    evolution.step(trials, best, where="post", label="best so far")
    evolution.set(xlabel="trials", ylabel="score", title="Evolution (colour: level)")
    evolution.legend(loc="lower right")
    words = [len(p["text"].split()) for p in report.prompts]
    length.scatter(words, scores, s=16)
    length.set(xlabel="words in the prompt", ylabel="score", title="Score and length")
    fits = [m for m in report.models if m["kind"] == "fit"]
    errors.plot([f["pairs"] for f in fits], [f["train_error"] for f in fits], ".-", label="fitted")
    errors.plot([f["pairs"] for f in fits], [f["test_error"] for f in fits], ".-", label="held out")
    errors.set(xlabel="pairs of prompt and score", ylabel="mean absolute error")
    errors.set_title("Score model" if fits else "Score model (not used)")
    if fits:
        errors.legend()
    actual = {p["text"]: p["score"] for p in report.prompts}
    pairs = [
        (m["predicted"], actual[m["text"]])
        for m in report.models
        if m["kind"] == "prediction" and m["text"] in actual
    ]
    predicted.scatter([p for p, _ in pairs], [a for _, a in pairs], s=16)
    predicted.plot([0, 1], [0, 1], ":", color="grey")
    refused = sum(m["kind"] == "prediction" and not m["passed"] for m in report.models)
    predicted.set(xlabel="predicted", ylabel="score", title=f"Tried; {refused} were not")
    figure.suptitle(f"{report.settings['name']}: {report.settings['method']}")
    figure.savefig(path, dpi=110)
