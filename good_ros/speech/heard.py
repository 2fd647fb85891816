"""What was heard, whichever front end heard it."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNKNOWN = -1.0
"""The confidence of a front end that gives none; the value is that of ``Utterance.msg``."""

_NOISE = re.compile(r"[\[(*♪][^\])*♪]*[\])*♪]")
"""What recognisers write for sounds that are no words: [BLANK_AUDIO], (music), *sighs*."""


@dataclass(frozen=True)
class Heard:
    """A person's words as a front end gives them; the fields are those of ``Utterance.msg``."""

    text: str
    confidence: float = UNKNOWN
    locale: str = ""
    is_final: bool = True
    utterance_id: str = ""
    speaker_id: str = ""


def words_of(text: str) -> str:
    """``text`` without what stands for sounds, in single spaces; empty where no word is left."""
    text = " ".join(_NOISE.sub(" ", text).split())
    return text if any(character.isalnum() for character in text) else ""
