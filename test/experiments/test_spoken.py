"""What is counted in the spoken test."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from good_ros.core.errors import InputError
from good_ros.experiments.spoken import (
    Answer,
    Sentence,
    SpokenReport,
    bare_words,
    load_sentences,
    word_error_rate,
)

needs_jiwer = pytest.mark.skipif(
    find_spec("jiwer") is None, reason="jiwer is not installed: make speech"
)


def test_our_sentences_are_twenty_and_each_means_a_goal_of_the_set():
    goals, sentences = load_sentences()
    assert goals[0].is_unspecified
    assert len(sentences) == len({s.text for s in sentences}) == 20
    assert {s.goal_id for s in sentences} == {g.id for g in goals[1:]}


@pytest.mark.parametrize(
    "content",
    ["", "goals: [a]", "goals: {a: b}\nsentences: [[c, d]]", "sentences: [", "goals: {a: b}"],
)
def test_a_file_that_is_none_is_one_line(tmp_path, content):
    path = tmp_path / "sentences.yaml"
    path.write_text(content)
    with pytest.raises(InputError, match=r"sentences\.yaml") as caught:
        load_sentences(path)
    assert "\n" not in str(caught.value)


def test_punctuation_and_case_are_no_errors():
    assert bare_words("Could you, please?  DON'T — stop.") == "could you please don't stop"


@needs_jiwer
def test_the_word_error_rate_counts_all_three_kinds_of_error():
    assert word_error_rate(["Put the apple there."], ["put the apple there"]) == 0.0
    assert word_error_rate(["put the apple there"], ["put apple in there now"]) == 3 / 4
    # Over all words, not the mean over sentences; nothing heard is every word left out.
    assert word_error_rate(["one", "one two three"], ["one", ""]) == 3 / 4


@needs_jiwer
def test_a_sentence_without_a_belief_is_not_the_same_goal():
    sentences = tuple(Sentence(text, "a") for text in ("one", "two", "three"))
    typed = (Answer("one", "a"), Answer("two", "b"), Answer())
    spoken = (Answer("one", "a"), Answer("too", "b"), Answer())
    report = SpokenReport(sentences, typed, spoken)
    assert report.as_json() == {
        "n": 3,
        "word_error_rate": round(2 / 3, 4),
        "same_goal": 2,
        "right_typed": 1,
        "right_spoken": 1,
    }
