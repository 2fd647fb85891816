"""Replies are JSON of the schema, or a typed error that says what they are instead."""

import pytest

from good_ros.core.errors import MalformedReply
from good_ros.language.json_reply import MAX_REPLY_CHARS, parse

SCHEMA = {"type": "array", "items": {"enum": ["open", "close"]}, "maxItems": 2}


@pytest.mark.parametrize(
    "text",
    ['["open"]', '  ["open"]\n', '```json\n["open"]\n```', '```\n["open"]```'],
)
def test_bare_and_fenced_documents_are_read(text):
    assert parse(text, SCHEMA) == ["open"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("```json\n```", "empty"),
        ('```json\n["open", "clo', "cut short"),
        ('["open", "clo', "cut short"),
        ('["open"', "cut short"),
        ('["open",', "cut short"),
        ("[tru", "cut short"),
        ("[-", "cut short"),
        ('["\\u00e', "cut short"),
        ('["open"]]', "not JSON"),
        ('["open",]', "not JSON"),
        ('```\n["open"]\n```\n```\n["open"]\n```', "not JSON"),
        ("NaN", "NaN is not JSON"),
        ("[" + "1" * 5000 + "]", "number"),
        ('Sure! ["open"]', "not JSON"),
        ('["open"] as you wish', "not JSON"),
        ('{"steps": ["open"]}', "array"),
        ('["fly"]', "fly"),
        ('["open", "close", "open"]', "too long"),
        ("[" * 50_000, "nested"),
        ("x" * (MAX_REPLY_CHARS + 1), "limit"),
    ],
)
def test_anything_else_is_a_typed_error(text, what):
    with pytest.raises(MalformedReply, match=what) as caught:
        parse(text, SCHEMA)
    assert "\n" not in str(caught.value)


def test_the_error_is_one_line_whatever_the_keys_are():
    with pytest.raises(MalformedReply, match="a b") as caught:
        parse('{"a\\nb": 1}', {"additionalProperties": {"type": "string"}})
    assert "\n" not in str(caught.value)
