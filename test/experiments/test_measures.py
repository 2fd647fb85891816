"""Top-1, negative log-likelihood and calibration, on beliefs whose values are known by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.experiments.measures import quality


def test_by_hand():
    result = quality([[0.75, 0.25], [0.75, 0.25], [0.05, 0.95], [0.65, 0.35]], [0, 1, 1, 0])
    assert result.top1 == 0.75
    assert result.nll == pytest.approx(
        -(math.log(0.75) + math.log(0.25) + math.log(0.95) + math.log(0.65)) / 4
    )
    # (0.7, 0.8]: confidence 0.75, accuracy 0.5; the others alone in their bins and right.
    assert result.ece == pytest.approx((2 * 0.25 + 0.05 + 0.35) / 4)
    assert [b.count for b in result.bins] == [1, 2, 1]


def test_an_equal_of_the_true_goal_counts_against_it():
    assert quality([[0.5, 0.5]], [0]).top1 == 0.0


def test_an_impossible_true_goal_is_a_large_loss_and_no_error():
    assert quality([[0.0, 1.0]], [0]).nll > 100


def test_nothing_to_measure():
    with pytest.raises(ValueError, match="no belief"):
        quality([], [])


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=30))
def test_calibration_error_is_a_share(probabilities):
    result = quality([[p, 1 - p] for p in probabilities], [0] * len(probabilities))
    assert 0.0 <= result.ece <= 1.0
    assert sum(b.count for b in result.bins) == len(probabilities)
