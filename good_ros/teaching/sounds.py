"""How alike two words sound and are spelt, for what a speech recogniser mishears.

ProVox's prompt names two such errors: 'bag' heard as 'back', 'bin' heard as 'in'.
"""

from __future__ import annotations

from functools import lru_cache

import jellyfish
from rapidfuzz.distance import Levenshtein

DROPPED = 0.85
"""Alikeness of words of which one lacks the other's first sound: 'in' and 'bin'."""
_VOICED = str.maketrans({"B": "P", "D": "T", "G": "K", "J": "X", "V": "F", "Z": "S", "0": "T"})


@lru_cache(maxsize=4096)
def sound(word: str) -> str:
    """The consonants as they sound (metaphone), voiced and unvoiced ones alike: 'bag' and 'back'
    are the same."""
    return str(jellyfish.metaphone(word)).translate(_VOICED).replace(" ", "")


@lru_cache(maxsize=65536)
def likeness(heard: str, known: str) -> float:
    """From 0 to 1, the mean of how alike the two sound and are spelt; spaces count for nothing."""
    heard, known = heard.replace(" ", ""), known.replace(" ", "")
    if heard == known:
        return 1.0
    if not heard or not known:
        return 0.0
    longer, shorter = (heard, known) if len(heard) > len(known) else (known, heard)
    spelt = Levenshtein.normalized_similarity(heard, known)
    sounds = Levenshtein.normalized_similarity(sound(heard), sound(known))
    alike = (spelt + sounds) / 2
    if longer[1:] == shorter and len(shorter) > 1:
        alike = max(alike, DROPPED)
    return float(alike)
