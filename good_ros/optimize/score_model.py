"""The score model: what a prompt would score, before it is tried (PROMST, 3.2, Equation 3).

The paper fine-tunes Longformer-base; here features of the prompt go into ridge regression, which
takes a fraction of a second on a CPU. As there, five are fitted on random 4:1 splits, and what is
not tried must be below the best by more than their variance and their error on what they were not
fitted on.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from good_ros.core.errors import InputError

Floats = npt.NDArray[np.float64]
Embed = Callable[[Sequence[str]], Floats]
"""Texts to features, a row each."""
FEWEST_PAIRS = 5
NGRAM_FEATURES = 2048
TRAIN_SHARE = 0.8


@dataclass(frozen=True)
class Fit:
    """Mean absolute errors in units of the score, over the splits."""

    pairs: int
    train_error: float
    test_error: float


class ScoreModel:
    """An ensemble of ``rounds`` regressions; ``seed`` draws the splits."""

    def __init__(self, embed: Embed, rounds: int = 5, seed: int = 0, ridge: float = 0.1) -> None:
        self.embed = embed
        self.rounds = rounds
        self.seed = seed
        self.ridge = ridge
        self._models: list[Any] = []
        self._known: dict[str, Floats] = {}

    def fit(self, texts: Sequence[str], scores: Sequence[float]) -> Fit | None:
        """None, and nothing is fitted, where there are fewer than FEWEST_PAIRS pairs."""
        self._models = []
        if len(texts) < FEWEST_PAIRS:
            return None
        x, y = self._features(texts), np.asarray(scores, dtype=np.float64)
        train_errors, test_errors = [], []
        linear = _sklearn("linear_model")
        threads = importlib.import_module("threadpoolctl")
        # Small products on many threads cost more in waiting than they gain.
        with threads.threadpool_limits(1):
            for number in range(self.rounds):
                order = np.random.default_rng([self.seed, number]).permutation(len(texts))
                cut = min(len(texts) - 1, max(1, round(TRAIN_SHARE * len(texts))))
                train, test = order[:cut], order[cut:]
                model = linear.Ridge(alpha=self.ridge, solver="cholesky").fit(x[train], y[train])
                self._models.append(model)
                train_errors.append(np.abs(_predict(model, x[train]) - y[train]).mean())
                test_errors.append(np.abs(_predict(model, x[test]) - y[test]).mean())
        self.last = Fit(len(texts), float(np.mean(train_errors)), float(np.mean(test_errors)))
        return self.last

    def predict(self, text: str) -> tuple[float, float]:
        """(mean, variance) of the ensemble's predictions."""
        x = self._features([text])
        values = [float(_predict(model, x)[0]) for model in self._models]
        return float(np.mean(values)), float(np.var(values))

    def lets_through(self, text: str, best: float, hyper_m: float) -> tuple[bool, float]:
        """Whether a prompt is worth trying by Equation 3, and the mean that was predicted."""
        mean, variance = self.predict(text)
        return mean + variance + self.last.test_error >= hyper_m * best, mean

    def _features(self, texts: Sequence[str]) -> Floats:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= dict(zip(new, self.embed(new), strict=True))
        return np.stack([self._known[text] for text in texts])


def _predict(model: Any, x: Floats) -> Floats:
    result: Floats = model.predict(x)
    return result


def ngrams(texts: Sequence[str]) -> Floats:
    """Which words and pairs of words a text has, hashed: a row of zeros and ones."""
    text = _sklearn("feature_extraction.text")
    hashing = text.HashingVectorizer(
        n_features=NGRAM_FEATURES,
        ngram_range=(1, 2),
        token_pattern=r"\w+",
        alternate_sign=False,
        norm=None,
        binary=True,
    )
    rows: Floats = hashing.transform(texts).toarray().astype(np.float64)
    return rows


def _sklearn(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError as error:
        raise InputError(
            f"the score model needs scikit-learn ({error}): pip install 'good_ros[optimize]', or "
            "set score_model: null"
        ) from error


def make_embed(features: str) -> Embed:
    """What turns prompts into features. Raises InputError where it is not there."""
    if features == "ngrams":
        return ngrams
    from good_ros.optimize.embeddings import TransformersEmbedding, minilm_folder

    if features == "minilm":
        return TransformersEmbedding(minilm_folder())
    return TransformersEmbedding(features)


def resolve_features(features: str) -> str:
    """``auto`` as minilm where it is installed, else ngrams; others as they are."""
    if features != "auto":
        return features
    from good_ros.optimize.embeddings import minilm_folder

    try:
        minilm_folder()
    except InputError:
        return "ngrams"
    return "minilm"
