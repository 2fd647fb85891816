"""Writing files so that a reader, or a crash, never sees half of one."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in place of what was there, whole or not at all.

    The folder has to be there. Raises OSError.
    """
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
