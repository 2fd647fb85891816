"""Which questions were spoken, kept on disk: a node that starts again does not repeat them."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from good_ros.core.files import write_whole

KEPT = 50


class SpokenLog:
    """The last KEPT keys; a file that cannot be read or written is done without."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys: list[str] = []
        try:
            stored = json.loads(path.read_text())
            if isinstance(stored, list):
                self._keys = [str(key) for key in stored]
        except (OSError, ValueError):
            pass

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, key: str) -> None:
        self._keys = [*self._keys, key][-KEPT:]
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, json.dumps(self._keys))
