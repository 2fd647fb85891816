"""From a node's parameters to a scorer."""

from __future__ import annotations

from pathlib import Path

from good_ros.core.errors import InputError
from good_ros.inference.layout import DEFAULT_LAYOUT, Layout
from good_ros.inference.pooling import GOAL_LAST_SHARE, PooledScorer
from good_ros.inference.scorer import DEFAULT_CACHE_MIB, Scorer
from good_ros.language.backends import is_url

AUTO = "auto"
BACKENDS = (AUTO, "llama_cpp", "transformers", "vllm")
DTYPES = ("float32", "bfloat16")


BOTH = "both"
LAYOUTS = (*(layout.value for layout in Layout), BOTH)


def backend_of(model: str) -> str:
    """The back end for a model: vLLM for a server's URL, transformers for a folder, else
    llama.cpp."""
    if is_url(model):
        return "vllm"
    return "transformers" if Path(model).expanduser().is_dir() else "llama_cpp"


def make_scorer(
    model: str,
    backend: str = AUTO,
    layout: Layout | str = DEFAULT_LAYOUT,
    *,
    cache_mib: float = DEFAULT_CACHE_MIB,
    device: str = "cpu",
    dtype: str = "float32",
    served_model: str = "",
    deadline_s: float = 300.0,
) -> Scorer:
    """A scorer for ``model``: a catalogue name, a path to a GGUF file, a folder or hub name for
    transformers, or the URL of a vLLM server. ``layout`` is one of LAYOUTS: BOTH pools the two.

    Raises CannotScore for a server without vLLM's end points: a chat end point gives
    log-probabilities of what it wrote itself only. Raises ModelError where the model is missing,
    damaged or unreachable, and InputError for an unknown back end.
    """
    if backend == AUTO:
        backend = backend_of(model)
    if layout == BOTH:
        parts = [
            make_scorer(
                model,
                backend,
                part,
                cache_mib=cache_mib / 2,
                device=device,
                dtype=dtype,
                served_model=served_model,
                deadline_s=deadline_s,
            )
            for part in (Layout.GOAL_LAST, Layout.GOAL_FIRST)
        ]
        return PooledScorer(parts, (GOAL_LAST_SHARE, 1 - GOAL_LAST_SHARE))
    layout = Layout(layout)
    if backend == "vllm":
        from good_ros.inference.vllm_scorer import VllmScorer
        from good_ros.language.vllm_server import VllmServer

        return VllmScorer(VllmServer(model, served_model, deadline_s), layout)
    if backend == "transformers":
        from good_ros.inference.transformers_scorer import TransformersScorer
        from good_ros.language.transformers_runtime import LoadedModel

        return TransformersScorer(LoadedModel(model, device, dtype), layout, cache_mib)
    if backend == "llama_cpp":
        from good_ros.inference.llama_cpp_scorer import LlamaCppScorer
        from good_ros.language.llama_runtime import load_runtime
        from good_ros.language.models import resolve

        return LlamaCppScorer(load_runtime(resolve(model)), layout, cache_mib)
    raise InputError(f"there is no back end {backend!r}; there are {', '.join(BACKENDS)}")
