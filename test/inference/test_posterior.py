"""The posterior: Bayes' rule, whatever the order and however extreme the evidence."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.goals import Goal, GoalSet, unspecified_goal
from good_ros.inference.posterior import (
    entropy,
    evidence_of,
    log_priors,
    make_belief,
    posterior,
)

log_likelihood = st.floats(min_value=-1e6, max_value=0.0)
weight = st.floats(min_value=1e-6, max_value=1e6)


def goal_set(count: int, weights=None, turn: int = 1) -> GoalSet:
    goals = [Goal(f"g{i}", f"goal {i}", prior=(weights or [1.0] * count)[i]) for i in range(count)]
    return GoalSet("s", turn, 2, tuple(goals))


def by_id(belief):
    return {h.goal.id: h.probability for h in belief.hypotheses}


@st.composite
def dialogs(draw, log_likelihood=log_likelihood):
    """(weights, log-likelihoods) of 1 to 6 goals over 1 to 5 turns."""
    goals, turns = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    weights = draw(st.lists(weight, min_size=goals, max_size=goals))
    rows = st.lists(log_likelihood, min_size=turns, max_size=turns)
    return weights, draw(st.lists(rows, min_size=goals, max_size=goals))


def test_two_goals_by_hand():
    belief = make_belief(goal_set(2, [3.0, 1.0]), 1, {"g0": [math.log(0.1)], "g1": [math.log(0.6)]})
    # 3/4 · 0.1 against 1/4 · 0.6
    assert by_id(belief) == pytest.approx({"g0": 1 / 3, "g1": 2 / 3})
    assert belief.top.goal.id == "g1"
    assert belief.entropy == pytest.approx(-(1 / 3) * math.log(1 / 3) - (2 / 3) * math.log(2 / 3))
    assert belief.top.log_prior == pytest.approx(math.log(0.25))


@given(dialogs())
def test_sums_to_one_most_likely_first_and_finite(dialog):
    weights, rows = dialog
    belief = make_belief(
        goal_set(len(rows), weights), 1, {f"g{i}": row for i, row in enumerate(rows)}
    )
    probabilities = [h.probability for h in belief.hypotheses]
    assert sum(probabilities) == pytest.approx(1.0, abs=1e-9)
    assert probabilities == sorted(probabilities, reverse=True)
    assert all(math.isfinite(p) and p >= 0 for p in probabilities)
    assert 0 <= belief.entropy <= math.log(len(rows)) + 1e-9


@given(dialogs(), st.randoms(use_true_random=False))
def test_the_order_of_goals_does_not_matter(dialog, random):
    weights, rows = dialog
    goals = list(goal_set(len(rows), weights).goals)
    table = {f"g{i}": row for i, row in enumerate(rows)}
    straight = make_belief(GoalSet("s", 1, 2, tuple(goals)), 1, table)
    random.shuffle(goals)
    shuffled = make_belief(GoalSet("s", 1, 2, tuple(goals)), 1, table)
    assert by_id(straight) == pytest.approx(by_id(shuffled))
    assert [h.goal.id for h in straight.hypotheses] == [h.goal.id for h in shuffled.hypotheses]


@given(dialogs(st.floats(min_value=-50.0, max_value=0.0)))
def test_sequential_equals_all_at_once(dialog):
    """Within what probabilities, rather than their logarithms, can carry from turn to turn."""
    weights, rows = dialog
    logs = log_priors(weights)
    running = logs
    for turn in range(len(rows[0])):
        step = np.array([row[turn] for row in rows])
        with np.errstate(divide="ignore"):
            running = np.log(posterior(running, step))
    at_once = posterior(logs, np.array([evidence_of(row) for row in rows]))
    assert np.exp(running) == pytest.approx(at_once, abs=1e-6)


@given(dialogs(), st.floats(min_value=0.01, max_value=0.99))
def test_splitting_a_goal_in_two_creates_no_mass(dialog, share):
    """A goal that stands twice, its weight split, has together what it had alone."""
    weights, rows = dialog
    table = {f"g{i}": row for i, row in enumerate(rows)}
    alone = by_id(make_belief(goal_set(len(rows), weights), 1, table))
    goals = list(goal_set(len(rows), weights).goals)
    first = goals[0]
    goals[0] = Goal("g0", first.text, prior=first.prior * share)
    goals.append(Goal("twin", first.text, prior=first.prior * (1 - share)))
    both = by_id(make_belief(GoalSet("s", 1, 2, tuple(goals)), 1, {**table, "twin": rows[0]}))
    assert both["g0"] + both["twin"] == pytest.approx(alone["g0"], abs=1e-9)
    for other in alone.keys() - {"g0"}:
        assert both[other] == pytest.approx(alone[other], abs=1e-9)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [([-math.inf, -5.0], [0.0, 1.0]), ([-math.inf, -math.inf], [0.5, 0.5])],
)
def test_impossible_utterances(evidence, expected):
    assert posterior(log_priors([1.0, 1.0]), np.array(evidence)) == pytest.approx(expected)


def test_nan_rules_out_and_never_spreads():
    assert posterior(log_priors([1.0, 1.0]), np.array([math.nan, -3.0])) == pytest.approx([0, 1])


def test_no_more_than_certain_is_possible():
    assert posterior(log_priors([1.0, 1.0]), np.array([math.inf, -3.0])) == pytest.approx([0, 1])


@pytest.mark.parametrize(
    ("factors", "expected"),
    [({"temper": 0.0}, 0.0), ({"forgetting": 0.0}, -2.0), ({"evidence": "last_turn"}, -2.0)],
)
def test_what_counts_nothing_may_even_be_impossible(factors, expected):
    assert evidence_of([-math.inf, -2.0], **factors) == expected


def test_a_belief_over_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one goal"):
        make_belief(GoalSet("s", 1, 1, ()), 1, {})


def test_the_last_utterance_is_told_apart():
    belief = make_belief(goal_set(1), 2, {"g0": [-1.0, -9.0]})
    assert (belief.top.log_likelihood, belief.top.last_log_likelihood) == (-10.0, -9.0)


def test_last_turn_reads_each_round_alone():
    rows = {"g0": [-1.0, -9.0], "g1": [-50.0, -1.0]}
    assert make_belief(goal_set(2), 1, rows).top.goal.id == "g0"
    assert make_belief(goal_set(2), 1, rows, evidence="last_turn").top.goal.id == "g1"


def test_temper_and_forgetting():
    assert evidence_of([-4.0, -2.0], temper=0.5) == pytest.approx(-3.0)
    assert evidence_of([-4.0, -2.0], forgetting=0.5) == pytest.approx(-4.0)
    assert evidence_of([-4.0, -2.0], forgetting=0.0) == pytest.approx(-2.0)
    assert evidence_of([]) == 0.0


def test_an_unknown_evidence_is_refused():
    with pytest.raises(ValueError, match="first_turn"):
        evidence_of([-1.0], evidence="first_turn")


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_priors_are_refused(bad):
    with pytest.raises(ValueError, match="prior"):
        log_priors([1.0, bad])


def test_settled_where_the_goals_answer_the_turn():
    rows = {"g0": [-1.0], "g1": [-1.0]}
    assert make_belief(goal_set(2, turn=3), 3, rows).settled
    assert not make_belief(goal_set(2, turn=2), 3, rows).settled


def test_equals_are_ordered_by_id():
    belief = make_belief(goal_set(3), 1, {f"g{i}": [-1.0] for i in range(3)})
    assert [h.goal.id for h in belief.hypotheses] == ["g0", "g1", "g2"]


def test_unspecified_probability():
    goals = GoalSet("s", 1, 1, (unspecified_goal(), Goal("g1", "tea")))
    belief = make_belief(goals, 1, {"unspecified": [-1.0], "g1": [-1.0]})
    assert belief.unspecified_probability == pytest.approx(0.5)


def test_entropy_of_a_certain_belief_is_zero():
    assert entropy(np.array([1.0, 0.0])) == 0.0


def test_a_turn_that_is_impossible_under_every_goal_leaves_what_the_others_said():
    rows = {"g0": [-1.0, -math.inf, -2.0], "g1": [-4.0, -math.inf, -1.0]}
    belief = make_belief(goal_set(2), 3, rows)
    without = make_belief(goal_set(2), 3, {"g0": [-1.0, -2.0], "g1": [-4.0, -1.0]})
    assert by_id(belief) == pytest.approx(by_id(without))
    faded = make_belief(goal_set(2), 3, rows, forgetting=0.5)
    assert by_id(faded)["g0"] == pytest.approx(1 / (1 + math.exp(-3.0 * 0.25 + 1.0)))
