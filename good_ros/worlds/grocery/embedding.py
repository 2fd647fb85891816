"""Search by the similarity of embeddings, with a small sentence encoder (GOOD, IV-B3).

The encoder is all-MiniLM-L6-v2 (Apache-2.0, 384 dimensions), whose weights a package on the
Python package index carries; it is computed by transformers. The package's own code is not run.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from good_ros.core.cache import cache_folder
from good_ros.core.errors import WorldError
from good_ros.worlds.grocery.inventory import Inventory
from good_ros.worlds.grocery.search import EMBEDDING, LexicalSearch, texts

PACKAGE = "all_minilm_l6_v2"
ARCHIVE = "model.zip"
WEIGHTS = "model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", WEIGHTS)
INSTALL = "scripts/setup.sh embeddings"
BATCH = 64
LEXICAL_SHARE = 0.4
"""Of a score, what comes from the words: the same word in term and item is never by chance."""


def missing() -> str:
    """What is not installed that embeddings need, in words; empty where all is there."""
    lacking = [n for n in ("torch", "transformers", PACKAGE) if importlib.util.find_spec(n) is None]
    return f"{', '.join(lacking)} not installed: {INSTALL}" if lacking else ""


class EmbeddingSearch:
    """Cosine similarity of the term's and the items' embeddings, with a share of the words'.

    Raises WorldError where something is missing or the weights are not the known ones.
    """

    name = EMBEDDING

    def __init__(self, inventory: Inventory) -> None:
        self._lexical = LexicalSearch(inventory)
        self._encoder = _encoder()
        self._vectors = self._encoder.embed(list(texts(list(inventory.items.values()))))

    def scores(self, term: str) -> np.ndarray:
        if not term.strip():
            return np.zeros(len(self._vectors))
        similar = self._vectors @ self._encoder.embed([term])[0]
        # Squared, so that one word of several counts for little: 'soft drink' is no soft sugar.
        by_words = np.clip(self._lexical.scores(term), 0.0, 1.5) ** 2
        return (1 - LEXICAL_SHARE) * np.clip(similar, 0.0, 1.0) + LEXICAL_SHARE * by_words


class _Encoder:
    """Sentences to unit vectors: the mean of the last layer's tokens."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model: Any = AutoModel.from_pretrained(folder, local_files_only=True).eval()

    def embed(self, sentences: Sequence[str]) -> np.ndarray:
        """(n, 384) for n sentences, each of length 1."""
        import torch

        parts = []
        for start in range(0, len(sentences), BATCH):
            batch = self._tokenizer(
                list(sentences[start : start + BATCH]),
                padding=True,
                truncation=True,
                max_length=128,
                return_tensors="pt",
            )
            with torch.inference_mode():
                states = self._model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1)
            mean = (states * mask).sum(1) / mask.sum(1)
            parts.append(torch.nn.functional.normalize(mean, dim=1).numpy())
        return np.concatenate(parts)


@cache
def _encoder() -> _Encoder:
    if problem := missing():
        raise WorldError(f"search by embeddings: {problem}")
    return _Encoder(_folder())


def _folder() -> Path:
    """The encoder's files, unpacked into the cache once and checked. Raises WorldError."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    folder = cache_folder() / f"{PACKAGE}-{SHA256[:12]}"
    if folder.is_dir():
        return folder
    part = folder.with_name(f"{folder.name}.{os.getpid()}")
    try:
        part.mkdir(parents=True)
        with zipfile.ZipFile(Path(spec.origin).parent / ARCHIVE) as archive:
            for name in FILES:
                with archive.open(name) as packed, (part / name).open("wb") as file:
                    shutil.copyfileobj(packed, file)
        digest = hashlib.sha256((part / WEIGHTS).read_bytes()).hexdigest()
        if digest != SHA256:
            raise WorldError(f"the weights in {PACKAGE} are not the known ones: {digest}")
        part.rename(folder)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        if folder.is_dir():
            return folder
        raise WorldError(f"the encoder in {PACKAGE} cannot be unpacked: {error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder
