"""Intervals and agreement of scores, for few sessions as for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
SHARE = 0.95
LEAST_FOR_CORRELATION = 3


def bootstrap(values: Sequence[float], seed: int = 0) -> tuple[float, float] | None:
    """The percentile bootstrap's interval of the mean, of SHARE; the same for the same values.

    None for fewer than two values, of which resampling says nothing. Where all are equal it has
    no width, however few they are.
    """
    if len(values) < 2:
        return None
    drawn = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    means = np.asarray(values, dtype=np.float64)[drawn].mean(axis=1)
    tail = (1 - SHARE) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return float(low), float(high)


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties at their mean rank.

    None where it is not defined: fewer than LEAST_FOR_CORRELATION pairs, or one side all equal.
    Raises ValueError for sides of different length.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values cannot be paired with {len(b)}")
    if len(a) < LEAST_FOR_CORRELATION or len(set(a)) == 1 or len(set(b)) == 1:
        return None
    return float(np.corrcoef(_ranks(a), _ranks(b))[0, 1])


def _ranks(values: Sequence[float]) -> npt.NDArray[np.float64]:
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(last - (counts - 1) / 2)[position]
