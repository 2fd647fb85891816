"""A run on disk: a folder in which everything is kept as it happens, and nothing is deleted.

``run.yaml``         what the run was told, with what was chosen for it
``instances.json``   the instances, the held-back ones among them
``trials.jsonl``     every trial: prompt, instance, rounds, feedback, progress, tokens
``calls.jsonl``      every call of the model that writes prompts: messages, reply, tokens
``prompts.jsonl``    every prompt that was scored: parents, level, score, how it came about
``prompts/ID.txt``   the same prompts as plain text
``models.jsonl``     every fit of the score model: pairs, errors, what it let through
``levels.jsonl``     the best and the beam after each level
``result.json``      at the end

A search that is started again does the same steps again and takes from here what it did before, so
that it goes on at any point with the same result: trials and calls are looked up by the digest of
what goes into them.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.core.files import write_whole
from good_ros.optimize.trial import Trial

STREAMS = ("trials", "calls", "prompts", "models", "levels")
Fields = Mapping[str, Any]


def key_of(*parts: object) -> str:
    """A digest of what goes into a trial or a call."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class RunFolder:
    """Opens a run's folder, new or not. Raises InputError where it holds something else, a run
    with another configuration, or cannot be written."""

    def __init__(self, path: Path, settings: Fields) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._records: dict[str, dict[str, dict[str, Any]]] = {}
        try:
            (path / "prompts").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path} cannot be made: {error}") from error
        about = path / "run.yaml"
        if about.exists():
            if read_settings(path) != dict(settings):
                raise InputError(
                    f"{path} holds a run with other settings: name another folder, or start the "
                    "run from the file that it was started from"
                )
        elif any(entry.name != "prompts" for entry in path.iterdir()):
            raise InputError(f"{path} holds something else than a run: name another folder")
        else:
            write_whole(self.path / "run.yaml", yaml.safe_dump(dict(settings), sort_keys=False))
        for stream in STREAMS:
            self._records[stream] = {r["key"]: r for r in read_lines(path, stream, repair=True)}
        self._files = {s: (path / f"{s}.jsonl").open("a", encoding="utf-8") for s in STREAMS}

    def get(self, stream: str, key: str) -> dict[str, Any] | None:
        """What was recorded under a key; None where nothing was."""
        return self._records[stream].get(key)

    def put(self, stream: str, key: str, fields: Fields) -> None:
        """Record something once; what is there already stays as it is."""
        with self._lock:
            if key in self._records[stream]:
                return
            line = {"key": key, **fields}
            self._records[stream][key] = line
            file = self._files[stream]
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()

    def trial(self, key: str) -> Trial | None:
        found = self.get("trials", key)
        return Trial.from_json(found) if found is not None else None

    def put_trial(self, key: str, prompt: str, trial: Trial) -> None:
        self.put("trials", key, {"prompt": key_of(prompt), **trial.as_json()})

    def put_prompt(self, name: str, text: str, fields: Fields) -> None:
        path = self.path / "prompts" / f"{name}.txt"
        if not path.exists():
            path.write_text(text + "\n", encoding="utf-8")
        self.put("prompts", name, {**fields, "text": text})

    def write(self, name: str, value: Any) -> None:
        """A JSON file of the folder, whole or not at all."""
        write_whole(self.path / name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def read(self, name: str) -> Any:
        """A JSON file of the folder; None where it is not there."""
        path = self.path / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def read_settings(path: Path) -> dict[str, Any]:
    """What a run was told. Raises InputError where the folder is no run."""
    try:
        data = yaml.safe_load((path / "run.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"{path} is not the folder of a run: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"{path / 'run.yaml'} is damaged")
    return data


def read_lines(path: Path, stream: str, repair: bool = False) -> list[dict[str, Any]]:
    """The records of a stream, in order; a last line that was cut off is passed over, and with
    ``repair`` removed. Raises InputError where a line within is damaged."""
    file = path / f"{stream}.jsonl"
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            if not line.endswith("\n"):
                raise ValueError("cut off")
            records.append(json.loads(line))
        except ValueError as error:
            if number < len(lines):
                raise InputError(f"{file}, line {number}: not JSON: {error}") from error
            if repair:
                with file.open("r+b") as opened:
                    opened.truncate(sum(len(kept.encode()) for kept in lines[:-1]))
    return records
