"""Intervals and agreement, against what is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.experiments.statistics import bootstrap, spearman


def test_of_one_value_no_interval_can_be_had():
    assert bootstrap([]) is None
    assert bootstrap([0.5]) is None


def test_two_values_give_their_range():
    # Of two draws a quarter each are (0, 0) and (1, 1), far more than the tails.
    assert bootstrap([0.0, 1.0]) == (0.0, 1.0)


def test_equal_values_have_no_width():
    assert bootstrap([0.75] * 5) == (0.75, 0.75)


def test_many_values_give_the_normal_interval_of_their_mean():
    values = np.random.default_rng(5).random(400)
    low, high = bootstrap(values)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert low == pytest.approx(values.mean() - half, abs=0.003)
    assert high == pytest.approx(values.mean() + half, abs=0.003)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_an_interval_lies_within_the_values_and_is_the_same_again(values):
    low, high = bootstrap(values)
    assert min(values) - 1e-12 <= low <= high <= max(values) + 1e-12
    assert bootstrap(values) == (low, high)


def test_spearman_of_known_ranks():
    assert spearman([1, 2, 3], [10, 20, 900]) == pytest.approx(1.0)
    assert spearman([1, 2, 3], [9, 2, 1]) == pytest.approx(-1.0)
    # By hand, without ties: 1 - 6 Σd² / n(n² - 1) with d = 1, 1, 0, 0.
    assert spearman([1, 2, 3, 4], [2, 1, 3, 4]) == pytest.approx(1 - 6 * 2 / (4 * 15))
    # Ties at their mean rank: (1.5, 1.5, 3) and (1, 2, 3).
    assert spearman([5, 5, 7], [1, 2, 3]) == pytest.approx(math.sqrt(3) / 2)


def test_spearman_where_it_is_not_defined():
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    with pytest.raises(ValueError, match="cannot be paired"):
        spearman([1], [1, 2])
