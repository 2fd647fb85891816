"""Writes docs/interfaces.md from msg/, srv/ and action/; with --check only compares."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATH = ROOT / "docs" / "interfaces.md"
HEAD = """# Interfaces

Written by `make docs-interfaces` from the files themselves.
"""
KINDS = (("msg", "Messages"), ("srv", "Services"), ("action", "Actions"))


def text() -> str:
    parts = [HEAD]
    for kind, title in KINDS:
        parts.append(f"\n## {title}\n")
        for path in sorted((ROOT / kind).glob(f"*.{kind}")):
            parts.append(f"\n### {path.stem}\n\n```\n{path.read_text().strip()}\n```\n")
    return "".join(parts)


def main() -> int:
    if "--check" in sys.argv:
        if PATH.read_text() == text():
            return 0
        print("docs/interfaces.md is out of date: make docs-interfaces", file=sys.stderr)
        return 1
    PATH.write_text(text())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
