"""The evaluation of goals before and after an answer."""

import json

import pytest

from good_ros.core.errors import InputError
from good_ros.experiments.evidence_store import JsonLinesStore, evidence
from good_ros.experiments.goal_choice import (
    GoalChoice,
    fit_temper,
    load_choices,
    measure,
    measure_cross_fitted,
)
from good_ros.inference.scripted_scorer import ScriptedScorer

ITEM = {
    "scene": "mug, glass",
    "ambiguous_task": "Fill it.",
    "question": "Which one?",
    "answer": "The mug.",
    "candidates": ["mug", "glass"],
    "true": "mug",
}


def write(tmp_path, data):
    path = tmp_path / "items.json"
    path.write_text(json.dumps(data))
    return path


def test_items_are_read(tmp_path):
    (item,) = load_choices(write(tmp_path, [ITEM, ITEM]), limit=1)
    assert item.true == 0
    assert item.dialog[1] == ("Which one?", "The mug.")
    assert [g.text for g in item.goals] == ["mug", "glass"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ([], "JSON list"),
        ({}, "JSON list"),
        ([{**ITEM, "true": "jar"}], "item 1: 'jar'"),
        ([ITEM, {"question": "?"}], "item 2 has no ambiguous_task"),
        ([3], "item 1"),
    ],
)
def test_a_wrong_file_is_told_in_one_line(tmp_path, data, told):
    with pytest.raises(InputError, match=told):
        load_choices(write(tmp_path, data))


def items(count):
    return [GoalChoice("Fill it.", "Which one?", "The mug.", ("mug", "glass"), 0)] * count


def test_before_counts_the_first_turn_alone():
    result = measure(items(1), [[(-5.0, -1.0), (-4.0, -9.0)]], 1.0, "dialog")
    assert (result.before.top1, result.after.top1) == (0.0, 1.0)
    result = measure(items(1), [[(-5.0, -2.0), (-1.0, -3.0)]], 1.0, "dialog")
    assert result.after.top1 == 0.0
    result = measure(items(1), [[(-5.0, -2.0), (-1.0, -3.0)]], 1.0, "last_turn")
    assert result.after.top1 == 1.0


def test_the_temper_is_fitted_on_the_other_half():
    """Even items are always right by a mile; of the odd ones half are wrong by as much."""
    right, wrong = [(0.0, 0.0), (0.0, -8.0)], [(0.0, -8.0), (0.0, 0.0)]
    taken = [right, right, right, wrong, right, right, right, wrong]
    assert fit_temper(taken[::2], [0] * 4, "dialog") == 2.0
    own = fit_temper(taken[1::2], [0] * 4, "dialog")
    assert own < 0.1
    result = measure_cross_fitted(items(8), taken, "dialog")
    assert result.tempers == (own, 2.0)
    assert result.after.top1 == 0.75


def test_one_item_cannot_be_split():
    with pytest.raises(InputError, match="two items"):
        measure_cross_fitted(items(1), [[(0.0, 0.0), (0.0, 0.0)]], "dialog")


def test_evidence_is_taken_once(tmp_path):
    """A second run, and one with half a line left by a kill, ask the model nothing."""
    goals = items(1)[0].goals
    scorer = ScriptedScorer({("mug", "The mug."): -1.0, ("glass", "The mug."): -4.0})
    dialog = [("Which one?", "The mug.")]
    path = tmp_path / "store.jsonl"
    first = evidence(JsonLinesStore(path), scorer, ["scripted"], goals, dialog)
    with path.open("a") as file:
        file.write('{"key": "half')
    again = evidence(JsonLinesStore(path), scorer, ["scripted"], goals, dialog)
    assert first == again == [(-1.0,), (-4.0,)]
    assert scorer.sessions == 1
    evidence(JsonLinesStore(path), scorer, ["another way"], goals, dialog)
    assert scorer.sessions == 2
