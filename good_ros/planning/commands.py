"""What a person asks for in so many words: the answer to 'what is to be done', where no plan has
to be made. Read by ``good_ros.teaching``; dealt with here and in ``planning.turn``."""

from __future__ import annotations

from dataclasses import dataclass

from good_ros.core.plan import Step
from good_ros.language.wording import plain

YES = frozenset({"yes", "yeah", "yep", "ok", "okay", "sure", "please do", "yes please", "do it"})
NO = frozenset({"no", "nope", "no thanks", "no thank you", "don t", "not now", "leave it"})


@dataclass(frozen=True)
class Command:
    """Steps that were asked for; ``words`` is how the robot says what it understood, ``names``
    by which words of an answer it is picked among several."""

    steps: tuple[Step, ...]
    words: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unclear:
    """Words that may mean one of several commands, or one that is not certain: it is asked."""

    question: str
    options: tuple[Command, ...] = ()


@dataclass(frozen=True)
class Unknown:
    """Words for something that the robot does not know: reported as new, nothing is done."""

    new: str
    message: str


Heard = Command | Unclear | Unknown


def is_yes(text: str) -> bool:
    """Whether a text is a plain yes."""
    return _said(text) in YES


def is_no(text: str) -> bool:
    """Whether a text is a plain no."""
    return _said(text) in NO


def choose(unclear: Unclear, answer: str) -> Command | None:
    """The option that an answer picks: a yes where there is one, or the name of one alone."""
    if is_yes(answer) and len(unclear.options) == 1:
        return unclear.options[0]
    if is_no(answer):
        return None
    said = f" {plain(answer)} "
    picked = [o for o in unclear.options if any(f" {plain(name)} " in said for name in o.names)]
    return picked[0] if len(picked) == 1 else None


def _said(text: str) -> str:
    return plain(text).removesuffix(" robot")
