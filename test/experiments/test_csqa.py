"""The multiple choice experiment, with a scripted model."""

import json

import pytest

from good_ros.core.errors import InputError
from good_ros.experiments.csqa import (
    ChoiceQuestion,
    Evidenced,
    Scored,
    fit_handicap,
    fit_share,
    load_questions,
    measure,
    measure_cross_fitted,
    pool,
    rephrase,
    score,
    scored,
)
from good_ros.experiments.evidence_store import JsonLinesStore
from good_ros.language.scripted import ScriptedGenerator

QUESTION = ChoiceQuestion("1", "Where are coats kept?", ("closet", "oven"), 0)


def test_questions_are_read(tmp_path):
    line = {
        "id": "1",
        "question": "Where are  coats kept?",
        "choices": {"label": ["A", "B"], "text": ["closet", "oven"]},
        "answerKey": "A",
    }
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "answerKey": "E"}) + "\n")
    assert load_questions(path, limit=1) == [QUESTION]
    with pytest.raises(InputError, match="line 2"):
        load_questions(path)


def test_rephrasings_differ_and_are_kept(tmp_path):
    """The choice's own words and repeats are left out; what is short is asked for again."""
    generator = ScriptedGenerator(
        [
            '["Closet.", "wardrobe", "Wardrobe", "press"]',
            '["cupboard", "press", "clothes cabinet", "x"]',
            '["stove", "range", "cooker", "baking oven"]',
        ]
    )
    store = JsonLinesStore(tmp_path / "r.jsonl")
    groups = rephrase(store, generator, QUESTION, seed=7)
    assert groups == [
        ["wardrobe", "press", "cupboard", "clothes cabinet"],
        ["stove", "range", "cooker", "baking oven"],
    ]
    assert rephrase(JsonLinesStore(store.path), ScriptedGenerator([]), QUESTION, seed=7) == groups


def test_a_choice_that_cannot_be_rephrased_keeps_its_words(tmp_path):
    generator = ScriptedGenerator(["nonsense"] * 8)
    groups = rephrase(JsonLinesStore(tmp_path / "r.jsonl"), generator, QUESTION, seed=0)
    assert groups == [["closet"], ["oven"]]


@pytest.mark.parametrize(
    ("unspecified", "closet", "oven", "right", "right_unspecified"),
    [(-9, -1, -5, 1, 1), (-0.5, -1, -5, 1, 0), (-9, -5, -1, 0, 0)],
)
def test_what_counts_as_right(unspecified, closet, oven, right, right_unspecified):
    asked = []

    def take(goals, dialog):
        asked.append(dialog)
        return [(unspecified,), (oven - 3,), (closet,), (oven,)]

    result = measure(score([QUESTION], lambda _: [["press", "wardrobe"], ["stove"]], take))
    assert (result.n, result.accuracy, result.accuracy_unspecified) == (
        1,
        right,
        right_unspecified,
    )
    assert asked == [[("Where are coats kept? Choices: closet; oven.", "closet")]]


def test_unspecified_is_found_where_the_right_goals_are_left_out():
    def take(goals, dialog):
        return [(-2.0,), (-1.0,), (-1.5,), (-3.0,)]

    (one,) = score([QUESTION], lambda _: [["press", "wardrobe"], ["stove"]], take)
    assert (one.right, one.lead, one.lead_absent) == (True, 1.0, -1.0)
    assert measure([one]).unspecified_found == 1.0
    assert measure([one], handicap=1.5).unspecified_found == 0.0


def test_the_handicap_of_a_half_is_fitted_on_the_other():
    """In the even places 'Unspecified' wins by 0.5 nats, in the odd ones it never does."""
    even, odd = Scored(True, -0.45, -2.0), Scored(True, 1.0, 0.125)
    assert fit_handicap([even, even]) == 0.5
    assert fit_handicap([odd, odd]) == 0.0
    first = Evidenced(0, (0, 1), 0.45, (0.0, -1.55))
    second = Evidenced(0, (0, 1), -1.0, (0.0, -0.875))
    assert scored(first) == even
    assert scored(second) == odd
    result = measure_cross_fitted([first, second, first, second])
    assert (result.handicaps, result.shares) == ((0.0, 0.5), ())
    assert (result.accuracy, result.accuracy_unspecified) == (1.0, 0.5)
    assert result.unspecified_found == 0.5
    with pytest.raises(InputError, match="two questions"):
        measure_cross_fitted([first])


RIGHT, WRONG = (0.0, -3.0), (-3.0, 0.0)


def evidenced(goals):
    return Evidenced(0, (0, 1), -9.0, goals)


def test_two_layouts_are_pooled_goal_by_goal():
    one = Evidenced(1, (0, 1), -2.0, (-1.0, -3.0))
    other = Evidenced(1, (0, 1), -4.0, (-5.0, -1.0))
    assert pool(one, other, 0.25) == Evidenced(1, (0, 1), -3.5, (-4.0, -1.5))
    assert pool(one, other, 1.0) == one


def test_the_share_is_that_of_the_layout_that_is_right():
    right, wrong = [evidenced(RIGHT)] * 3, [evidenced(WRONG)] * 3
    assert fit_share(right, wrong) == 1.0
    assert fit_share(wrong, right) == 0.0
    # One is right on what the other errs on: both count.
    assert 0.3 < fit_share([*right, *wrong], [*wrong, *right]) < 0.7


def test_the_share_of_a_half_is_fitted_on_the_other():
    """In the even places the first layout is right, in the odd ones the second is."""
    first = [evidenced(RIGHT), evidenced(WRONG)] * 3
    second = [evidenced(WRONG), evidenced(RIGHT)] * 3
    result = measure_cross_fitted(first, second)
    assert (result.shares, result.accuracy) == ((0.0, 1.0), 0.0)
    assert measure_cross_fitted(first).accuracy == 0.5
