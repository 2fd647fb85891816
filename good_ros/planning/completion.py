"""Whether the task is completed: the person's words, the end action and the goal's own
conditions together (GOOD, III-E2). None of them alone is enough, least of all the model's word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from good_ros.language.acts import asks
from good_ros.language.wording import plain

_NO_MORE = re.compile(
    r"\b(that s|that is|thats) (all|everything|it)\b|\bnothing (else|more)\b"
    r"|\ball done\b|\b(everything|all) is (fine|done|good|right|in place)\b|\bno more\b"
    r"|\bwe are done\b|\bi am happy with\b"
)
_AGAINST = re.compile(r"\b(not|\w*n t|never|until|when|if|once|before|unless|but|except)\b")


_HOLD = re.compile(r"\b(wait|stop|don t|do not|not yet|hold on|later|nothing)\b")


def holds_back(utterance: str) -> bool:
    """Whether a person asks for something to be left undone, so that nothing is to be added to
    what was planned."""
    return bool(_HOLD.search(plain(utterance)))


def is_satisfied(utterance: str) -> bool:
    """Whether a person says that nothing more is wanted; a question or a 'but' never does."""
    said = plain(utterance)
    return not asks(utterance) and bool(_NO_MORE.search(said)) and not _AGAINST.search(said)


def is_completed(satisfied: bool, end_action: bool, conditions: Sequence[tuple[str, bool]]) -> bool:
    """``satisfied``: the person says so; ``end_action``: the plan is to end; ``conditions``:
    those of the likeliest goal, and whether each is true. Where none are stated, the end action
    stands for them."""
    return satisfied and (all(true for _, true in conditions) if conditions else end_action)
