"""The documentation: written pages are up to date, and the checker of links and commands finds
what it is there to find."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_interfaces_are_as_in_their_files():
    written = script("write_interfaces")
    assert written.PATH.read_text() == written.text(), "make docs-interfaces"


def test_links_and_commands_of_all_pages():
    assert script("check_docs").main() == 0


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("make demo", ""),
        ("make tea", "no target tea"),
        ("good demo --profile put_away_food", ""),
        ("good demo --colour red", "unrecognized"),
        ("good brew", "invalid choice"),
        ("good eval replay --data FILE --world household", ""),
        ("good eval replay --date FILE", "no option --date"),
        ("good report SESSION", ""),
        ("good reports SESSION", "no subcommand reports"),
        ("good watch|record|replay", ""),
        ("good watch|recall", "no subcommand recall"),
    ],
)
def test_commands_are_checked(words, wrong):
    found = script("check_docs").problem(words.split())
    assert (wrong in found) if wrong else not found


def test_broken_links_are_found(tmp_path, monkeypatch):
    docs = script("check_docs")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    (tmp_path / "there.md").write_text("x")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#part) [b](gone.md) ![c](https://example.org/x.png) [d](#here)")
    assert list(docs.broken_links(page)) == ["page.md: gone.md does not exist"]
