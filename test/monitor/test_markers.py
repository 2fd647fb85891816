"""Bars of a belief: stable ids, deletions, lengths and colours."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.monitor.markers import BeliefMarkers, MarkerKind, PanelSize, overlay_text


def belief_of(probabilities, session="s", turn=1):
    """A belief from probabilities by goal id."""
    hypotheses = [
        Hypothesis(
            unspecified_goal() if name == "unspecified" else Goal(name, f"goal {name}"),
            p,
            math.log(p) if p and p > 0 else -math.inf,
            0.0,
        )
        for name, p in probabilities.items()
    ]
    hypotheses.sort(key=lambda h: -h.probability)
    return Belief(session, turn, turn, True, tuple(hypotheses), 0.5)


def by_text(markers):
    return {m.text.split("  ", 1)[1]: m for m in markers if m.kind is MarkerKind.LABEL}


def test_a_goal_keeps_its_ids_while_its_rank_changes():
    drawing = BeliefMarkers()
    first = by_text(drawing.draw(belief_of({"a": 0.7, "b": 0.2, "unspecified": 0.1})))
    second = by_text(drawing.draw(belief_of({"a": 0.1, "b": 0.8, "unspecified": 0.1}, turn=2)))
    assert {text: m.id for text, m in first.items()} == {t: m.id for t, m in second.items()}
    assert first["goal a"].position[1] > first["goal b"].position[1]
    assert second["goal a"].position[1] < second["goal b"].position[1]


def test_a_removed_goal_is_deleted_once_and_its_ids_are_not_used_again():
    drawing = BeliefMarkers()
    first = drawing.draw(belief_of({"a": 0.7, "b": 0.3}))
    ids_of_b = {m.id for m in first} - {m.id for m in BeliefMarkers().draw(belief_of({"a": 1.0}))}
    second = drawing.draw(belief_of({"a": 0.6, "c": 0.4}, turn=2))
    assert {m.id for m in second if m.kind is MarkerKind.DELETED} == ids_of_b
    assert not ids_of_b & {m.id for m in second if m.kind is not MarkerKind.DELETED}
    third = drawing.draw(belief_of({"a": 0.6, "c": 0.4}, turn=3))
    assert not any(m.kind is MarkerKind.DELETED for m in third)


def test_another_session_takes_the_old_bars_away():
    drawing = BeliefMarkers()
    old = {m.id for m in drawing.draw(belief_of({"g1": 0.5, "unspecified": 0.5}))}
    new = drawing.draw(belief_of({"g1": 0.9, "unspecified": 0.1}, session="next"))
    assert {m.id for m in new if m.kind is MarkerKind.DELETED} == old
    assert not old & {m.id for m in new if m.kind is not MarkerKind.DELETED}


@given(st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=12))
def test_lengths_are_proportional_to_probability(weights):
    total = sum(weights)
    probabilities = {f"g{i}": w / total for i, w in enumerate(weights)}
    belief = belief_of(probabilities)
    markers = BeliefMarkers(PanelSize(bar_length=3.0)).draw(belief)
    bars = [m for m in markers if m.kind is MarkerKind.BAR]
    for bar, hypothesis in zip(bars, belief.hypotheses, strict=True):
        assert bar.size[0] == pytest.approx(3.0 * hypothesis.probability, rel=0.01)
        assert bar.position[0] - bar.size[0] / 2 == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -0.5, 0.0, 7.0])
def test_nothing_is_at_nan_and_no_bar_is_without_extent(bad):
    markers = BeliefMarkers().draw(belief_of({"a": bad, "b": 0.5}))
    numbers = [n for m in markers for n in (*m.position, *m.size, *m.colour)]
    assert all(math.isfinite(n) for n in numbers)
    assert all(0 < m.size[0] <= 2.0 for m in markers if m.kind is MarkerKind.BAR)


def test_colour_grows_with_probability_and_unspecified_has_its_own():
    bars = [
        m
        for m in BeliefMarkers().draw(belief_of({"a": 0.8, "b": 0.15, "unspecified": 0.05}))
        if m.kind is MarkerKind.BAR
    ]
    assert bars[0].colour[1] > bars[1].colour[1]
    assert bars[0].colour[3] > bars[1].colour[3]
    assert bars[2].colour not in (bars[0].colour, bars[1].colour)


def test_the_overlay_says_what_is_left_out():
    text = overlay_text(belief_of({f"g{i}": 1 / 7 for i in range(7)}), rows=5)
    assert text.splitlines()[0] == "turn 1, entropy 0.50 nats"
    assert text.splitlines()[-1] == "… and 2 more"
