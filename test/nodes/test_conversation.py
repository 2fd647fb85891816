"""What people say beside answers, on a real graph with scripted models."""

import json

import pytest

from good_ros.msg import TaskStatus
from good_ros.turns.conversation import APPROVAL_START, SAY_AGAIN

from .harness import (
    BREAD,
    KNIFE,
    SAID,
    ScriptedStack,
    all_fit,
    bread_scores,
    bread_script,
)

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]
FLAT = dict.fromkeys(bread_scores(), -10.0)


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    def build(script=None, scores=None, **keywords):
        script = bread_script() if script is None else script
        scores = bread_scores() if scores is None else scores
        return ScriptedStack(monkeypatch, tmp_path, script, scores, **keywords)

    return build


def asked(run, text):
    return any(q.text == text for q in run.probe.heard["question"])


def test_what_was_hardly_heard_is_asked_again_and_the_belief_is_unchanged(make):
    with make() as run:
        run.wait_asked(1)
        run.probe.say("mumble", "u0", confidence=0.1)
        run.wait(lambda: asked(run, SAY_AGAIN), "to be asked again")
        assert run.probe.heard["goal_belief"] == []
        run.turn(1, SAID)
        assert {b.turn for b in run.probe.heard["goal_belief"]} == {1}
        assert [t.utterance for t in run.probe.last("transcript").turns] == [SAID]


@pytest.mark.parametrize(("words", "state"), [("Yes, do it.", "SUCCEEDED"), ("No!", "FAILED")])
def test_a_plan_that_waits_is_approved_by_voice(make, words, state):
    with make(scores=FLAT) as run:
        run.wait_asked(1)
        run.probe.say(SAID, "u1")
        run.wait(
            lambda: any(q.text.startswith(APPROVAL_START) for q in run.probe.heard["question"]),
            "the question for approval",
        )
        run.probe.say(words, "u2")
        run.wait_turn(1)
        assert run.probe.last("task_status").state == getattr(TaskStatus, state)
        assert [t.utterance for t in run.probe.last("transcript").turns] == [SAID]


def test_each_speaker_has_a_belief_of_their_own(make):
    milk = "I am thirsty"
    scores = {**bread_scores(), **bread_scores(milk)}
    scores |= {("the milk put on the table", words): -10.0 for words in (SAID, milk)}
    script = {
        "dialog": ["What should I move?", "And now?", "And then?"],
        "goal_manager": [
            json.dumps([BREAD, KNIFE, "tea made"]),
            json.dumps([BREAD, KNIFE, "tea made"]),
            all_fit,
        ],
        "executor": [json.dumps(["put Bread in Fridge"])] * 2,
    }
    with make(script, scores, belief_per_speaker=True) as run:
        run.wait_asked(1)
        run.probe.say(SAID, "u1", speaker_id="ann")
        run.wait_turn(1)
        run.wait_asked(2)
        run.probe.say(milk, "u2", speaker_id="bob")
        run.wait_turn(2)
        first, second = run.probe.settled()[-2:]
        assert (first.speaker_id, second.speaker_id) == ("ann", "bob")
        by_text = {h.goal.text: h for h in second.hypotheses}
        # Of what Ann said nothing counts for Bob: one utterance, not two.
        assert by_text[BREAD].log_likelihood == -10.0
        assert {g.speaker_id for g in run.probe.heard["goals"]} == {"", "ann", "bob"}
        ids = [{h.goal.id for h in b.hypotheses} - {"unspecified"} for b in (first, second)]
        assert not ids[0] & ids[1]
