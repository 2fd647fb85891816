"""Results so far, a JSON line each: a run that was cut off goes on from them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from good_ros.core.errors import InputError

Result = TypeVar("Result")


def progress_file(given: str) -> Path | None:
    """The file of an option --progress; None where it is empty. Raises InputError where it cannot
    be written."""
    path = Path(given).expanduser() if given else None
    if path and not os.access(path.absolute().parent, os.W_OK):
        raise InputError(f"--progress {path}: its folder cannot be written")
    return path


def append(path: Path, result: Any) -> None:
    """Add a result, which is a dataclass."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def read(path: Path, make: Callable[[Mapping[str, Any]], Result]) -> list[Result]:
    """What ``make`` makes of each line; a last one that was cut off is taken away.

    Raises InputError where a line is something else: ``make`` raises TypeError or KeyError then.
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    results = []
    for number, line in enumerate(lines, start=1):
        try:
            results.append(make(json.loads(line)))
        except (ValueError, TypeError, KeyError) as error:
            if number == len(lines) and not line.endswith("\n"):
                path.write_text("".join(lines[:-1]), encoding="utf-8")
                break
            raise InputError(f"{path}, line {number} is no result: {error}") from error
    return results
