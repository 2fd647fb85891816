"""From a ``model`` parameter to a scorer."""

from __future__ import annotations

from good_ros.core.errors import CannotScore
from good_ros.inference.scorer import Scorer
from good_ros.language.backends import is_url


def make_scorer(model: str) -> Scorer:
    """A scorer for ``model``: a catalogue name or a path to a GGUF file.

    Raises CannotScore for a server's URL: a chat end point gives log-probabilities of what
    it wrote itself only. Raises ModelError where the model is missing or damaged.
    """
    if is_url(model):
        raise CannotScore(
            f"{model} can generate but not score given text: set goal_belief's `model` to "
            "default, small or a .gguf file"
        )
    from good_ros.inference.llama_cpp_scorer import LlamaCppScorer
    from good_ros.language.llama_runtime import load_runtime
    from good_ros.language.models import resolve

    return LlamaCppScorer(load_runtime(resolve(model)))
