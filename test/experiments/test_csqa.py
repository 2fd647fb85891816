"""The multiple choice experiment, with a scripted model."""

import json

import pytest

from good_ros.core.errors import InputError
from good_ros.experiments.csqa import ChoiceQuestion, load_questions, rephrase, run
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

    result = run([QUESTION], lambda _: [["press", "wardrobe"], ["stove"]], take)
    assert (result.n, result.accuracy, result.accuracy_unspecified) == (
        1,
        right,
        right_unspecified,
    )
    assert asked == [[("Where are coats kept? Choices: closet; oven.", "closet")]]
