"""The posterior over goals from their log-likelihoods (GOOD, III-A equation 1, III-C).

With log-likelihoods l_i(g) = log P(u_i | g, dialog before i) in nats, the posterior after turn
t is proportional to P(g) · exp(temper · Σ_i forgetting^(t-i) · l_i(g)), over the current set.
With both factors 1 this is Bayes' rule; turn by turn or all at once makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.goals import GoalSet

EVIDENCE = ("dialog", "last_turn")
Floats = Sequence[float] | npt.NDArray[np.float64]


def log_priors(weights: Sequence[float]) -> npt.NDArray[np.float64]:
    """Normalised log-priors in nats, shape (goals,), of weights above 0.

    Raises ValueError for no weight at all and for one that is 0, negative or not finite.
    """
    values = np.asarray(weights, dtype=np.float64)
    if not values.size:
        raise ValueError("a belief needs at least one goal: add one to the goal set")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError("every goal's prior must be a finite weight above 0")
    logs = np.log(values)
    return np.asarray(logs - _log_sum_exp(logs))


def evidence_of(
    per_turn: Floats,
    temper: float = 1.0,
    forgetting: float = 1.0,
    evidence: str = "dialog",
    weights: Floats = (),
) -> float:
    """What one goal's per-turn log-likelihoods (nats, oldest first) count in all.

    ``evidence`` is ``dialog`` for every turn, or ``last_turn`` for the reading in which each
    round is judged on its own (the paper's experiments). ``weights`` are factors of the turns,
    oldest first; none for 1. A turn whose factor is 0 counts
    nothing, even where it was impossible (-inf). Raises ValueError for another word.
    """
    if evidence not in EVIDENCE:
        raise ValueError(f"evidence is {evidence!r}; it must be one of {', '.join(EVIDENCE)}")
    values = np.asarray(per_turn, dtype=np.float64)
    if values.size == 0:
        return 0.0
    own = np.asarray(weights, dtype=np.float64) if len(weights) else np.ones_like(values)
    if evidence == "last_turn":
        values, own = values[-1:], own[-1:]
    ages = np.arange(values.size - 1, -1, -1)
    factors = temper * np.power(float(forgetting), ages) * own
    counted = factors > 0
    return float(np.sum(factors[counted] * values[counted]))


def posterior(
    log_prior: npt.NDArray[np.float64], log_evidence: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Probabilities, shape (goals,), that sum to 1.

    An impossible utterance (-inf) under some goals rules those out; where it is impossible
    under every goal, nothing was learnt and the prior stands. NaN and +inf are no
    log-probabilities and count as -inf.
    """
    evidence = np.where(np.isfinite(log_evidence), log_evidence, -np.inf)
    if not np.isfinite(evidence).any():
        evidence = np.zeros_like(evidence)
    joint = log_prior + evidence
    probabilities = np.exp(joint - _log_sum_exp(joint))
    return np.asarray(probabilities / probabilities.sum())


def entropy(probabilities: npt.NDArray[np.float64]) -> float:
    """Entropy in nats; 0 log 0 counts as 0."""
    positive = probabilities[probabilities > 0]
    return float(max(0.0, -np.sum(positive * np.log(positive))))


def make_belief(
    goals: GoalSet,
    turn: int,
    log_likelihoods: Mapping[str, Sequence[float]],
    *,
    temper: float = 1.0,
    forgetting: float = 1.0,
    evidence: str = "dialog",
    weights: Sequence[float] = (),
    model: str = "",
    seconds: float = 0.0,
    tokens_scored: int = 0,
    tokens_reused: int = 0,
) -> Belief:
    """The belief over ``goals`` after ``turn``; ``log_likelihoods`` holds by goal id the
    log-likelihood of each utterance in nats, oldest first.

    ``weights`` are as of ``evidence_of``. An utterance that is impossible (not finite) under
    every goal says nothing about them and counts nothing. Most likely first; equals are ordered
    by id. It is settled where the goals answer the turn.
    """
    prior = log_priors([goal.prior for goal in goals.goals])
    rows = np.array([log_likelihoods[goal.id] for goal in goals.goals], dtype=np.float64)
    possible = np.isfinite(rows).any(axis=0)
    factors = np.where(possible, weights if len(weights) else 1.0, 0.0)
    counted = np.array([evidence_of(row, temper, forgetting, evidence, factors) for row in rows])
    probabilities = posterior(prior, counted)
    hypotheses = [
        Hypothesis(
            goal, float(p), float(np.sum(row)), float(lp), float(row[-1]) if row.size else 0.0
        )
        for goal, row, p, lp in zip(goals.goals, rows, probabilities, prior, strict=True)
    ]
    hypotheses.sort(key=lambda h: (-h.probability, h.goal.id))
    return Belief(
        session_id=goals.session_id,
        turn=turn,
        goals_version=goals.version,
        settled=goals.turn == turn,
        hypotheses=tuple(hypotheses),
        entropy=entropy(probabilities),
        model=model,
        seconds=seconds,
        tokens_scored=tokens_scored,
        tokens_reused=tokens_reused,
        speaker_id=goals.speaker_id,
    )


def _log_sum_exp(values: npt.NDArray[np.float64]) -> float:
    top = float(np.max(values))
    return top + float(np.log(np.sum(np.exp(values - top))))
