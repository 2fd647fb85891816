"""Scoring on a GGUF model in this process, through llama.cpp."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from good_ros.inference.joining import split_join
from good_ros.inference.layout import DEFAULT_LAYOUT, Layout
from good_ros.inference.llama_cpp_session import (
    GoalFirstSession,
    GoalLastSession,
    log_probability,
)
from good_ros.inference.proof import prove
from good_ros.inference.scorer import DEFAULT_CACHE_MIB, Score, ScoringSession
from good_ros.language.llama_runtime import BatchToken, LlamaRuntime


class LlamaCppScorer:
    """Log-probabilities of given text from a GGUF model.

    ``cache_mib``: keys and values that a session holds at most, in MiB.
    """

    def __init__(
        self,
        runtime: LlamaRuntime,
        layout: Layout = DEFAULT_LAYOUT,
        cache_mib: float = DEFAULT_CACHE_MIB,
    ) -> None:
        self.runtime = runtime
        self.layout = layout
        self.model_name = runtime.model_name
        self.max_cells = int(cache_mib * 2**20 / runtime.cell_bytes)

    def close(self) -> None:
        self.runtime.close()

    def session(self) -> ScoringSession:
        if self.layout is Layout.GOAL_FIRST:
            return GoalFirstSession(self.runtime, self.max_cells)
        return GoalLastSession(self.runtime, self.max_cells)

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        tokenized = [
            split_join(context, continuation, self.runtime.tokenize, self.runtime.beginning)
            for context in contexts
        ]
        longest = max((len(tokens) for tokens, _ in tokenized), default=0)
        if not longest:
            return []
        holder = self.runtime.context(longest + 8)
        scores: dict[int, Score] = {}
        try:
            order = sorted(range(len(contexts)), key=lambda i: -len(tokenized[i][0]))
            for i in order:
                tokens, start = tokenized[i]
                holder.forget(0)
                batch = [
                    BatchToken(token, p, 0, logits=start - 1 <= p < len(tokens) - 1)
                    for p, token in enumerate(tokens)
                ]
                values = [
                    log_probability(row, tokens[index + 1]) for index, row in holder.read(batch)
                ]
                scores[i] = Score(float(np.sum(values)), tuple(values))
        finally:
            holder.close()
        return [scores[i] for i in range(len(contexts))]

    def self_test(self) -> None:
        """Cached and uncached are equal to the last bit where measured (AVX2): a dialog is
        always read in the same pieces. Elsewhere the proof's tolerance holds."""
        prove(self, lambda text: len(self.runtime.tokenize(text)))
