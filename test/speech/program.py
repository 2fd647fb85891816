"""A stand-in for the espeak-ng program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Program:
    """``path`` is the program; it notes what it is called with before it goes on."""

    path: Path

    def said(self) -> list[str]:
        """The texts, in order."""
        return self._lines("said")

    def arguments(self) -> list[list[str]]:
        return [line.split("|") for line in self._lines("arguments")]

    def _lines(self, name: str) -> list[str]:
        file = self.path.parent / name
        return file.read_text().splitlines() if file.exists() else []


def stand_in_program(folder: Path, then: str = "exit 0") -> Program:
    """A shell script that notes its text and arguments and goes on with ``then``."""
    path = folder / "stand-in-espeak"
    path.write_text(
        f'#!/bin/sh\ncd "{folder}"\n(IFS="|"; echo "$*" >> arguments)\ncat >> said\n'
        f"echo >> said\n{then}\n"
    )
    path.chmod(0o755)
    return Program(path)
