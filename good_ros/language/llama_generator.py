"""Text generation on a GGUF model in this process."""

from __future__ import annotations

import ctypes
import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from good_ros.core.errors import ModelCancelled, ModelError, ModelTimeout
from good_ros.language.generator import Message, Reply, Sampling
from good_ros.language.llama_runtime import BatchToken, LlamaContext, LlamaRuntime

PIECE_TOKENS = 64
"""Tokens of a prompt that are read in one call, after which a deadline is looked at."""
SHORTLIST = 64
"""Tokens that the grammar is asked about before it is asked about the whole vocabulary."""


class LlamaGenerator:
    """Writes replies by the model's chat template; JSON schemas are enforced by a grammar.

    The start of a prompt that equals the last one's is not read again, in whole pieces: llama.cpp
    rounds otherwise where a batch has another shape, and a reply must not depend on what came
    before. One for each node: calls wait for one another.
    """

    def __init__(self, runtime: LlamaRuntime, context_tokens: int = 4096) -> None:
        self.runtime = runtime
        self.model_name = runtime.model_name
        self.context_tokens = context_tokens
        self._context: LlamaContext | None = None
        self._kept: list[int] = []
        self._whole = 0
        """Tokens at the start of ``_kept`` that were read in whole pieces."""
        self._use = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Free what is held, once a reply that is being written has ended."""
        with self._use:
            if self._closed:
                return
            self._closed = True
            if self._context is not None:
                self._context.close()
                self._context = None
            self.runtime.close()

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        with self._use:
            if self._closed:
                raise ModelCancelled(f"{self.model_name} was closed")
            return self._generate(messages, sampling, json_schema, deadline_s, cancel)

    def _generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None,
        deadline_s: float | None,
        cancel: threading.Event | None,
    ) -> Reply:
        began = time.monotonic()
        tokens, _ = self.runtime.chat_tokens(messages, add_assistant=True)
        if len(tokens) + sampling.max_tokens > self.context_tokens:
            raise ModelError(
                f"the prompt has {len(tokens)} tokens, which leaves no room for "
                f"{sampling.max_tokens} more in a context of {self.context_tokens}"
            )

        def check() -> None:
            if cancel is not None and cancel.is_set():
                raise ModelCancelled("the model call was cancelled")
            if deadline_s is not None and time.monotonic() - began > deadline_s:
                raise ModelTimeout(
                    f"{self.model_name} did not finish within {deadline_s:g} s: "
                    "raise deadline_s or take a smaller model"
                )

        grammar = _Grammar(self.runtime, json_schema) if json_schema is not None else None
        random = np.random.default_rng(sampling.seed)
        written: list[bytes] = []
        finished = False
        try:
            logits = self._read_prompt(tokens, check)
            for _ in range(sampling.max_tokens):
                token = _choose(logits, sampling.temperature, random, grammar)
                if self.runtime.ends_generation(token):
                    finished = True
                    break
                if grammar is not None:
                    grammar.accept(token)
                written.append(self.runtime.piece(token))
                text = b"".join(written).decode(errors="ignore")
                if any(stop in text for stop in sampling.stop):
                    finished = True
                    break
                check()
                logits = self._read([token])
        finally:
            if grammar is not None:
                grammar.close()
        text = b"".join(written).decode(errors="replace")
        for stop in sampling.stop:
            text = text.partition(stop)[0]
        return Reply(text, len(tokens), len(written), time.monotonic() - began, finished)

    def _read_prompt(self, tokens: list[int], check: Any) -> npt.NDArray[np.float32]:
        if self._context is None:
            self._context = self.runtime.context(self.context_tokens)
        # The last token is always read again: its output is what the reply starts from.
        same = 0
        limit = min(len(tokens) - 1, len(self._kept), self._whole)
        while same < limit and tokens[same] == self._kept[same]:
            same += 1
        same -= same % PIECE_TOKENS
        self._context.forget(0, same)
        self._kept = self._kept[:same]
        self._whole = same
        for start in range(same, len(tokens), PIECE_TOKENS):
            check()
            logits = self._read(tokens[start : start + PIECE_TOKENS])
            self._whole = len(self._kept) - len(self._kept) % PIECE_TOKENS
        return logits

    def _read(self, tokens: Sequence[int]) -> npt.NDArray[np.float32]:
        assert self._context is not None
        start = len(self._kept)
        batch = [
            BatchToken(token, start + i, 0, logits=i == len(tokens) - 1)
            for i, token in enumerate(tokens)
        ]
        logits = np.empty(0, np.float32)
        for _, row in self._context.read(batch):
            logits = row.copy()
        self._kept += tokens
        return logits


def _choose(
    logits: npt.NDArray[np.float32],
    temperature: float,
    random: np.random.Generator,
    grammar: _Grammar | None,
) -> int:
    """The next token: the most likely one, or a draw.

    Adding Gumbel noise to logits / temperature makes the largest one a draw from the softmax,
    also among the tokens that a grammar leaves.
    """
    values = logits.astype(np.float64)
    if temperature > 0:
        values = values / temperature + random.gumbel(size=values.shape)
    best = int(np.argmax(values))
    if grammar is None or grammar.allows([best])[0]:
        return best
    shortlist = np.argpartition(-values, SHORTLIST)[:SHORTLIST]
    for candidates in (shortlist, np.arange(len(values))):
        allowed = grammar.allows(candidates)
        if allowed.any():
            left = np.asarray(candidates)[allowed]
            return int(left[np.argmax(values[left])])
    raise ModelError("the grammar allows no token")


class _Grammar:
    """llama.cpp's grammar, which says of each token whether it may come next."""

    def __init__(self, runtime: LlamaRuntime, schema: Mapping[str, Any]) -> None:
        from llama_cpp.llama_grammar import json_schema_to_gbnf

        self._lib = runtime.lib
        text = json_schema_to_gbnf(json.dumps(schema))
        self._sampler = self._lib.llama_sampler_init_grammar(runtime.vocab, text.encode(), b"root")
        if not self._sampler:
            raise ModelError("llama.cpp cannot turn the reply's JSON schema into a grammar")

    def allows(self, tokens: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        lib = self._lib
        data = (lib.llama_token_data * len(tokens))()
        view = np.frombuffer(
            data, dtype=[("id", np.int32), ("logit", np.float32), ("p", np.float32)]
        )
        view["id"] = tokens
        array = lib.llama_token_data_array(data, len(tokens), -1, False)
        lib.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return np.asarray(view["logit"] > -np.inf)

    def accept(self, token: int) -> None:
        self._lib.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        self._lib.llama_sampler_free(self._sampler)
