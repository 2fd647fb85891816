"""Checks README.md and docs/: every relative link leads somewhere, and every `good` and `make`
command in a code block is one that there is, with options that there are."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from good_ros.cli import _parser

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"`((?:\.venv/bin/)?(?:good|make) [^`]+)`")
PLACEHOLDER = re.compile(r"^[A-Z_]+$|…|\.\.\.|\||<|\[")
"""What a reader fills in."""


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def broken_links(page: Path) -> Iterator[str]:
    """Relative links of a page that lead nowhere."""
    for target in LINK.findall(page.read_text()):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        path = page.parent / target.partition("#")[0]
        if not path.exists():
            yield f"{page.relative_to(ROOT)}: {target} does not exist"


def commands(page: Path) -> Iterator[list[str]]:
    """The `good` and `make` commands of a page, as words."""
    text = page.read_text()
    blocks = BLOCK.findall(text)
    found = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found += INLINE.findall(text)
    for line in found:
        for part in re.split(r"&&|;", line):
            with contextlib.suppress(ValueError):
                words = shlex.split(part, comments=True)
                while words and re.match(r"^\w+=", words[0]):
                    words.pop(0)
                if words[:4] == ["ros2", "run", "good_ros", "good"]:
                    words = words[3:]
                if words and words[0].removeprefix(".venv/bin/") in ("good", "make"):
                    yield [words[0].removeprefix(".venv/bin/"), *words[1:]]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def problem(words: list[str]) -> str:
    """What is wrong with a command; empty where nothing is."""
    if words[0] == "make":
        unknown = [w for w in words[1:] if "=" not in w and w not in targets()]
        return f"there is no target {unknown[0]}" if unknown else ""
    arguments = words[1:]
    parser = _parser()
    if any(PLACEHOLDER.search(w) for w in arguments):
        # Only that the subcommand and the options are known can be told.
        return unknown_option(parser, arguments)
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            parser.parse_args(arguments)
    except SystemExit as ended:
        if ended.code not in (0, None):
            lines = errors.getvalue().strip().splitlines()
            said = lines[-1] if lines else "cannot be parsed"
            # A command that is only named is not complete.
            return "" if "required" in said else said
    return ""


def unknown_option(parser: argparse.ArgumentParser, arguments: list[str]) -> str:
    """The first subcommand or option of ``arguments`` that the parser does not have."""
    for word in arguments:
        subcommands = next(
            (a for a in parser._actions if isinstance(a, argparse._SubParsersAction)), None
        )
        if subcommands is not None and not word.startswith("-"):
            for name in word.split("|"):
                if name not in subcommands.choices:
                    return f"there is no subcommand {name}"
            parser = subcommands.choices[word.split("|")[0]]
        elif word.startswith("--") and word.partition("=")[0] not in parser._option_string_actions:
            return f"there is no option {word}"
    return ""


def main() -> int:
    found = []
    for page in pages():
        found += broken_links(page)
        found += [
            f"{page.relative_to(ROOT)}: `{' '.join(words)}`: {what}"
            for words in commands(page)
            if (what := problem(words))
        ]
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
