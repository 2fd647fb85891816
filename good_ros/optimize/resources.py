"""Data files of this package."""

from pathlib import Path

PROMPTS = Path(__file__).parent / "prompts"
"""The prompts of the methods (``good_ros.language.prompts``)."""


def data_file(name: str) -> str:
    """The text of a file beside this module."""
    return (Path(__file__).parent / "data" / name).read_text(encoding="utf-8")
