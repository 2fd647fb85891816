"""A transformers model that reads several texts at once, packed, on keys and values of ours.

The texts of all goals are laid end to end in one row, so that every linear layer is one product
over all new tokens and nothing is padded. Attention alone is done text by text, by a function
registered with transformers, which also keeps the keys and values.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from good_ros.core.errors import CannotScore, ModelCancelled, ModelError
from good_ros.language.chat import chat_tokens, plain_template
from good_ros.language.generator import Message
from good_ros.language.transformers_store import require_transformers, resolve_for_transformers

ATTENTION = "good_ros_packed"
PACK_TOKENS = 1024
"""Tokens of a forward pass at most, unless one text has more: bounds what its layers take."""
PACK_OUTPUTS = 256
"""Positions of a pass at most that are projected on the vocabulary."""
QUERY_ROWS = 128
"""Query positions a product in attention, which bounds the scores it holds."""
NOT_SUPPORTED = ("softcap", "s_aux", "position_bias")
"""What attention may be asked for that the packed one does not do."""

_pack = threading.local()


class KeyValues:
    """Keys and values of one text, all layers; grows by doubling.

    Each layer holds two tensors of shape (key-value heads, capacity, head size).
    """

    def __init__(self) -> None:
        self.length = 0
        self._layers: dict[int, tuple[Any, Any]] = {}

    @property
    def nbytes(self) -> int:
        return sum(t.nbytes for pair in self._layers.values() for t in pair)

    def layer(self, index: int, length: int) -> tuple[Any, Any]:
        """The first ``length`` keys and values of a layer, shape (heads, length, head size)."""
        keys, values = self._layers[index]
        return keys[:, :length], values[:, :length]

    def extend(self, index: int, keys: Any, values: Any) -> tuple[Any, Any]:
        """Write new ones behind the first ``length`` of a layer; all of them, old and new.

        ``length`` itself is raised once a whole pass is through, see ``LoadedModel.read``.
        """
        end = self.length + keys.shape[1]
        held = self._layers.get(index)
        if held is None or held[0].shape[1] < end:
            held = self._grown(index, keys, end)
        for buffer, new in zip(held, (keys, values), strict=True):
            buffer[:, self.length : end] = new
        return held[0][:, :end], held[1][:, :end]

    def _grown(self, index: int, like: Any, end: int) -> tuple[Any, Any]:
        held = self._layers.get(index)
        capacity = max(end + 32, end * 5 // 4)
        grown = tuple(like.new_empty((like.shape[0], capacity, like.shape[2])) for _ in range(2))
        if held is not None:
            for old, new in zip(held, grown, strict=True):
                new[:, : self.length] = old[:, : self.length]
        self._layers[index] = (grown[0], grown[1])
        return self._layers[index]

    def copy(self, length: int) -> KeyValues:
        """Another one with the first ``length`` positions."""
        result = KeyValues()
        for index, (keys, values) in self._layers.items():
            result.extend(index, keys[:, :length], values[:, :length])
        result.length = length
        return result


@dataclass
class Text:
    """A text to read: ``tokens`` follow the first ``past_length`` positions of ``past``.

    ``wanted`` are the indices in ``tokens``, rising and above 0, of those whose log-probability
    is asked for. With ``keep`` the past, which must be as long as ``past_length``, grows by the
    tokens; else it stays as it is.
    """

    tokens: Sequence[int]
    wanted: Sequence[int] = ()
    past: KeyValues | None = None
    past_length: int = 0
    keep: bool = False


class LoadedModel:
    """The weights and the tokenizer of one model. Not thread-safe.

    Raises ModelError where the model is missing or cannot be loaded.
    """

    def __init__(self, model: str, device: str = "cpu", dtype: str = "float32") -> None:
        transformers, torch = require_transformers()
        self.torch = torch
        self.name = resolve_for_transformers(model)
        self.model_name = self.name.rstrip("/").rpartition("/")[2].removesuffix(".transformers")
        _register(torch)
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(self.name)
            self.model = transformers.AutoModelForCausalLM.from_pretrained(
                self.name, dtype=getattr(torch, dtype), attn_implementation=ATTENTION
            ).to(device)
        except Exception as error:
            raise ModelError(
                f"transformers cannot load {model} ({_first_line(error)}): name a folder with "
                "safetensors and a tokenizer, or a name that `good model list` prints"
            ) from error
        self.model.eval()
        self.device = device
        self.room = int(getattr(self.model.config, "max_position_embeddings", 1 << 20))
        config = self.model.config
        if getattr(config, "final_logit_softcapping", None) or getattr(
            config, "attn_logit_softcapping", None
        ):
            raise CannotScore(
                f"{self.model_name} caps its attention's scores, which the transformers back end "
                "does not do: use it as a GGUF file with the llama_cpp back end"
            )
        self.beginning: list[int] = []
        if (start := self.tokenizer.bos_token_id) is not None and self.tokenizer.encode("a")[
            0
        ] == start:
            self.beginning = [start]

    def tokenize(self, text: str, special: bool = False) -> list[int]:
        """Tokens of ``text``; markers such as an end of turn are read as such only where
        ``special``."""
        tokens: list[int] = self.tokenizer.encode(
            text, add_special_tokens=False, split_special_tokens=not special
        )
        return tokens

    def chat_tokens(
        self, messages: Sequence[Message], add_assistant: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """As ``chat.chat_tokens``, with this model's template or as plain text."""
        return chat_tokens(
            messages,
            add_assistant,
            self._apply_template if self.tokenizer.chat_template else plain_template,
            self.tokenize,
            self.beginning,
            self.model_name,
        )

    def _apply_template(self, messages: Sequence[Message], add_assistant: bool) -> str:
        text: str = self.tokenizer.apply_chat_template(
            [{"role": m.role, "content": m.content} for m in messages],
            tokenize=False,
            add_generation_prompt=add_assistant,
        )
        return text

    def read(
        self, texts: Sequence[Text], cancel: threading.Event | None = None
    ) -> list[list[float]]:
        """For each text the log-probabilities (nats) of its wanted tokens.

        Raises ModelError for a text longer than the model was made for, and ModelCancelled
        between passes once ``cancel`` is set: texts not read by then kept their past.
        """
        for text in texts:
            if text.past_length + len(text.tokens) > self.room:
                raise ModelError(
                    f"the dialog has {text.past_length + len(text.tokens)} tokens, more than the "
                    f"{self.room} that {self.model_name} can hold: begin a new session with "
                    "reset_session"
                )
        results: list[list[float]] = []
        for pack in _packs(texts):
            if cancel is not None and cancel.is_set():
                raise ModelCancelled("the model call was cancelled")
            results += self._read_pack(pack)
        return results

    def _read_pack(self, texts: Sequence[Text]) -> list[list[float]]:
        torch = self.torch
        tokens = [token for text in texts for token in text.tokens]
        positions = [text.past_length + i for text in texts for i in range(len(text.tokens))]
        rows: list[int] = []
        targets: list[int] = []
        offset = 0
        for text in texts:
            rows += [offset + index - 1 for index in text.wanted]
            targets += [text.tokens[index] for index in text.wanted]
            offset += len(text.tokens)
        as_tensor = lambda values: torch.tensor([values], device=self.device)  # noqa: E731
        _pack.texts = texts
        try:
            with torch.inference_mode():
                hidden = self.model.base_model(
                    input_ids=as_tensor(tokens),
                    position_ids=as_tensor(positions),
                    use_cache=False,
                )[0][0]
                values: list[float] = []
                for begin in range(0, len(rows), PACK_OUTPUTS):
                    part = rows[begin : begin + PACK_OUTPUTS]
                    logits = self.model.get_output_embeddings()(hidden[part]).float()
                    wanted = as_tensor(targets[begin : begin + PACK_OUTPUTS])[0]
                    chosen = logits.gather(1, wanted[:, None])[:, 0]
                    values += (chosen - logits.logsumexp(1)).tolist()
        finally:
            _pack.texts = None
        for text in texts:
            if text.keep and text.past is not None:
                text.past.length += len(text.tokens)
        results = []
        for text in texts:
            results.append(values[: len(text.wanted)])
            values = values[len(text.wanted) :]
        return results


def _packs(texts: Sequence[Text]) -> list[list[Text]]:
    packs: list[list[Text]] = []
    size = 0
    for text in texts:
        if not packs or size + len(text.tokens) > PACK_TOKENS:
            packs.append([])
            size = 0
        packs[-1].append(text)
        size += len(text.tokens)
    return packs


_registered = threading.Event()


def _register(torch: Any) -> None:
    if _registered.is_set():
        return
    from transformers import AttentionInterface, AttentionMaskInterface

    def attend(
        module: Any,
        query: Any,
        key: Any,
        value: Any,
        attention_mask: Any,
        scaling: float | None = None,
        sliding_window: int | None = None,
        **others: Any,
    ) -> tuple[Any, None]:
        if asked := [name for name in NOT_SUPPORTED if others.get(name) is not None]:
            raise CannotScore(f"this model's attention needs {', '.join(asked)}: use llama_cpp")
        out = torch.empty_like(query[0].transpose(0, 1))
        offset = 0
        for text in _pack.texts:
            end = offset + len(text.tokens)
            new_keys, new_values = key[0, :, offset:end], value[0, :, offset:end]
            keys, values = _all_keys(torch, text, module.layer_idx, new_keys, new_values)
            out[offset:end] = _attend_text(
                torch, query[0, :, offset:end], keys, values, scaling, sliding_window
            )
            offset = end
        return out[None], None

    AttentionInterface.register(ATTENTION, attend)
    # The packed attention knows what each text may see; no mask is made.
    AttentionMaskInterface.register(ATTENTION, lambda *args, **kwargs: None)
    _registered.set()


def _all_keys(torch: Any, text: Text, layer: int, keys: Any, values: Any) -> tuple[Any, Any]:
    if text.past is not None and text.keep:
        return text.past.extend(layer, keys, values)
    if text.past is None or text.past_length == 0:
        return keys, values
    held = text.past.layer(layer, text.past_length)
    return torch.cat((held[0], keys), 1), torch.cat((held[1], values), 1)


def _attend_text(
    torch: Any, query: Any, keys: Any, values: Any, scaling: float | None, window: int | None
) -> Any:
    """Causal attention of one text: ``query`` (heads, new, size) on ``keys`` (key-value heads,
    all, size), of which the last ``new`` are its own. Returns (new, heads, size)."""
    heads, new, size = query.shape
    groups = keys.shape[0]
    past = keys.shape[1] - new
    parts = []
    for begin in range(0, new, QUERY_ROWS):
        rows = min(QUERY_ROWS, new - begin)
        seen = past + begin + rows
        # Heads that share keys are stacked as rows, so that each product is a large one.
        stacked = query[:, begin : begin + rows].reshape(groups, heads // groups * rows, size)
        place = torch.arange(past + begin, seen, device=query.device)[:, None]
        at = torch.arange(seen, device=query.device)[None]
        allowed = at <= place
        if window is not None:
            allowed &= place - at < window
        mask = allowed.repeat(heads // groups, 1)
        result = torch.nn.functional.scaled_dot_product_attention(
            stacked[None], keys[None, :, :seen], values[None, :, :seen], mask, scale=scaling
        )
        parts.append(result[0].reshape(heads, rows, size).transpose(0, 1))
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
