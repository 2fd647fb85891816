"""Judges: what they are shown, how their replies are read, what is kept."""

import json

import pytest

from good_ros.core.errors import MalformedReply
from good_ros.experiments import judges
from good_ros.experiments.profiles import load_profile
from good_ros.language.scripted import ScriptedGenerator

ROBOT, STORE = load_profile("valuables_in_safe"), load_profile("chocolate_cake")


def turn(number, kept, removed=(), said="Please help"):
    return {
        "record": "turn",
        "turn": number,
        "question": "What now?",
        "utterance": said,
        "goals": {
            "texts": list(kept),
            "removed": [{"text": text, "reason": "MODEL", "detail": ""} for text in removed],
        },
    }


def end(steps=("put Watch in Safe",), cart=None):
    return {"record": "end", "steps": list(steps), "cart": cart}


def text_of(question):
    return "\n".join(message.content for message in question.messages)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"score": 2.5}', 2.5),
        ('{"score": 2}', 2.0),
        ("2.75", 2.75),
        ("Score: 2.25/3", 2.25),
        ("I give it 3 out of 3.", 3.0),
        ("2.6", 2.5),
        ("2.625", 2.75),
        ("0", 0.0),
    ],
)
def test_a_score_is_read_and_rounded_to_quarters(reply, score):
    assert judges.read_score(reply, 3) == score


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "very good",
        "between 2 and 3",
        "3.5",
        "-1",
        '{"score": "high"}',
        '{"score": true}',
        '{"points": 2}',
        '{"score": NaN}',
        "NaN",
        "1e999",
        "9" * 400,
        "[2.5, 3]",
        "true",
    ],
)
def test_what_is_no_score_never_becomes_a_number(reply):
    with pytest.raises(MalformedReply):
        judges.read_score(reply, 3)


def test_a_reply_that_is_no_score_is_asked_for_once_more_with_the_reason():
    question = judges.questions(ROBOT, [end()], manages_goals=False)[0]
    judge = ScriptedGenerator(["quite fine", "2.5"])
    record = judges.ask(judge, question)
    assert record["score"] == 2.5
    assert record["replies"] == ["quite fine", "2.5"]
    assert "no score" in judge.calls[1][-1].content


def test_two_such_replies_are_missing():
    question = judges.questions(ROBOT, [end()], manages_goals=False)[0]
    record = judges.ask(ScriptedGenerator(["fine", "7"]), question)
    assert record["score"] is None
    assert record["replies"] == ["fine", "7"]


def test_the_reply_may_only_be_a_quarter_from_0_to_the_most():
    seen = []

    def reply(messages, schema):
        seen.append(schema["properties"]["score"]["enum"])
        return json.dumps({"score": seen[-1][-1]})

    records = [turn(1, ["Unspecified"]), end()]
    asked = judges.questions(ROBOT, records, manages_goals=True)
    given = [judges.ask(ScriptedGenerator([reply]), question) for question in asked]
    assert [(g["criterion"], g["score"]) for g in given] == [
        ("goals_reasonable", 5),
        ("goals_removed", 3),
        ("outcome", 3),
    ]
    assert [len(values) for values in seen] == [21, 13, 13]


def test_a_judge_sees_what_was_said_kept_and_removed():
    records = [
        turn(1, ["Unspecified", "tea made"], ["the house; burnt down"], "Tea, please"),
        end(),
    ]
    goals, removed, outcome = judges.questions(ROBOT, records, manages_goals=True)
    for question in (goals, removed):
        assert "Human: Tea, please" in text_of(question)
        assert "goals after adding: Unspecified; tea made; the house, burnt down" in text_of(
            question
        )
        assert "goals kept: Unspecified; tea made\n" in text_of(question)
    assert "put Watch in Safe" in text_of(outcome)
    assert ROBOT.profile.strip() in text_of(outcome)
    assert ROBOT.profile.strip() not in text_of(goals)


def test_a_cart_is_shown_with_quantities_and_prices_and_goals_only_where_there_are_some():
    records = [end(cart={"Medium Eggs": [2, 179]})]
    (outcome,) = judges.questions(STORE, records, manages_goals=False)
    assert "Medium Eggs: (2, $1.79)" in text_of(outcome)
    assert "(nothing)" in text_of(judges.questions(STORE, [end(cart={})], False)[0])


def test_rounds_that_do_not_fit_are_left_out_from_the_middle_and_counted():
    records = [turn(i, ["a goal " * 10]) for i in range(1, 10)] + [end()]
    question = judges.questions(ROBOT, records, True, most_chars=900)[0]
    shown = text_of(question)
    assert question.left_out > 0
    assert "Round 1." in shown
    assert "Round 9." in shown
    assert shown.count("Round ") == 9 - question.left_out
    assert judges.ask(ScriptedGenerator(["5"]), question)["rounds_left_out"] == question.left_out
