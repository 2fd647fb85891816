"""Texts as their plain words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.errors import InputError
from good_ros.language import prompts
from good_ros.language.conversation import MAX_UTTERANCE_CHARS, check_utterance
from good_ros.language.json_reply import parse
from good_ros.language.wording import control_character, plain


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  Put it -- THERE!", "put it there"),
        ("isn\u2019t", "isn t"),
        ("Straße", "strasse"),
        ("パンを、冷蔵庫に。", "パンを 冷蔵庫に"),
        ("रोटी", "रोटी"),
        ("...", ""),
    ],
)
def test_plain_words(text, words):
    assert plain(text) == words


@given(st.text())
def test_plain_words_of_plain_words_are_the_same(text):
    assert plain(plain(text)) == plain(text)


@given(st.text(max_size=2 * MAX_UTTERANCE_CHARS))
def test_an_utterance_is_refused_or_clean(text):
    try:
        checked = check_utterance(text)
    except InputError:
        return
    assert 0 < len(checked) <= MAX_UTTERANCE_CHARS
    assert not control_character(checked)
    assert check_utterance(checked) == checked


@given(st.text())
def test_what_fills_a_slot_is_never_read_as_a_prompt(text):
    assert text.strip() in prompts.load("infer").messages(goal=text)[0].content


@given(st.lists(st.text()), st.booleans())
def test_what_json_writes_is_read_back(value, fenced):
    text = json.dumps(value)
    read = parse(f"```json\n{text}\n```" if fenced else text, {"type": "array"})
    assert read == value
