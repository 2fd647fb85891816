"""Where the transformers back end finds its weights: a folder, a hub's name, or a GGUF file.

Reading a GGUF file takes transformers minutes, so it is done once and the result kept beside
the model store, as safetensors in float32.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from pathlib import Path
from typing import Any

from good_ros.core.errors import ModelError
from good_ros.language.models import CATALOGUE, models_folder, resolve

FORMAT = 1
"""Raised where the folders of an earlier version are no good any more."""


def resolve_for_transformers(model: str) -> str:
    """What ``from_pretrained`` takes for ``model``: a folder, or the name of a hub's repository.

    A catalogue name or a GGUF file is converted first, once. Raises ModelError where there is no
    such model.
    """
    path = Path(model).expanduser()
    if path.is_dir():
        return str(path)
    if model not in CATALOGUE and not path.exists() and _is_hub_name(model):
        return model
    return str(converted(resolve(model)))


def _is_hub_name(model: str) -> bool:
    owner, slash, name = model.partition("/")
    return bool(owner and slash and name) and "/" not in name and not name.endswith(".gguf")


def converted(gguf: Path) -> Path:
    """The folder with the weights of a GGUF file, made unless it is there.

    Raises ModelError where the file cannot be read or the folder not be written.
    """
    folder = models_folder() / f"{gguf.stem}.transformers"
    stat = gguf.stat()
    facts = {"format": FORMAT, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    try:
        models_folder().mkdir(parents=True, exist_ok=True)
        with folder.with_suffix(".transformers.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if _facts_of(folder) != facts:
                _convert(gguf, folder, facts)
    except OSError as error:
        raise ModelError(
            f"{gguf.name} cannot be kept for transformers in {models_folder()} "
            f"({error.strerror or error}): make room there, or name another cache by GOOD_ROS_CACHE"
        ) from error
    return folder


def _facts_of(folder: Path) -> dict[str, int] | None:
    with contextlib.suppress(OSError, ValueError):
        facts: dict[str, int] = json.loads((folder / "source.json").read_text())
        return facts
    return None


def _convert(gguf: Path, folder: Path, facts: dict[str, int]) -> None:
    transformers, torch = require_transformers()
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
        read = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    except OSError:
        raise
    except Exception as error:
        raise ModelError(
            f"transformers cannot read {gguf.name} ({_first_line(error)}): use the llama_cpp back "
            "end, or a folder of safetensors"
        ) from error
    # A model that was read from GGUF refuses to be saved; one with the same weights does not.
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    fresh = type(read)(config)
    fresh.load_state_dict(read.state_dict())
    fresh.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    (partial / "source.json").write_text(json.dumps(facts))
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def require_transformers() -> tuple[Any, Any]:
    """The modules transformers and torch. Raises ModelError where either is not installed."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ModelError(
            f"the transformers back end is not installed ({error}): "
            "pip install 'good_ros[transformers]'"
        ) from error
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    return transformers, torch


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
