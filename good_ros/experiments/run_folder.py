"""A run on disk: a folder that a killed run goes on from.

``experiment.json`` says what is run, by which command and commit; ``sessions`` and ``judgements``
hold a file of JSON lines for each session that is done. A file is written under another name as
its session goes on, and takes its own name once it is whole: what is there under its own name is
complete, and anything else is run anew.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.core.json_values import finite
from good_ros.experiments.spec import SessionKey, Spec

SESSIONS, JUDGEMENTS, FAILURES, ISOLATED = "sessions", "judgements", "failures", "isolated"
PART = ".part"


class RunFolder:
    """The folder of one experiment. Raises InputError where it cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.on_write: Callable[[], None] = lambda: None
        """Called after each record; for tests."""

    @contextmanager
    def begin(self, spec: Spec, command: str, commit: str) -> Iterator[None]:
        """Take the folder for a run of ``spec``; none other can until the block ends.

        Raises InputError where it holds another experiment, or another run has it now.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / "lock").open("w")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InputError(f"another run has {self.path}: wait for its end") from error
            self._claim(spec, command, commit)
            yield

    def _claim(self, spec: Spec, command: str, commit: str) -> None:
        wanted = json.loads(json.dumps(spec.as_json()))
        file = self.path / "experiment.json"
        about = {"experiment": wanted, "command": command, "commits": [commit]}
        if file.exists():
            about = self.about()
            if about["experiment"] != wanted:
                differs = [name for name in wanted if about["experiment"].get(name) != wanted[name]]
                raise InputError(
                    f"{self.path} holds another experiment ({', '.join(differs)} differ): name "
                    "another --folder"
                )
            if commit in about["commits"]:
                return
            about["commits"].append(commit)
        _write_whole(file, json.dumps(about, indent=2) + "\n")

    def about(self) -> dict[str, Any]:
        """What is run in the folder. Raises InputError where it is no run's."""
        try:
            about: dict[str, Any] = json.loads((self.path / "experiment.json").read_text())
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.path} is no folder of `good experiment run`: {error}"
            ) from error
        return about

    def has(self, kind: str, key: SessionKey) -> bool:
        """Whether a session, or its judgement, is done."""
        return self._file(kind, key.name).exists()

    def read(self, kind: str, key: SessionKey) -> list[dict[str, Any]]:
        """The records of a session, or of its judgement, that is done."""
        file = self._file(kind, key.name)
        try:
            return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError) as error:
            raise InputError(f"{file} cannot be read, remove it and run again: {error}") from error

    @contextmanager
    def writer(self, kind: str, key: SessionKey) -> Iterator[Callable[[Mapping[str, Any]], None]]:
        """Takes the records of a session one by one; they count once the block ends well."""
        file = self._file(kind, key.name)
        part = file.with_name(file.name + PART)
        try:
            file.parent.mkdir(exist_ok=True)
            stream = part.open("w", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{part} cannot be written: {error.strerror}") from error

        def write(record: Mapping[str, Any]) -> None:
            try:
                stream.write(json.dumps(finite(record), ensure_ascii=False) + "\n")
                stream.flush()
            except OSError as error:
                raise InputError(f"{part} cannot be written: {error.strerror}") from error
            self.on_write()

        with stream:
            yield write
            os.fsync(stream.fileno())
        part.replace(file)

    def has_failed(self, key: SessionKey) -> bool:
        """Whether the last try at a session failed."""
        return self._failure(key).exists()

    def keep_failure(self, key: SessionKey, reason: str) -> None:
        """Why a session could not be run; '' where it now was."""
        file = self._failure(key)
        if reason:
            file.parent.mkdir(exist_ok=True)
            _write_whole(file, f"{reason}\n")
        else:
            file.unlink(missing_ok=True)

    def _failure(self, key: SessionKey) -> Path:
        return self.path / FAILURES / f"{key.name}.txt"

    def keep_isolated(self, results: Sequence[Mapping[str, Any]]) -> None:
        """The results of the isolated inference experiment so far."""
        _write_whole(self.path / f"{ISOLATED}.json", json.dumps(list(results), indent=2) + "\n")

    def isolated(self) -> list[dict[str, Any]]:
        """What ``keep_isolated`` kept; [] where nothing was."""
        try:
            found: list[dict[str, Any]] = json.loads(
                (self.path / f"{ISOLATED}.json").read_text(encoding="utf-8")
            )
        except FileNotFoundError:
            return []
        return found

    def _file(self, kind: str, name: str) -> Path:
        return self.path / kind / f"{name}.jsonl"


def _write_whole(file: Path, text: str) -> None:
    part = file.with_name(file.name + PART)
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise InputError(f"{file} cannot be written: {error.strerror}") from error
