"""From a ``model`` parameter to a generator."""

from __future__ import annotations

from good_ros.language.generator import Generator


def is_url(model: str) -> bool:
    """True for the base URL of a server, false for a name or a path."""
    return model.startswith(("http://", "https://"))


def make_generator(model: str, served_model: str = "") -> Generator:
    """A generator for ``model``: a catalogue name, a path to a GGUF file, or a server's URL.

    A model that another part of this process holds is shared, not loaded again.
    Raises ModelError where it is missing, damaged or unreachable.
    """
    if is_url(model):
        from good_ros.language.openai_generator import OpenAIGenerator

        return OpenAIGenerator(model, served_model)
    from good_ros.language.llama_generator import LlamaGenerator
    from good_ros.language.llama_runtime import load_runtime
    from good_ros.language.models import resolve

    return LlamaGenerator(load_runtime(resolve(model)))
