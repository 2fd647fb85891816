"""Figures of the experiments, as PNG files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from good_ros.core.errors import GoodError
from good_ros.experiments.measures import Quality


def reliability(path: Path, results: Mapping[str, Quality], title: str) -> None:
    """How often the likeliest goal was the true one, against how likely it was said to be.

    The area of a point tells how many beliefs it stands for. Raises GoodError where matplotlib
    is not installed or the file cannot be written.
    """
    pyplot = new_pyplot()
    figure, axes = pyplot.subplots(figsize=(4.6, 4.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, label="perfectly calibrated")
    for name, result in results.items():
        axes.plot(
            [b.confidence for b in result.bins],
            [b.accuracy for b in result.bins],
            linewidth=1,
            label=f"{name} (error {result.ece:.3f})",
        )
        axes.scatter(
            [b.confidence for b in result.bins],
            [b.accuracy for b in result.bins],
            s=[12 * b.count for b in result.bins],
            alpha=0.6,
        )
    axes.set(xlabel="probability of the likeliest goal", ylabel="share that was true", title=title)
    axes.set_xlim(0, 1.05)
    axes.set_ylim(-0.05, 1.05)
    axes.legend(loc="upper left", fontsize=8)
    save(figure, path)
    pyplot.close(figure)


def turn_times(
    path: Path, turns: Sequence[int], seconds: Mapping[str, Sequence[float]], title: str
) -> None:
    """Seconds of each turn, a line for each way of scoring, on a logarithmic scale.

    Raises GoodError where matplotlib is not installed or the file cannot be written.
    """
    pyplot = new_pyplot()
    figure, axes = pyplot.subplots(figsize=(5.2, 3.6), layout="constrained")
    for name, values in seconds.items():
        axes.plot(turns, values, marker="o", markersize=3, label=name)
    axes.set(xlabel="turn", ylabel="seconds", title=title, yscale="log")
    axes.legend(fontsize=8)
    save(figure, path)
    pyplot.close(figure)


def new_pyplot() -> Any:
    """Matplotlib's pyplot, drawing to files. Raises GoodError where it is not installed."""
    try:
        import matplotlib
    except ImportError as error:
        raise GoodError(
            f"figures need matplotlib ({error}): pip install 'good_ros[plot]'"
        ) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, path: Path) -> None:
    """Write a figure. Raises GoodError where it cannot be written."""
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise GoodError(f"the figure cannot be written to {path}: {error}") from error
