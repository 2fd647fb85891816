"""Where the goal is told, and how messages become tokens."""

import pytest

from good_ros.core.errors import ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.layout import Layout, reading, utterance_message
from good_ros.language.chat import chat_tokens, plain_template
from good_ros.language.generator import Message

COCOA = Goal("g1", "a cup of cocoa")
DIALOG = [("What would you like?", "Something sweet."), ("Hot or cold?", "Hot.")]


def test_goal_first_is_the_papers():
    messages = reading(Layout.GOAL_FIRST, COCOA, DIALOG)
    assert "a cup of cocoa" in messages[0].content
    assert [m.content for m in messages[1:]] == [text for turn in DIALOG for text in turn]
    assert [messages[utterance_message(i)].content for i in (0, 1)] == ["Something sweet.", "Hot."]


def test_goal_last_tells_the_goal_beside_the_last_question_alone():
    messages = reading(Layout.GOAL_LAST, COCOA, DIALOG)
    assert messages[3].role == "user"
    assert messages[3].content.startswith("Hot or cold? ")
    assert "a cup of cocoa" in messages[3].content
    others = [m.content for i, m in enumerate(messages) if i != 3]
    assert not any("cocoa" in text for text in others)
    assert messages[-1] == Message("assistant", "Hot.")


@pytest.mark.parametrize("layout", list(Layout))
def test_of_unspecified_no_goal_is_told(layout):
    messages = reading(layout, unspecified_goal(), DIALOG)
    assert messages[3].content == "Hot or cold?"
    assert "truly want" not in messages[0].content


def test_braces_in_a_goal_stay():
    messages = reading(Layout.GOAL_LAST, Goal("g", "{question} {x}"), DIALOG[:1])
    assert "{question} {x}" in messages[1].content


def letters(text, special):
    return [ord(c) + (1000 if special else 0) for c in text]


def test_contents_are_tokenized_apart_from_the_template():
    messages = [Message("user", "ab"), Message("assistant", "c")]
    tokens, spans = chat_tokens(messages, False, plain_template, letters)
    assert [tokens[slice(*span)] for span in spans] == [letters("ab", False), letters("c", False)]
    assert tokens[: spans[0][0]] == letters("Robot: ", True)
    begun, moved = chat_tokens(messages, False, plain_template, letters, beginning=[7])
    assert begun == [7, *tokens]
    assert moved == [(start + 1, end + 1) for start, end in spans]


def test_a_template_that_drops_a_message_is_told():
    def drops(messages, add_assistant):
        return plain_template(messages[1:], add_assistant)

    with pytest.raises(ModelError, match="drops messages"):
        chat_tokens([Message("system", "a"), Message("user", "b")], False, drops, letters)


def test_an_assistants_turn_is_begun_in_plain_text():
    assert plain_template([Message("user", "Hi?")], True) == "Robot: Hi?\nHuman: "
