"""Which goals mean the same."""

import pytest

from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.inference.sameness import ScoredSameness, same_words
from good_ros.inference.scripted_scorer import ScriptedScorer


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the bread put in the fridge", "bread placed into the refrigerator"),
        ("the bread and the milk put in the fridge", "the milk and the bread put in the fridge"),
        (
            "the bread and the milk put in the fridge",
            "the milk put in the fridge, and the bread put in the fridge",
        ),
        ("The tomatoes moved to the sink.", "tomato moved to the sink"),
        ("the remote on the couch", "the remote is on the sofa"),
    ],
)
def test_the_same_in_other_words(first, second):
    assert same_words(first, second)
    assert same_words(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the bread put in the fridge", "the bread put on the fridge"),
        ("the bread put in the fridge", "the bread and the milk put in the fridge"),
        ("the bread put in the fridge", "the milk put in the fridge"),
        ("the lamp switched on", "the lamp switched off"),
        ("the bread not put in the fridge", "the bread put in the fridge"),
        ("two eggs cooked", "three eggs cooked"),
    ],
)
def test_not_the_same(first, second):
    assert not same_words(first, second)


def scores(same: float) -> dict[tuple[str, str], float]:
    """What each of two goals' wording gets under either goal and under none."""
    said = {goal: f"I want {goal}." for goal in ("hot tea", "a warm brew")}
    result = {(UNSPECIFIED_TEXT, words): -20.0 for words in said.values()}
    for goal in said:
        for other, words in said.items():
            result[goal, words] = -2.0 if goal == other else same
    return result


@pytest.mark.parametrize(("cross", "share"), [(-2.0, 1.0), (-11.0, 0.5), (-20.0, 0.0)])
def test_the_scorer_says_how_much_of_one_the_other_explains(cross, share):
    same = ScoredSameness(ScriptedScorer(scores(cross)), threshold=0.9)
    assert same.share("hot tea", "a warm brew") == pytest.approx(share)
    assert same("hot tea", "a warm brew") is (share >= 0.9)


def test_what_is_no_likelier_under_its_own_goal_says_nothing():
    flat = dict.fromkeys(scores(0.0), -5.0)
    assert ScoredSameness(ScriptedScorer(flat)).share("hot tea", "a warm brew") == 0.0
