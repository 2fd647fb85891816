"""How good a belief is: top-1, negative log-likelihood, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Beliefs whose highest probability lies in (low, high]."""

    low: float
    high: float
    count: int
    confidence: float
    """Mean of their highest probability."""
    accuracy: float
    """Share of them whose likeliest goal is the true one."""


@dataclass(frozen=True)
class Quality:
    """Of a number of beliefs, each with one true goal."""

    top1: float
    nll: float
    """Mean of -log P(true goal), in nats."""
    ece: float
    """Expected calibration error: mean over the bins of |confidence - accuracy|, by their size."""
    bins: tuple[Bin, ...]


def quality(beliefs: Sequence[Sequence[float]], true: Sequence[int]) -> Quality:
    """``beliefs`` are the goals' probabilities, ``true`` the index of the true one.

    Equals of the true goal count against it. Raises ValueError where there is no belief.
    """
    if not beliefs:
        raise ValueError("there is no belief to measure")
    hits, confidences, losses = [], [], []
    for probabilities, index in zip(beliefs, true, strict=True):
        p = np.asarray(probabilities, dtype=np.float64)
        others = np.delete(p, index)
        hits.append(not others.size or p[index] > others.max())
        confidences.append(p.max())
        losses.append(-np.log(max(p[index], 1e-300)))
    hit, confidence = np.array(hits, dtype=float), np.array(confidences)
    edges = np.linspace(0, 1, BINS + 1)
    bins = []
    for low, high in pairwise(edges):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            bins.append(
                Bin(
                    float(low),
                    float(high),
                    int(inside.sum()),
                    float(confidence[inside].mean()),
                    float(hit[inside].mean()),
                )
            )
    error = sum(b.count * abs(b.confidence - b.accuracy) for b in bins) / len(hits)
    return Quality(float(hit.mean()), float(np.mean(losses)), float(error), tuple(bins))
