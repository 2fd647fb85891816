"""Figures in the form of the paper's figures 3, 4 and 5, each with what it was made from."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from good_ros.experiments.figures import new_pyplot, save
from good_ros.experiments.variants import VARIANTS

TITLES = {
    "grocery": ("figure4_grocery", "Shopping domain (the form of GOOD's figure 4)"),
    "robot": ("figure5_robot", "Robot domain (the form of GOOD's figure 5)"),
}
"""By domain, a figure's file name without its ending, and its title."""
ISOLATED_NAME = "figure3_inference"
ISOLATED_TITLE = "Isolated inference (the form of GOOD's figure 3)"
BARS = (
    ("machine_score", "low", "high", "machine-checked conditions", "tab:blue"),
    ("judge_score", "judge_low", "judge_high", "judge's outcome score", "tab:orange"),
)
WIDTH = 0.36
NOTE_CHARS = 135
NOTE_LINE = 0.024
"""A line of the note, as a share of the figure's height."""


def outcomes(
    path: Path,
    title: str,
    variants: Mapping[str, Mapping[str, Any]],
    sessions: Mapping[str, Sequence[float]],
    note: str,
) -> None:
    """Bars of the scores by variant, with 95 % intervals, and each session's machine-checked one
    as a dot.

    ``variants`` are the report's cells, ``sessions`` the machine-checked scores by variant;
    ``note`` stands under the figure. Raises GoodError where matplotlib is not installed or the
    file cannot be written.
    """
    pyplot = new_pyplot()
    figure, axes = pyplot.subplots(figsize=(6.4, 4.6), layout="constrained")
    names = list(variants)
    for number, (score, low, high, label, colour) in enumerate(BARS):
        there = [name for name in names if variants[name][score] is not None]
        if not there:
            continue
        at = [names.index(name) + (number - 0.5) * WIDTH for name in there]
        values = [100 * variants[name][score] for name in there]
        errors = [
            [v - 100 * variants[name][low] for v, name in zip(values, there, strict=True)],
            [100 * variants[name][high] - v for v, name in zip(values, there, strict=True)],
        ]
        axes.bar(at, values, WIDTH * 0.94, color=colour, alpha=0.75, label=label)
        axes.errorbar(at, values, errors, fmt="none", ecolor="0.2", capsize=3, linewidth=1)
    for number, name in enumerate(names):
        count = len(sessions[name])
        spread = [
            number - WIDTH / 2 + (i / max(count - 1, 1) - 0.5) * WIDTH * 0.6 for i in range(count)
        ]
        axes.plot(spread, [100 * s for s in sessions[name]], ".", color="0.25", markersize=4)
    axes.set_xticks(
        range(len(names)),
        [f"{textwrap.fill(VARIANTS[n].title, 16)}\nn = {variants[n]['n']}" for n in names],
    )
    axes.set(ylabel="score, %", title=title, ylim=(0, 105))
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    _finish(figure, path, note, pyplot)


def isolated(path: Path, results: Sequence[Mapping[str, Any]], note: str) -> None:
    """Accuracy by model and reading, without and with 'Unspecified' among the goals, with 95 %
    intervals. Raises GoodError as ``outcomes`` does."""
    pyplot = new_pyplot()
    figure, axes = pyplot.subplots(figsize=(6.4, 4.4), layout="constrained")
    bars = (
        ("accuracy", "without 'Unspecified'", "tab:green"),
        ("accuracy_unspecified", "with 'Unspecified'", "tab:purple"),
    )
    for number, (name, label, colour) in enumerate(bars):
        at = [i + (number - 0.5) * WIDTH for i in range(len(results))]
        values = [100 * r[name] for r in results]
        errors = [
            [v - 100 * r[f"{name}_low"] for v, r in zip(values, results, strict=True)],
            [100 * r[f"{name}_high"] - v for v, r in zip(values, results, strict=True)],
        ]
        axes.bar(at, values, WIDTH * 0.94, color=colour, alpha=0.75, label=label)
        axes.errorbar(at, values, errors, fmt="none", ecolor="0.2", capsize=3, linewidth=1)
    axes.set_xticks(
        range(len(results)),
        [f"{textwrap.fill(r['model'], 20)}\n{r['layout']}, n = {r['n']}" for r in results],
    )
    axes.set(ylabel="questions answered rightly, %", title=ISOLATED_TITLE, ylim=(0, 105))
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    _finish(figure, path, note, pyplot)


def _finish(figure: Any, path: Path, note: str, pyplot: Any) -> None:
    text = textwrap.fill(note, NOTE_CHARS)
    bottom = NOTE_LINE * (text.count("\n") + 2)
    figure.get_layout_engine().set(rect=(0, bottom, 1, 1 - bottom))
    figure.text(0.01, 0.008, text, fontsize=6.5, color="0.35", va="bottom")
    save(figure, path)
    pyplot.close(figure)
