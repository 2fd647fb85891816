"""Checks README.md and docs/: every relative link leads somewhere, and every command in a code
block is one that there is, with options, launch arguments, types and files that there are; code
blocks of Python and YAML can be read. With --run, commands that need neither a model nor a person
are run.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from good_ros.cli import _parser
from good_ros.launch_arguments import FILES
from good_ros.node_names import EXTRA_NODES, NODES

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"```[a-z]*\n(.*?)```", re.DOTALL)
CODE = re.compile(r"```(python|yaml|json)\n(.*?)```", re.DOTALL)
INLINE = re.compile(r"`((?:\.venv/bin/)?(?:good|make|ros2) [^`]+)`")
PROGRAMS = ("good", "make", "ros2", "pip", "docker", "scripts")
RUN = (
    ("good", "model", "list"),
    ("good", "world", "show", "--"),
    ("good", "arm", "show", "--"),
    ("good", "bench", "fleet", "--"),
)
"""What is run, where a page has it without a placeholder; with an option, where it is more than
named."""
LONGEST_RUN = {"--turns": "8", "--robots": "1,2"}
"""Options that are made small for that."""
PLACEHOLDER = re.compile(r"^[A-Z_]+$|…|\.\.\.|\||<|\[")
"""What a reader fills in."""
LONGEST_S = 300


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


def unreadable(page: Path) -> Iterator[str]:
    """Code blocks that are not what they say."""
    for kind, text in CODE.findall(page.read_text()):
        try:
            if kind == "python":
                ast.parse(text)
            elif kind == "yaml":
                yaml.safe_load(text)
            else:
                json.loads(text)
        except (SyntaxError, yaml.YAMLError, ValueError) as error:
            yield f"{page.relative_to(ROOT)}: a block of {kind} cannot be read: {error}"


def commands(page: Path) -> Iterator[list[str]]:
    """The commands of a page, as words."""
    text = page.read_text()
    blocks = BLOCK.findall(text)
    found = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found += INLINE.findall(text)
    for line in found:
        for part in re.split(r"&&|(?<!['\"\w]);", line):
            with contextlib.suppress(ValueError):
                words = shlex.split(part, comments=True)
                while words and re.match(r"^\w+=", words[0]):
                    words.pop(0)
                if words[:4] == ["ros2", "run", "good_ros", "good"]:
                    words = words[3:]
                if not words:
                    continue
                program = words[0].removeprefix(".venv/bin/")
                if program.partition("/")[0] in PROGRAMS:
                    yield [program, *words[1:]]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def problem(words: list[str]) -> str:
    """What is wrong with a command; empty where nothing is."""
    if words[0] == "make":
        unknown = [w for w in words[1:] if "=" not in w and w not in targets()]
        return f"there is no target {unknown[0]}" if unknown else ""
    if words[0] == "ros2":
        return ros2_problem(words[1:])
    if words[0] != "good":
        return file_problem(words)
    arguments = words[1:]
    parser = _parser()
    filled_in = [w for w in arguments if PLACEHOLDER.search(w)]
    if filled_in and (what := unknown_option(parser, arguments)):
        return what
    if any(not re.fullmatch(r"[A-Z_]+", w) for w in filled_in):
        # Only that the subcommand and the options are known can be told.
        return ""
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            parser.parse_args(arguments)
    except SystemExit as ended:
        if ended.code not in (0, None):
            lines = errors.getvalue().strip().splitlines()
            said = lines[-1] if lines else "cannot be parsed"
            # A command that is only named is not complete, and a placeholder may be a number.
            passed_over = "required" in said or (filled_in and "invalid" in said)
            return "" if passed_over else said
    return ""


def ros2_problem(words: list[str]) -> str:
    """What is wrong with a `ros2` command, as far as this package is concerned."""
    if words[:2] == ["launch", "good_ros"] and len(words) > 2:
        name = words[2].removesuffix(".launch.py")
        if not (ROOT / "launch" / words[2]).is_file():
            return f"there is no launch file {words[2]}"
        taken = {argument.name: argument for argument in FILES[name]}
        for word in words[3:]:
            key, is_argument, value = word.partition(":=")
            if not is_argument:
                continue
            if key not in taken:
                return f"{words[2]} has no argument {key}"
            choices = taken[key].choices
            if not PLACEHOLDER.search(value) and choices and value not in choices:
                return f"{word} is none of {', '.join(choices)}"
        return ""
    if words[:2] == ["run", "good_ros"] and words[2:] and not PLACEHOLDER.search(words[2]):
        return "" if words[2] in (*NODES, *EXTRA_NODES) else f"there is no executable {words[2]}"
    for word in words:
        if match := re.fullmatch(r"good_ros/(msg|srv|action)/(\w+)", word):
            kind, name = match.groups()
            if not (ROOT / kind / f"{name}.{kind}").is_file():
                return f"there is no {kind} {name}"
        if word.startswith("{"):
            try:
                yaml.safe_load(word)
            except yaml.YAMLError as error:
                return f"{word} cannot be read: {error}"
    return ""


def file_problem(words: list[str]) -> str:
    """The first file or extra that a command names and that there is not."""
    candidates = [w for w in words if re.match(r"(docker|scripts|requirements|config)/", w)]
    for word in candidates:
        if not PLACEHOLDER.search(word) and not (ROOT / word).exists():
            return f"{word} does not exist"
    if words[0] == "pip":
        extras = set(re.findall(r'^        "(\w+)": \[', (ROOT / "setup.py").read_text(), re.M))
        for named in re.findall(r"good_ros\[([\w,]+)\]", " ".join(words)):
            if unknown := sorted(set(named.split(",")) - extras):
                return f"good_ros has no extra {unknown[0]}"
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


def runnable(words: list[str]) -> bool:
    named = any(" ".join(words).startswith(" ".join(start)) for start in RUN)
    return named and not any(PLACEHOLDER.search(w) or w.endswith(".csv") for w in words)


def failed(words: list[str]) -> str:
    """Runs a command in an empty folder; the last line that it says where it fails."""
    for option, value in LONGEST_RUN.items():
        if option in words:
            words = [
                *words[: words.index(option)],
                option,
                value,
                *words[words.index(option) + 2 :],
            ]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "good_ros.cli", *words[1:]],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
        )
    lines = (done.stderr or done.stdout).strip().splitlines()
    return "" if done.returncode == 0 else f"ended with {done.returncode}: {lines[-1:]}"


def main(arguments: Sequence[str] = ()) -> int:
    found = []
    run: dict[str, list[str]] = {}
    for page in pages():
        found += broken_links(page)
        found += unreadable(page)
        for words in commands(page):
            if what := problem(words):
                found.append(f"{page.relative_to(ROOT)}: `{' '.join(words)}`: {what}")
            elif runnable(words):
                run[" ".join(words)] = words
    for line, words in run.items() if "--run" in arguments else ():
        print(f"running `{line}`", file=sys.stderr)
        if what := failed(words):
            found.append(f"`{line}` {what}")
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
