"""What an answer is expected to tell about the goal, in nats.

The gain of a question is the mutual information between the goal and the answer, estimated from
answers that were drawn under each of the likely goals:

    Σ_g w(g) · mean over answers a drawn under g of log( P(g | a) / P(g) )

with P(g | a) ∝ P(g) · P(a | g)^temper over the whole set and w(g) the probabilities of the goals
that answers were drawn under, made to sum to 1. It is what one expects the log-probability of the
true goal to grow by. An answer that would lead the belief astray counts against the question,
which a mere fall of the entropy would not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from good_ros.inference.posterior import log_priors, posterior


@dataclass(frozen=True)
class Draw:
    """An answer that a person with a goal might give."""

    goal_id: str
    answer: str


def expected_gain(
    probabilities: Mapping[str, float],
    draws: Sequence[Draw],
    log_likelihoods: Mapping[str, Mapping[str, float]],
    temper: float = 1.0,
) -> float:
    """The gain in nats; below 0 where the answers would mislead.

    ``probabilities`` are the belief's, by goal id; ``log_likelihoods`` give by goal id and answer
    log P(answer | goal, dialog, question) in nats, for every goal and every drawn answer. Raises
    ValueError where no answer was drawn.
    """
    if not draws:
        raise ValueError("no answer was drawn: the gain of a question without answers is unknown")
    ids = [goal_id for goal_id, p in probabilities.items() if p > 0]
    prior = log_priors([probabilities[goal_id] for goal_id in ids])
    gains: dict[str, list[float]] = {}
    for draw in draws:
        if draw.goal_id not in ids:
            continue
        evidence = temper * np.array([log_likelihoods[g][draw.answer] for g in ids])
        index = ids.index(draw.goal_id)
        after = float(posterior(prior, evidence)[index])
        gains.setdefault(draw.goal_id, []).append(np.log(max(after, 1e-12)) - prior[index])
    if not gains:
        return 0.0
    weights = np.array([probabilities[goal_id] for goal_id in gains])
    means = np.array([np.mean(values) for values in gains.values()])
    return float(np.sum(weights * means) / np.sum(weights))
