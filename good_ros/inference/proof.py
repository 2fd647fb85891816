"""What a scorer must show before it is believed.

A server that leaves prompt log-probabilities out gives every text the same score (llama.cpp
#27174), and a cache that is wrong gives a belief that is wrong in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from good_ros.core.errors import CannotScore
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.scorer import Scorer

TOLERANCE = 1e-3
"""Nats a token by which cached may differ from uncached, in float32."""
CONTEXT = "The capital of France is"
LIKELY, UNLIKELY = " Paris.", " qux zebra lamp."


def prove(scorer: Scorer, count_tokens: Callable[[str], int], tolerance: float = TOLERANCE) -> None:
    """Raises CannotScore where token counts differ, an unlikely text beats a likely one, or
    cached scores differ from uncached ones by more than ``tolerance`` nats a token."""
    likely, unlikely = (scorer.score([CONTEXT], text)[0] for text in (LIKELY, UNLIKELY))
    if likely.tokens != count_tokens(LIKELY):
        raise CannotScore(
            f"{scorer.model_name}: {likely.tokens} tokens were scored where there are "
            f"{count_tokens(LIKELY)}"
        )
    if not likely.log_probability / likely.tokens > unlikely.log_probability / unlikely.tokens:
        raise CannotScore(f"{scorer.model_name}: an unlikely text scores above a likely one")
    dialog = [("What would you like?", "Some tea, please."), ("With milk?", "Yes, a little.")]
    goals = [unspecified_goal(), Goal("test", "have tea with milk")]
    cached = _dialog_scores(scorer, goals, [dialog[:1], dialog])
    fresh = _dialog_scores(scorer, goals, [dialog])
    tokens = sum(count_tokens(utterance) for _, utterance in dialog)
    for goal in goals:
        difference = abs(sum(cached[goal.id]) - sum(fresh[goal.id])) / tokens
        if not difference <= tolerance:
            raise CannotScore(
                f"{scorer.model_name}: cached and uncached scores differ by {difference:.3g} "
                f"nats a token, over {tolerance}"
            )


def _dialog_scores(
    scorer: Scorer, goals: Sequence[Goal], dialogs: Sequence[Sequence[tuple[str, str]]]
) -> dict[str, tuple[float, ...]]:
    """The scores of the last dialog, asked for after each of the growing dialogs."""
    session = scorer.session()
    try:
        session.set_goals(goals)
        said = 0
        result: dict[str, tuple[float, ...]] = {}
        for dialog in dialogs:
            for question, utterance in dialog[said:]:
                session.append(question, utterance)
            said = len(dialog)
            result = session.log_likelihoods()
        return result
    finally:
        session.close()
