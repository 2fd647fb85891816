"""What a turn of the belief costs, against reading everything again, in one run.

Two ways score the last utterance of the same dialog for the same goals, turn by turn and
interleaved: the incremental session, and a full recompute, which is lm-evaluation-harness'
``HFLM`` for transformers and llama.cpp's own for llama_cpp. A bare forward of the new tokens, in
the shape of goals by tokens, with nothing before them, is the floor.
"""

from __future__ import annotations

import gc
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from good_ros.core.errors import GoodError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.layout import Layout, reading
from good_ros.inference.scorer import Scorer

THINGS = tuple(
    "cup plate fork knife spoon bowl pan pot kettle towel sponge apple egg bread book newspaper "  # noqa: SIM905
    "laptop phone keys watch pen vase candle pillow blanket remote box basket lamp plant".split()
)
PLACES = tuple(
    "shelf drawer cabinet fridge sink table counter sofa desk dresser safe basket box bin".split()  # noqa: SIM905
)
QUESTIONS = (
    "What should I do with the {thing}?",
    "Where does the {thing} go?",
    "Is there anything about the {thing} that I should know?",
    "Shall I take care of the {thing} now?",
)
ANSWERS = (
    "Please put the {thing} on the {place}, next to the other one.",
    "The {thing} belongs in the {place}, I would say.",
    "I would like to have the {thing} in the {place} before dinner.",
    "No, leave the {thing} where it is, and clear the {place}.",
)
HFLM_BATCH = 4
"""Its logits are kept for every position of a batch: four chats of 700 tokens take 1.7 GB."""


@dataclass(frozen=True)
class Workload:
    """Goals and a dialog; made from a seed, the same on every machine."""

    goals: tuple[Goal, ...]
    dialog: tuple[tuple[str, str], ...]


def make_workload(goals: int, turns: int, seed: int) -> Workload:
    """``goals`` goals with 'Unspecified' among them, and a dialog of ``turns`` turns."""
    rng = random.Random(seed)
    pairs = [(thing, place) for thing in THINGS for place in PLACES]
    rng.shuffle(pairs)
    texts = [f"the {thing} put in the {place}" for thing, place in pairs[: goals - 1]]
    dialog = []
    for turn in range(turns):
        thing, place = rng.choice(pairs)
        question = QUESTIONS[turn % len(QUESTIONS)].format(thing=thing)
        answer = ANSWERS[turn % len(ANSWERS)].format(thing=thing, place=place)
        dialog.append((question, answer))
    named = [Goal(f"g{i}", text) for i, text in enumerate(texts, 1)]
    return Workload((unspecified_goal(), *named), tuple(dialog))


class Bench(Protocol):
    """A back end's ways of scoring the last utterance of a chat."""

    scorer: Scorer
    baseline: str
    """What the full recompute is called."""

    def recompute(self, chats: Sequence[tuple[list[int], int]]) -> list[float]:
        """The summed log-probability of each chat's tokens from an index on, nothing kept."""

    def bare_forward(self, chats: Sequence[tuple[list[int], int]]) -> None:
        """Read these tokens with nothing before them; outputs from an index on."""

    def chat(self, goal: Goal, dialog: Sequence[tuple[str, str]]) -> tuple[list[int], int]:
        """Tokens up to the end of the last utterance, and where that begins."""


@dataclass
class TurnCost:
    """Seconds of one turn by each way, and how many tokens were new."""

    turn: int
    seconds: dict[str, float]
    new_tokens: int
    largest_difference: float
    """Nats a token between the incremental scores and the recomputed ones."""


@dataclass
class BeliefCost:
    """The outcome of a run."""

    turns: list[TurnCost] = field(default_factory=list)

    def against(self, way: str) -> tuple[float, float]:
        """How many times as long as ours another way took: at the last turn, and in total."""
        ours = [turn.seconds["ours"] for turn in self.turns]
        other = [turn.seconds[way] for turn in self.turns]
        return other[-1] / ours[-1], sum(other) / sum(ours)

    def as_json(self, baseline: str) -> dict[str, Any]:
        last, total = self.against(baseline)
        ours = [turn.seconds["ours"] for turn in self.turns]
        early = next((t for t in self.turns if t.turn >= 2), self.turns[-1]).seconds["ours"]
        return {
            "baseline": baseline,
            "ratio_last_turn": last,
            "ratio_total": total,
            "ratio_to_bare_forward": 1 / self.against("bare_forward")[0],
            "turn_growth": ours[-1] / early,
            "max_abs_logprob_diff_per_token": max(t.largest_difference for t in self.turns),
            "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "turns": [t.turn for t in self.turns],
            "seconds": {way: [t.seconds[way] for t in self.turns] for way in self.turns[0].seconds},
        }


def run(bench: Bench, work: Workload, every: int = 1) -> Iterator[BeliefCost]:
    """The cost so far, each ``every`` turns and at the last one; other turns are not measured."""
    session: Any = bench.scorer.session()
    session.set_goals(work.goals)
    cost = BeliefCost()
    try:
        for turn in range(1, len(work.dialog) + 1):
            dialog = work.dialog[:turn]
            if turn % every and turn < len(work.dialog):
                session.append(*dialog[-1])
                session.log_likelihoods()
                continue
            chats = [bench.chat(goal, dialog) for goal in work.goals]
            seconds: dict[str, float] = {}
            gc.collect()
            scored = session.tokens_scored
            session.append(*dialog[-1])
            scores, seconds["ours"] = _timed(session.log_likelihoods)
            ours = [scores[goal.id][-1] for goal in work.goals]
            new = session.tokens_scored - scored
            size = max(new // len(chats), 1)
            tail = [
                (tokens[-size:], max(len(tokens[-size:]) - (len(tokens) - start), 1))
                for tokens, start in chats
            ]
            _, seconds["bare_forward"] = _timed(partial(bench.bare_forward, tail))
            again, seconds[bench.baseline] = _timed(partial(bench.recompute, chats))
            lengths = [len(tokens) - start for tokens, start in chats]
            difference = max(abs(a - b) / n for a, b, n in zip(ours, again, lengths, strict=True))
            cost.turns.append(TurnCost(turn, seconds, new, difference))
            yield cost
    finally:
        session.close()


def _timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    result = call()
    return result, time.perf_counter() - began


class TransformersBench:
    """transformers, and lm-evaluation-harness on the same weights."""

    baseline = "hflm"

    def __init__(self, model: str, layout: Layout) -> None:
        from good_ros.inference.transformers_scorer import TransformersScorer
        from good_ros.language.transformers_runtime import LoadedModel

        self.layout = layout
        self.model = LoadedModel(model)
        self.scorer: Scorer = TransformersScorer(self.model, layout)
        self.torch = self.model.torch
        self._plain = self._load_plain()
        self._harness = self._load_harness()

    def _load_plain(self) -> Any:
        """The same weights as transformers itself runs them."""
        from transformers import AutoModelForCausalLM

        plain = AutoModelForCausalLM.from_pretrained(
            self.model.name, dtype=self.torch.float32, attn_implementation="sdpa"
        )
        # One copy of the weights serves both.
        plain.load_state_dict(self.model.model.state_dict(), assign=True)
        return plain.eval()

    def chat(self, goal: Goal, dialog: Sequence[tuple[str, str]]) -> tuple[list[int], int]:
        tokens, spans = self.model.chat_tokens(reading(self.layout, goal, dialog), False)
        start, end = spans[-1]
        return tokens[:end], start

    def recompute(self, chats: Sequence[tuple[list[int], int]]) -> list[float]:
        # What ``loglikelihood`` calls once it has tokenized; its own tokenizer moves the line
        # break of a chat template from the context into the continuation.
        requests = [(("", str(i)), t[:start], t[start:]) for i, (t, start) in enumerate(chats)]
        answers = self._harness._loglikelihood_tokens(requests, disable_tqdm=True)
        return [value for value, _ in answers]

    def bare_forward(self, chats: Sequence[tuple[list[int], int]]) -> None:
        torch = self.torch
        with torch.inference_mode():
            ids = torch.tensor([tokens for tokens, _ in chats])
            hidden = self._plain.base_model(input_ids=ids, use_cache=False)[0]
            rows = [hidden[i, start - 1 : -1] for i, (_, start) in enumerate(chats)]
            self._plain.get_output_embeddings()(torch.cat(rows)).logsumexp(1)

    def _load_harness(self) -> Any:
        try:
            from lm_eval.models.huggingface import HFLM
        except ImportError as error:
            raise GoodError(
                f"the comparison needs lm-evaluation-harness ({error}): "
                "pip install 'good_ros[bench]'"
            ) from error
        return HFLM(
            pretrained=self._plain,
            tokenizer=self.model.tokenizer,
            batch_size=HFLM_BATCH,
            device="cpu",
            add_bos_token=False,
        )


class LlamaCppBench:
    """llama.cpp against its own full recompute."""

    baseline = "recompute"

    def __init__(self, model: str, layout: Layout) -> None:
        from good_ros.inference.llama_cpp_scorer import LlamaCppScorer
        from good_ros.language.llama_runtime import load_runtime
        from good_ros.language.models import resolve

        self.layout = layout
        self.runtime = load_runtime(resolve(model))
        self.scorer: Scorer = LlamaCppScorer(self.runtime, layout)
        self._context = self.runtime.context(4096)

    def chat(self, goal: Goal, dialog: Sequence[tuple[str, str]]) -> tuple[list[int], int]:
        tokens, spans = self.runtime.chat_tokens(reading(self.layout, goal, dialog), False)
        start, end = spans[-1]
        return tokens[:end], start

    def recompute(self, chats: Sequence[tuple[list[int], int]]) -> list[float]:
        from good_ros.inference.llama_cpp_session import log_probability
        from good_ros.language.llama_runtime import BatchToken

        results = []
        for tokens, start in chats:
            self._context.forget(0)
            batch = [
                BatchToken(token, p, 0, logits=start - 1 <= p < len(tokens) - 1)
                for p, token in enumerate(tokens)
            ]
            read = self._context.read(batch)
            results.append(sum(log_probability(row, tokens[i + 1]) for i, row in read))
        return results

    def bare_forward(self, chats: Sequence[tuple[list[int], int]]) -> None:
        self.recompute(chats)
