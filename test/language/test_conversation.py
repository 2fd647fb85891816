"""Questions, answers and utterances."""

import pytest

from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import InputError, ModelError
from good_ros.language import conversation
from good_ros.language.generator import Reply
from good_ros.language.scripted import ScriptedGenerator

ASKED = Transcript("s", (Turn(1, "Tea or coffee?", "Tea"),))


def ask(*script, transcript=ASKED):
    return conversation.ask(ScriptedGenerator(script), "help", transcript, "nothing")


@pytest.mark.parametrize(
    ("reply", "question"),
    [
        ("With milk?", "With milk?"),
        ('"With milk?"', "With milk?"),
        ("Robot: With milk? With sugar?", "With milk?"),
        ("  Tell me  more. ", "Tell me more."),
    ],
)
def test_one_clean_question(reply, question):
    assert ask(reply) == question


def test_no_question_is_asked_twice():
    assert ask("tea or COFFEE", "With milk?") == "With milk?"


def test_where_the_model_only_repeats_a_plain_question_is_asked():
    assert ask("Tea or coffee?", "") == conversation.ANOTHER_QUESTION
    twice = Transcript("s", (*ASKED.turns, Turn(2, conversation.ANOTHER_QUESTION, "No")))
    third = ask("Tea or coffee?", "Tea or coffee?", transcript=twice)
    assert third not in {turn.question for turn in twice.turns}


def test_a_question_that_was_cut_short_is_asked_for_again():
    cut = Reply("Would you like me to put the", 9, 40, 0.1, finished=False)
    assert ask(cut, "With milk?") == "With milk?"
    whole = Reply("With milk? Or would you", 9, 40, 0.1, finished=False)
    assert ask(whole) == "With milk?"


def test_questions_of_any_script_are_told_apart():
    asked = Transcript("s", (Turn(1, "何を片付けますか？", "パン"),))
    assert ask("どこに置きますか？", transcript=asked) == "どこに置きますか？"
    assert ask("何を片付けますか?", "どこに？", transcript=asked) == "どこに？"


def test_a_model_that_is_down_is_an_error():
    with pytest.raises(ModelError, match="down"):
        ask(ModelError("down"))


def test_the_simulated_human_answers_from_the_profile():
    generator = ScriptedGenerator(['Human: "I want tea."'])
    answer = conversation.answer(generator, "You love tea.", "help", "What?", "nothing")
    assert answer == "I want tea."
    assert "You love tea." in generator.calls[0][0].content


def test_white_space_is_folded():
    assert conversation.check_utterance("  put\tit \n there ") == "put it there"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("\u200b\ufeff", "empty"),
        ("x" * 1001, "1001 characters"),
        ("put\x07it", r"U\+0007"),
        ("put\x1b[31mit", r"U\+001B"),
        ("nul\x00", r"U\+0000"),
    ],
)
def test_unusable_utterances_are_refused_in_one_line(text, what):
    with pytest.raises(InputError, match=what) as caught:
        conversation.check_utterance(text)
    assert "\n" not in str(caught.value)


def test_the_longest_utterance_passes():
    assert len(conversation.check_utterance("x" * 1000)) == 1000


@pytest.mark.parametrize("text", ["日本語でもいい", "Grüße, café!", "ok 👍", "\U0001fae8", "😀!"])
def test_every_language_passes(text):
    assert conversation.check_utterance(text) == text


PHRASE = "the task is completed"


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("The task is completed.", True),
        ("Thank you, the task is completed!", True),
        ("No, the task is not completed", False),
        ("The task is completed, thank you.", True),
        ("No more bread, I do not need it. The task is completed. Goodbye!", True),
        ("I don't think the task is completed", False),
        ("I do not think the task is completed", False),
        ("I doubt that the task is completed", False),
        ("Do you think the task is completed?", False),
        ("The task is completed. Now clean the sink.", False),
        ("The task is completed once the milk is away", False),
        ("...", False),
        ("Tell me when the task is completed", False),
        ("Put the bread away until the task is completed", False),
        ("bread", False),
    ],
)
def test_done_is_said_in_the_agreed_words(text, done):
    assert conversation.says_done(text, PHRASE) is done


@pytest.mark.parametrize(
    ("text", "stop"),
    [("Stop!", True), ("That's all.", True), ("goodbye", True), ("stop the water", False)],
)
def test_the_persons_word_ends_it(text, stop):
    assert conversation.stops(text) is stop
