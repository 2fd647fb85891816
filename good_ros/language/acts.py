"""What a few words do to a conversation, beside what they say about the goal.

'Never mind', 'that is wrong' or 'yes, do it' steer what is being done; read as an answer they
would only be noise to the belief. The phrases are a data file (``phrases.yaml``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path

import yaml

from good_ros.language.wording import plain

FILE = Path(__file__).parent / "phrases.yaml"
CHANGED_MIND = 0.2
"""How much what was said before counts once a person has said that they changed their mind."""

REMEMBERED = 4096
"""Utterances whose reading is kept: all of a session are read again each turn."""


class Act(Enum):
    """What an utterance does that says nothing else."""

    STOP = "stop"
    NEVER_MIND = "never_mind"
    WRONG = "wrong"
    YES = "yes"
    NO = "no"
    NONE = ""


def act_of(utterance: str) -> Act:
    """What the whole utterance does, courtesy left aside; NONE where it says anything more."""
    if asks(utterance):
        return Act.NONE
    said = _bare(utterance)
    for act in (Act.STOP, Act.NEVER_MIND, Act.WRONG, Act.YES, Act.NO):
        if said in _phrases(act.value):
            return act
    # 'No, that is wrong' and 'no, never mind' are not a mere no.
    head, _, rest = said.partition(" ")
    if head == "no" and rest in _phrases(Act.WRONG.value) | _phrases(Act.NEVER_MIND.value):
        return Act.WRONG if rest in _phrases(Act.WRONG.value) else Act.NEVER_MIND
    return Act.NONE


@lru_cache(maxsize=REMEMBERED)
def changes_mind(utterance: str) -> bool:
    """Whether a person says that what they said before holds no longer."""
    return _has(utterance, "change")


def answers_earlier(utterance: str) -> bool:
    """Whether a person says that they answer a question before the one that stands."""
    return _has(utterance, "earlier")


@lru_cache(maxsize=REMEMBERED)
def takes_back(utterance: str) -> bool:
    """Whether the last sentence of an utterance takes back what it said before."""
    sentences = sentences_of(utterance)
    return len(sentences) > 1 and act_of(sentences[-1]) in (Act.NEVER_MIND, Act.WRONG)


def asks(text: str) -> bool:
    """Whether a text has a question mark, of any script."""
    return any(mark in text for mark in QUESTION_MARKS)


QUESTION_MARKS = "?？؟፧⁇⁈՞"
ENDINGS = ".!;。！।۔…"


def sentences_of(text: str) -> list[str]:
    """The sentences of a text with their end marks, those without a word left out."""
    sentences, begun = [], 0
    for index, character in enumerate(text):
        ends = character in ENDINGS or character in QUESTION_MARKS
        goes_on = index + 1 < len(text) and text[index + 1] in ENDINGS + QUESTION_MARKS
        if ends and not goes_on:
            sentences.append(text[begun : index + 1])
            begun = index + 1
    sentences.append(text[begun:])
    return [sentence.strip() for sentence in sentences if plain(sentence)]


def evidence_weights(
    utterances: Sequence[str], changed_mind: float = CHANGED_MIND
) -> tuple[float, ...]:
    """How much each utterance counts as evidence, 0 to 1, oldest first.

    What was taken back counts nothing; what was said before a change of mind counts
    ``changed_mind`` of itself, for each such change.
    """
    weights = []
    factor = 1.0
    for utterance in reversed(utterances):
        taken_back = takes_back(utterance)
        weights.append(0.0 if taken_back else factor)
        if not taken_back and changes_mind(utterance):
            factor *= changed_mind
    return tuple(reversed(weights))


@cache
def _data() -> dict[str, list[str]]:
    data = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return {key: [str(phrase) for phrase in phrases] for key, phrases in data.items()}


@cache
def _phrases(kind: str) -> frozenset[str]:
    return frozenset(_written_out(plain(phrase)) for phrase in _data()[kind])


def _has(utterance: str, kind: str) -> bool:
    said = f" {_written_out(plain(utterance))} "
    return any(f" {phrase} " in said for phrase in _phrases(kind))


def _bare(utterance: str) -> str:
    """The plain words without courtesy; courtesy alone stays, since it may be all that is said."""
    words = _written_out(plain(utterance)).split()
    courtesy = set(_data()["courtesy"])
    kept = [word for word in words if word not in courtesy]
    bare = " ".join(kept)
    whole = " ".join(words)
    known = any(whole in _phrases(act.value) for act in Act if act is not Act.NONE)
    return whole if known else bare


def _written_out(words: str) -> str:
    """'that s' and 'don t' as 'that is' and 'do not'."""
    out = f" {words} "
    for short, long in ((" that s ", " that is "), (" it s ", " it is "), (" don t ", " do not "),
                        (" isn t ", " is not "), (" thats ", " that is "),
                        (" dont ", " do not ")):  # fmt: skip
        out = out.replace(short, long)
    return out.strip()
