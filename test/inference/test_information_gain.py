"""The expected gain of a question against what its formula gives by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.inference.information_gain import Draw, expected_gain

EVEN = {"a": 0.5, "b": 0.5}
DRAWS = [Draw("a", "yes"), Draw("b", "no")]


def likelihoods(a_yes, a_no, b_yes, b_no):
    return {"a": {"yes": a_yes, "no": a_no}, "b": {"yes": b_yes, "no": b_no}}


def test_answers_that_settle_it_tell_all_that_is_unknown():
    gain = expected_gain(EVEN, DRAWS, likelihoods(0.0, -50.0, -50.0, 0.0))
    assert gain == pytest.approx(math.log(2))


def test_answers_that_fit_every_goal_alike_tell_nothing():
    assert expected_gain(EVEN, DRAWS, likelihoods(-3.0, -5.0, -3.0, -5.0)) == pytest.approx(0.0)


def test_answers_that_mislead_count_against_a_question():
    gain = expected_gain(EVEN, DRAWS, likelihoods(-3.0, -2.0, -2.0, -3.0))
    assert gain == pytest.approx(math.log(2 / (1 + math.e)))


def test_a_gain_by_hand():
    """P(a | yes) = 0.8·3/(0.8·3 + 0.2) and P(b | no) = 0.2·3/(0.2·3 + 0.8)."""
    three = math.log(3.0)
    gain = expected_gain({"a": 0.8, "b": 0.2}, DRAWS, likelihoods(three, 0.0, 0.0, three))
    by_hand = 0.8 * math.log(2.4 / 2.6 / 0.8) + 0.2 * math.log(0.6 / 1.4 / 0.2)
    assert gain == pytest.approx(by_hand)


def test_the_answers_of_one_goal_are_averaged():
    draws = [*DRAWS, Draw("a", "no")]
    table = likelihoods(0.0, -50.0, -50.0, 0.0)
    # 'no' under goal a leads astray as far as a posterior is looked at: 1e-12.
    misled = math.log(1e-12) - math.log(0.5)
    by_hand = 0.5 * (math.log(2) + misled) / 2 + 0.5 * math.log(2)
    assert expected_gain(EVEN, draws, table) == pytest.approx(by_hand)


def test_a_goal_without_answers_takes_part_in_the_posterior_alone():
    table = {g: {"yes": v} for g, v in {"a": 0.0, "b": -50.0, "c": 0.0}.items()}
    gain = expected_gain({"a": 0.25, "b": 0.25, "c": 0.5}, [Draw("a", "yes")], table)
    assert gain == pytest.approx(math.log((0.25 / 0.75) / 0.25))


def test_without_an_answer_the_gain_is_unknown():
    with pytest.raises(ValueError, match="no answer was drawn"):
        expected_gain(EVEN, [], {})


numbers = st.floats(-30.0, 0.0)


@given(st.floats(0.01, 0.99), numbers, numbers, numbers, numbers)
def test_no_gain_is_over_what_is_unknown_of_the_goals_asked_for(p, a_yes, a_no, b_yes, b_no):
    """Answers cannot make the true goal's log-probability grow by more than the entropy."""
    table = likelihoods(a_yes, a_no, b_yes, b_no)
    entropy = -(p * math.log(p) + (1 - p) * math.log(1 - p))
    assert expected_gain({"a": p, "b": 1 - p}, DRAWS, table) <= entropy + 1e-9
    assert expected_gain({"a": p, "b": 1 - p}, DRAWS, table, temper=0.0) == pytest.approx(0.0)
