"""Where a continuation begins in the tokens of a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from good_ros.core.errors import CannotScore


def split_join(
    context: str,
    continuation: str,
    tokenize: Callable[[str], list[int]],
    beginning: Sequence[int] = (),
) -> tuple[list[int], int]:
    """Tokens of context + continuation, and the index of the continuation's first one.

    The whole is encoded at once; the continuation begins with the first token that the context
    alone does not have, so that a token across the join counts as its own. ``beginning`` are the
    tokens that every text begins with. Raises CannotScore where either text is empty, or where
    nothing would be left to condition on.
    """
    if not context or not continuation:
        raise CannotScore("a context and a continuation of at least one character are needed")
    whole = tokenize(context + continuation)
    alone = tokenize(context)
    start = 0
    while start < min(len(alone), len(whole) - 1) and alone[start] == whole[start]:
        start += 1
    if not beginning and start == 0:
        raise CannotScore("the context is part of the continuation's first token")
    return [*beginning, *whole], len(beginning) + start
