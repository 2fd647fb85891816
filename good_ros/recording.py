"""A session on disk: a folder of JSON lines, written as it happens, readable after a crash.

Files of a session's folder: ``session.json`` (what it ran with), ``transcript.jsonl`` and
``transcript_past.jsonl`` (the last turns, and blocks of those before: ``turns`` reads both),
``questions.jsonl``, ``goals.jsonl``, ``beliefs.jsonl``, ``plans.jsonl``, ``actions.jsonl``,
``status.jsonl`` and ``suggestions.jsonl``. Each line has ``time`` (seconds since the epoch) and
the fields of the message.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from good_ros.core.errors import InputError
from good_ros.core.json_values import finite
from good_ros.core.plan import Step

STREAMS = (
    *("transcript_past", "transcript", "questions", "goals", "beliefs", "status"),
    "suggestions",
)
"""Kinds that hold messages whole, as they were published."""
LATER = ("suggestions", "transcript_past")
"""Kinds that records of older versions have not."""
KINDS = (*STREAMS, "plans", "actions")
"""All; plans and actions are drawn from the status."""


def folder_name(session_id: str) -> str:
    """``session_id`` as a part of a folder's name: it comes from a message, and may be anything.

    An id that is no plain word is told from others by a digest.
    """
    plain = re.sub(r"[^A-Za-z0-9-]", "_", session_id)[:40]
    if plain == session_id and plain:
        return plain
    digest = hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()
    return f"{plain}-{digest[:12]}"


class SessionRecord:
    """Writes one session, or goes on with the one that is in the folder.

    ``about`` is what the session ran with; what an earlier record of it says stays. Raises
    OSError where the folder cannot be written.
    """

    def __init__(self, folder: Path, about: Mapping[str, Any]) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if not _is_object(folder / "session.json"):
            text = json.dumps(dict(about), indent=2) + "\n"
            (folder / "session.json").write_text(text, encoding="utf-8")
        self._files = {kind: _appended(folder / f"{kind}.jsonl") for kind in KINDS}

    def write(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append one line and hand it to the operating system at once."""
        line = json.dumps({"time": round(time.time(), 3), **finite(fields)}, ensure_ascii=False)
        file = self._files[kind]
        file.write(line + "\n")
        file.flush()

    def close(self) -> None:
        """Let go of the files; what could not be written, ``write`` has told of."""
        for file in self._files.values():
            with contextlib.suppress(OSError):
                file.close()


def _is_object(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
    except (OSError, ValueError):
        return False


def _appended(path: Path) -> TextIO:
    """The file, open for more lines. A last one that a crash cut short is taken off: what follows
    would make one damaged line with it."""
    file = path.open("ab+")
    if file.seekable() and (end := file.seek(0, os.SEEK_END)):
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        if whole < end:
            file.truncate(whole)
    return io.TextIOWrapper(file, encoding="utf-8")


def steps_done(folder: Path) -> list[Step]:
    """The steps that worked in a session, in order. Raises InputError as ``read``.

    An action is written again where it is undone, or known not to be: the last line counts.
    """
    fields = ("action", "object_id", "target_id", "label", "argument")
    return [
        Step(**{name: str(action["step"].get(name, "")) for name in fields})
        for action in actions_of(folder)
        if action.get("success")
    ]


def actions_of(folder: Path) -> list[dict[str, Any]]:
    """Every step of a session as it is known last, in order. Raises InputError as ``read``."""
    lines = {int(line["number"]): line for line in read(folder, "actions")}
    return [
        {name: value for name, value in lines[number].items() if name not in ("time", "number")}
        for number in sorted(lines)
    ]


def read(folder: Path, kind: str) -> list[dict[str, Any]]:
    """The lines of one kind; a last line that a crash cut short is left out.

    Raises InputError where the folder is no session or a line within is damaged.
    """
    if kind not in KINDS:
        raise InputError(f"no record of {kind!r} is kept; there are {', '.join(KINDS)}")
    path = folder / f"{kind}.jsonl"
    if kind in LATER and not path.exists() and (folder / "session.json").exists():
        return []
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{folder} is not a session's folder: {error}") from error
    return list(_parse(path, content))


def turns(folder: Path) -> list[dict[str, Any]]:
    """Every turn of a session as it was published last, in order. Raises InputError as ``read``."""
    lines = [*read(folder, "transcript_past"), *read(folder, "transcript")]
    found = {int(turn["turn"]): turn for line in lines for turn in line["turns"]}
    return [found[number] for number in sorted(found)]


def _parse(path: Path, content: bytes) -> Iterator[dict[str, Any]]:
    lines = content.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            yield json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise InputError(f"{path}, line {number}: not JSON: {error}") from error


def read_all(folder: Path, kinds: Sequence[str] = STREAMS) -> list[tuple[str, dict[str, Any]]]:
    """The messages of a session as (kind, line), in the order in which they were written.

    Raises InputError as ``read`` does.
    """
    lines = [(kind, line) for kind in kinds for line in read(folder, kind)]
    return sorted(lines, key=lambda item: float(item[1]["time"]))
