"""Which state of the project made a result."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNKNOWN = "unknown"


def commit() -> str:
    """The checkout's commit, with ``+`` where files differ from it; ``unknown`` outside of one."""
    if not (ROOT / ".git").exists():
        return UNKNOWN
    head = _git("rev-parse", "--short=12", "HEAD")
    if not head:
        return UNKNOWN
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return f"{head}+" if changed else head


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
