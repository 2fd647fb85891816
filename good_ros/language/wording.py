"""What two texts have in common, and what no text may hold."""

from __future__ import annotations

import unicodedata


def plain(text: str) -> str:
    """The words alone, in lower case and any script, to find texts that say the same."""
    kept = (
        character if unicodedata.category(character)[0] in "LMN" else " "
        for character in unicodedata.normalize("NFKC", text).casefold()
    )
    return " ".join("".join(kept).split())


def control_character(text: str) -> str:
    """The first control character or lone surrogate as ``U+001B``; empty where there is none.

    Not those that Python's Unicode tables do not know: a phone's newest emoji is one.
    """
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs"):
            return f"U+{ord(character):04X}"
    return ""


def without_controls(text: str) -> str:
    """``text`` with a space for each control character and lone surrogate: what a model wrote is
    shown in terminals, which would obey them."""
    return "".join(" " if control_character(character) else character for character in text)
