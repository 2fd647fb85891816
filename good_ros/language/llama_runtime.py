"""One loaded GGUF model a process, on llama.cpp's C interface.

Generators and scorers each take a context of their own on the same weights, so that neither
disturbs what the other has cached. Calls into llama.cpp are made under one lock: a second
call at the same time would only share the same cores.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from good_ros.core.errors import ModelCancelled, ModelError
from good_ros.language.chat import chat_tokens, plain_template
from good_ros.language.generator import Message

CHUNK_TOKENS = 128
"""Tokens a call into llama.cpp reads at most: what a cancelled job still waits for."""

_registry: dict[Path, LlamaRuntime] = {}
_registry_lock = threading.Lock()
_log_callback: Any = None


def load_runtime(path: Path) -> LlamaRuntime:
    """The model of a GGUF file, loaded once a process; each caller closes it once.

    Raises ModelError where llama.cpp is not installed or the file cannot be loaded.
    """
    path = path.resolve()
    with _registry_lock:
        runtime = _registry.get(path)
        if runtime is None:
            runtime = LlamaRuntime(path)
            _registry[path] = runtime
        runtime.users += 1
        return runtime


def _library() -> Any:
    try:
        import llama_cpp
    except ImportError as error:
        raise ModelError(
            f"llama-cpp-python is not installed ({error}): pip install 'good_ros[llama]'"
        ) from error
    global _log_callback
    if _log_callback is None:
        # llama.cpp writes hundreds of lines to standard error; errors come back as codes. This
        # does nothing in C, since a Ctrl-C that came while Python did nothing would be lost.
        _log_callback = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, llama_cpp.llama_log_callback)
        llama_cpp.llama_log_set(_log_callback, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
    return llama_cpp


class LlamaRuntime:
    """The weights, the vocabulary and the chat template of one model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.model_name = path.stem
        self.users = 0
        self.lock = threading.Lock()
        self.threads = len(os.sched_getaffinity(0))
        self.lib = _library()
        parameters = self.lib.llama_model_default_params()
        self.model = self.lib.llama_model_load_from_file(str(path).encode(), parameters)
        if not self.model:
            raise ModelError(f"{path} is no GGUF file that llama.cpp can load: pull it again")
        self.vocab = self.lib.llama_model_get_vocab(self.model)
        self.vocabulary_size = int(self.lib.llama_vocab_n_tokens(self.vocab))
        self.template = self.lib.llama_model_chat_template(self.model, None)
        self.trained_context = int(self.lib.llama_model_n_ctx_train(self.model))
        heads = int(self.lib.llama_model_n_head_kv(self.model))
        width = int(self.lib.llama_model_n_embd(self.model)) // int(
            self.lib.llama_model_n_head(self.model)
        )
        layers = int(self.lib.llama_model_n_layer(self.model))
        self.cell_bytes = 2 * 2 * layers * heads * width
        """Bytes of a token's keys and values, which llama.cpp keeps in 16 bits."""
        self.beginning: list[int] = []
        """The token that every text begins with, for models that were trained so."""
        if self.lib.llama_vocab_get_add_bos(self.vocab):
            self.beginning = [int(self.lib.llama_vocab_bos(self.vocab))]

    def close(self) -> None:
        """Give the model back; the weights go with the last user or context."""
        with _registry_lock:
            self.users -= 1
            if self.users == 0:
                _registry.pop(self.path, None)
                self.lib.llama_model_free(self.model)

    def hold(self) -> None:
        """Keep the weights until one more ``close``."""
        with _registry_lock:
            self.users += 1

    def tokenize(self, text: str, special: bool = False) -> list[int]:
        """Tokens of ``text``; markers such as an end of turn are read as such only where
        ``special``, so that text from people never is one."""
        data = text.encode()
        size = len(data) + 8
        buffer = (self.lib.llama_token * size)()
        count = self.lib.llama_tokenize(self.vocab, data, len(data), buffer, size, False, special)
        if count < 0:
            raise ModelError(f"a text of {len(data)} bytes could not be tokenized")
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        """The bytes of a token; a character may be spread over several tokens."""
        buffer = ctypes.create_string_buffer(256)
        count = self.lib.llama_token_to_piece(self.vocab, token, buffer, 256, 0, False)
        return buffer.raw[: max(count, 0)]

    def ends_generation(self, token: int) -> bool:
        return bool(self.lib.llama_vocab_is_eog(self.vocab, token))

    def chat_tokens(
        self, messages: Sequence[Message], add_assistant: bool
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Tokens of a chat by the model's template, and each message's content as a span
        (start, end) in them.

        A model without a template reads plain text, see ``chat.plain_template``.
        """
        return chat_tokens(
            messages,
            add_assistant,
            self._apply_template if self.template else plain_template,
            self.tokenize,
            self.beginning,
            self.path.name,
        )

    def _apply_template(self, messages: Sequence[Message], add_assistant: bool) -> str:
        array = (self.lib.llama_chat_message * len(messages))()
        for slot, message in zip(array, messages, strict=True):
            slot.role = message.role.encode()
            slot.content = message.content.encode()
        size = 4096
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = self.lib.llama_chat_apply_template(
                self.template, array, len(messages), add_assistant, buffer, size
            )
            if count < 0:
                raise ModelError(f"llama.cpp does not know the chat template of {self.path.name}")
            if count <= size:
                return buffer.raw[:count].decode()
            size = count

    def context(self, room: int, sequences: int = 1) -> LlamaContext:
        """A new context with room for ``room`` tokens in each of ``sequences`` sequences."""
        return LlamaContext(self, room, sequences)


@dataclass(frozen=True)
class BatchToken:
    """A token to read at a position of a sequence; ``logits`` where its output is wanted."""

    token: int
    position: int
    sequence: int
    logits: bool = False


class LlamaContext:
    """Keys and values of some sequences; not thread-safe."""

    def __init__(self, runtime: LlamaRuntime, room: int, sequences: int) -> None:
        self.runtime = runtime
        lib = runtime.lib
        parameters = lib.llama_context_default_params()
        parameters.n_ctx = room * sequences
        parameters.n_batch = CHUNK_TOKENS
        parameters.n_ubatch = CHUNK_TOKENS
        parameters.n_seq_max = sequences
        parameters.n_threads = runtime.threads
        parameters.n_threads_batch = runtime.threads
        # Cells apart: attention then costs, and rounds by, what one's own sequence holds.
        parameters.kv_unified = False
        parameters.no_perf = True
        self.handle = lib.llama_init_from_model(runtime.model, parameters)
        if not self.handle:
            raise ModelError(
                f"no context of {room * sequences} tokens could be made for {runtime.path.name}: "
                "memory may be short"
            )
        runtime.hold()
        self.room = room
        self.sequences = sequences
        self._memory = lib.llama_get_memory(self.handle)
        self._batch = lib.llama_batch_init(CHUNK_TOKENS, 0, 1)

    def close(self) -> None:
        if self.handle:
            self.runtime.lib.llama_batch_free(self._batch)
            self.runtime.lib.llama_free(self.handle)
            self.handle = None
            self.runtime.close()

    def forget(self, sequence: int, start: int = 0) -> None:
        """Drop what is kept of a sequence from a position on."""
        with self.runtime.lock:
            self.runtime.lib.llama_memory_seq_rm(self._memory, sequence, start, -1)

    def copy(self, source: int, target: int, end: int) -> None:
        """Make ``target`` the first ``end`` positions of ``source``, in place of what it was."""
        with self.runtime.lock:
            # llama.cpp copies whole sequences only.
            self.runtime.lib.llama_memory_seq_cp(self._memory, source, target, -1, -1)
            self.runtime.lib.llama_memory_seq_rm(self._memory, target, end, -1)

    def read(
        self, tokens: Sequence[BatchToken], cancel: threading.Event | None = None
    ) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        """Read tokens; yields (index, logits) for those whose output is wanted.

        ``logits`` is a view of shape (vocabulary,) that holds until the next step. Raises
        ModelCancelled between chunks once ``cancel`` is set; the tokens yielded or passed
        until then have been read, which ``read_count`` tells.
        """
        self.read_count = 0
        lib = self.runtime.lib
        batch = self._batch
        for start in range(0, len(tokens), CHUNK_TOKENS):
            if cancel is not None and cancel.is_set():
                raise ModelCancelled("the model call was cancelled")
            chunk = tokens[start : start + CHUNK_TOKENS]
            batch.n_tokens = len(chunk)
            for i, item in enumerate(chunk):
                batch.token[i] = item.token
                batch.pos[i] = item.position
                batch.n_seq_id[i] = 1
                batch.seq_id[i][0] = item.sequence
                batch.logits[i] = item.logits
            with self.runtime.lock:
                code = lib.llama_decode(self.handle, batch)
            if code != 0:
                raise ModelError(f"llama.cpp could not read {len(chunk)} tokens (code {code})")
            self.read_count = start + len(chunk)
            for i, item in enumerate(chunk):
                if item.logits:
                    row = lib.llama_get_logits_ith(self.handle, i)
                    yield start + i, np.ctypeslib.as_array(row, (self.runtime.vocabulary_size,))
