"""The whole loop on a real graph: real nodes over DDS, scripted models, the real household."""

import json
import math

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Empty, String

from good_ros import recording
from good_ros.core.errors import ModelError
from good_ros.msg import ErrorCode, GoalBelief, TaskStatus, Utterance
from good_ros.nodes.qos import LATCHED
from good_ros.nodes.transcripts import TranscriptReader
from good_ros.srv import EditGoals, ResetSession
from good_ros.turns.window import WINDOW

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


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    """Makes a scripted stack; keywords as of ScriptedStack."""

    def build(script=None, scores=None, **keywords):
        return ScriptedStack(
            monkeypatch,
            tmp_path,
            script if script is not None else bread_script(),
            scores if scores is not None else bread_scores(),
            **keywords,
        )

    return build


def test_a_conversation_becomes_a_belief_and_the_belief_verified_action(make, tmp_path):
    with make() as run:
        run.turn(1, SAID)
        probe = run.probe
        first, settled = probe.heard["goal_belief"]
        assert (first.turn, first.goals_version, first.settled) == (1, 1, False)
        assert (settled.turn, settled.goals_version, settled.settled) == (1, 2, True)
        assert settled.hypotheses[0].goal.text == BREAD
        assert settled.hypotheses[0].probability == pytest.approx(
            1 / (1 + math.exp(-10) + math.exp(-12) + math.exp(-13))
        )
        status = probe.last("task_status")
        assert status.state == TaskStatus.SUCCEEDED
        assert [r.step.label for r in status.history] == ["pick up Bread", "put Bread in Fridge"]
        assert all(r.success for r in status.history)
        assert "Bread is in Fridge" in status.history[1].effect
        assert "in Fridge" in status.scene
        run.wait_asked(2)
        turn = probe.last("transcript").turns[0]
        assert (turn.question, turn.utterance) == ("What should I move?", SAID)
        assert [r.step.label for r in turn.actions] == ["pick up Bread", "put Bread in Fridge"]
        folder = run.stack.nodes["monitor"].folder
    assert [b["settled"] for b in recording.read(folder, "beliefs")] == [False, True]
    assert [a["step"]["label"] for a in recording.read(folder, "actions")] == [
        "pick up Bread",
        "put Bread in Fridge",
    ]
    assert recording.read(folder, "plans")[0]["turn"] == 1
    assert recording.read(folder, "goals")[-1]["version"] == 2
    assert recording.read(folder, "transcript")[-1]["turns"][0]["utterance"] == SAID
    assert recording.read(folder, "questions")[-1]["expected_information_gain"] is None


@pytest.mark.faults("rosbridge_suite #1022")
def test_a_late_joiner_gets_the_current_belief(make):
    with make() as run:
        run.turn(1, SAID)
        late = []
        run.probe.create_subscription(GoalBelief, "goal_belief", late.append, LATCHED)
        run.wait(lambda: bool(late), "the latched belief")
        belief = late[0]
        assert (belief.settled, belief.turn) == (True, 1)
        probabilities = [h.probability for h in belief.hypotheses]
        assert sum(probabilities) == pytest.approx(1.0)
        assert probabilities == sorted(probabilities, reverse=True)
        assert belief.unspecified_probability == pytest.approx(
            next(h.probability for h in belief.hypotheses if h.goal.id == "unspecified")
        )


def test_where_unspecified_wins_nothing_is_done(make):
    scores = {**bread_scores(), (BREAD, SAID): -30.0}
    script = {**bread_script(), "executor": []}
    with make(script, scores) as run:
        run.turn(1, SAID)
        status = run.probe.last("task_status")
        assert (status.state, len(status.history)) == (TaskStatus.NO_ACTION, 0)


@pytest.mark.parametrize("reliability", list(ReliabilityPolicy)[1:3])
@pytest.mark.parametrize("durability", list(DurabilityPolicy)[1:3])
@pytest.mark.faults("rosbridge_suite #1022")
def test_every_front_end_is_heard(make, reliability, durability):
    with make() as run:
        run.wait_asked(1)
        qos = QoSProfile(depth=10, reliability=reliability, durability=durability)
        publisher = run.probe.create_publisher(String, "speech_text", qos)
        run.wait(lambda: publisher.get_subscription_count() == 1, "the match with dialog")
        publisher.publish(String(data=SAID))
        run.wait_turn(1)
        assert run.probe.settled()[-1].turn == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"text": ""},
        {"text": "x" * 1001},
        {"text": "bell\x07"},
        {"text": "part of a sent", "is_final": False},
    ],
)
def test_bad_utterances_change_nothing_and_the_next_good_one_counts(make, bad):
    with make() as run:
        run.wait_asked(1)
        run.wait(lambda: run.probe.utterance.get_subscription_count() == 1, "the match")
        run.probe.say(**bad)
        run.probe.say(SAID)
        run.wait_turn(1)
        assert [b.turn for b in run.probe.heard["goal_belief"]] == [1, 1]
        assert run.probe.last("transcript").turns[0].utterance == SAID


def test_an_utterance_that_comes_twice_counts_once(make):
    with make() as run:
        run.wait_asked(1)
        run.probe.say(SAID, "same")
        run.probe.say(SAID, "same")
        run.wait_asked(2)
        run.probe.say("something new", "same")
        service = run.probe.create_client(EditGoals, "edit_goals")
        answer = service.call_async(EditGoals.Request())
        run.wait(answer.done, "an answer that comes after the utterance was heard")
        assert len(run.probe.last("transcript").turns) == 1


def test_messages_of_another_session_change_nothing(make, capfd):
    with make() as run:
        run.turn(1, SAID)
        foreign = TaskStatus(session_id="another", turn=1, state=TaskStatus.DONE)
        publisher = run.probe.create_publisher(TaskStatus, "task_status", LATCHED)
        logged: list[str] = []

        def warned() -> bool:
            logged.append(capfd.readouterr().err)
            return "of session another" in "".join(logged)

        publisher.publish(foreign)
        run.wait(warned, "the one clear message")
        run.wait_asked(2)
        assert not run.probe.last("transcript").ended


@pytest.mark.faults("ROS-LLM PR #48")
def test_a_scorer_that_fails_leaves_the_belief_and_is_asked_again(make, monkeypatch):
    monkeypatch.setattr("good_ros.nodes.goal_belief.RETRY_S", 0.1)
    with make(failures=2) as run:
        run.turn(1, SAID)
        assert run.probe.settled()[-1].hypotheses[0].goal.text == BREAD


def test_goals_stay_where_the_model_cannot_propose_and_the_turn_still_ends(make):
    script = {**bread_script(), "goal_manager": [ModelError("the server is down")]}
    with make(script) as run:
        run.turn(1, SAID)
        assert [g.id for g in run.probe.last("goals").goals] == ["unspecified"]
        assert run.probe.last("task_status").state == TaskStatus.NO_ACTION


def test_a_planner_that_fails_is_a_visible_state(make):
    script = {**bread_script(), "executor": [ModelError("the server is down")]}
    with make(script, model_retries=0) as run:
        run.turn(1, SAID)
        status = run.probe.last("task_status")
        assert status.state == TaskStatus.FAILED
        assert status.error_code == ErrorCode.MODEL_UNAVAILABLE
        assert "server is down" in status.error_msg
        run.wait_asked(2)


def test_without_a_question_from_the_model_a_plain_one_is_asked(make):
    script = {**bread_script(), "dialog": [ModelError("down"), "And now?"]}
    with make(script) as run:
        run.turn(1, SAID)
        assert run.probe.heard["question"][0].text == "What would you like me to do?"


def test_the_persons_word_ends_the_session(make):
    script = {**bread_script(), "executor": []}
    scores = bread_scores("The task is completed.")
    script["goal_manager"] = []
    with make(script, scores) as run:
        run.turn(1, "The task is completed.")
        transcript = run.probe.last("transcript")
        assert transcript.ended
        assert "completed" in transcript.end_reason
        assert run.probe.last("question").expects_reply is False
        assert run.probe.settled()[-1].turn == 1


def test_the_turn_limit_ends_the_session(make):
    with make(max_turns=1) as run:
        run.turn(1, SAID)
        run.wait(lambda: run.probe.last("transcript").ended, "the end")
        assert "limit of 1 turns" in run.probe.last("transcript").end_reason


def test_a_person_who_speaks_first_is_heard(make, monkeypatch):
    """The question is still being made when the utterance comes."""
    import threading

    spoken = threading.Event()

    def question(messages, schema):
        spoken.wait(20)
        return "Too late?"

    script = {**bread_script(), "dialog": [question, "And now?"]}
    with make(script) as run:
        publisher = run.probe.utterance
        run.wait(lambda: publisher.get_subscription_count() == 1, "the match with dialog")
        run.probe.say(SAID, "first")
        run.wait(lambda: any(t.turns for t in run.probe.heard["transcript"]), "the turn")
        spoken.set()
        run.wait_turn(1)
        turn = run.probe.last("transcript").turns[0]
        assert (turn.utterance, turn.question) == (SAID, "What would you like me to do?")


def test_people_edit_the_goals(make):
    with make() as run:
        run.turn(1, SAID)
        client = run.probe.create_client(EditGoals, "edit_goals")
        request = EditGoals.Request(add=["the lamp turned off"], remove=["g2"])
        run.scorer.table.update({("the lamp turned off", SAID): -5.0})
        answer = client.call_async(request)
        run.wait(answer.done, "edit_goals")
        result = answer.result()
        assert result.success, result.message
        assert KNIFE not in [g.text for g in result.goals.goals]
        run.wait(lambda: len(run.probe.settled()) == 2, "the belief over the edited goals")
        assert run.probe.settled()[-1].hypotheses[0].goal.text == "the lamp turned off"
        assert run.probe.settled()[-1].turn == 1
        answer = client.call_async(EditGoals.Request(remove=["nobody"]))
        run.wait(answer.done, "edit_goals")
        assert not answer.result().success
        assert "nobody" in answer.result().message


def test_what_a_person_removed_is_not_proposed_again_after_a_restart(make):
    with make() as run:
        run.turn(1, SAID)
        again = [json.dumps([KNIFE, "tea made", "the lamp turned off"])]
        run.generators["goal_manager"]._lines = iter(again)
        run.scorer.table.update({("the lamp turned off", SAID): -25.0})
        client = run.probe.create_client(EditGoals, "edit_goals")
        answer = client.call_async(EditGoals.Request(remove=["g3"]))
        run.wait(answer.done, "edit_goals")
        assert "tea made" not in [g.text for g in answer.result().goals.goals]
        run.wait(lambda: len(run.probe.settled()) == 2, "the belief over the edited goals")
        run.restart("goal_manager")
        order = run.stack.nodes["goal_manager"].order
        run.wait(lambda: bool(order.goals and order.goals.version >= 3), "the goals, recovered")
        propose = run.probe.create_publisher(Empty, "propose_goals", 10)
        run.wait(lambda: propose.get_subscription_count() == 1, "goal_manager hears")
        propose.publish(Empty())

        def lamp():
            last = run.probe.last("goals")
            return {g.text: g.id for g in last.goals}.get("the lamp turned off")

        run.wait(lambda: bool(lamp()), "the new goal")
        assert "tea made" not in [g.text for g in run.probe.last("goals").goals]
        # No goal gets the number of the one that was removed.
        assert "g3" not in [g.id for g in run.probe.last("goals").goals]


def test_a_reset_begins_a_new_session_with_the_room_as_at_the_start(make):
    script = bread_script()
    script["goal_manager"] += [script["goal_manager"][0]]
    with make(script) as run:
        run.turn(1, SAID)
        first = run.probe.last("transcript").session_id
        client = run.probe.create_client(ResetSession, "reset_session")
        answer = client.call_async(ResetSession.Request())
        run.wait(answer.done, "reset_session")
        assert answer.result().success
        assert answer.result().session_id != first

        def back_at_the_start():
            status = run.probe.last("task_status")
            return status.session_id == answer.result().session_id and not status.history

        run.wait(back_at_the_start, "the new session's world")
        assert "Fridge (closed): Egg" in run.probe.last("task_status").scene
        run.wait(
            lambda: run.probe.last("goals").session_id == answer.result().session_id,
            "the new session's goals",
        )
        assert [g.id for g in run.probe.last("goals").goals] == ["unspecified"]


def test_a_world_that_cannot_be_rebuilt_is_a_visible_state(make, monkeypatch):
    from good_ros.core.errors import WorldError

    def replay(world, history):
        raise WorldError("step 1 of the history cannot be done again")

    monkeypatch.setattr("good_ros.nodes.executor.replay", replay)
    with make({**bread_script(), "executor": []}) as run:
        run.turn(1, SAID)
        status = run.probe.last("task_status")
        assert status.error_code == ErrorCode.WORLD_LOST
        assert "step 1" in status.error_msg


def test_a_missing_scene_fails_configure_with_its_reason(make):
    run = make(scene="FloorPlan999")
    try:
        with pytest.raises(Exception, match="FloorPlan999"):
            run.stack.start()
        assert run.stack.nodes["executor"].get_name() == "executor"
    finally:
        run.stack.close()


@pytest.mark.faults("rclpy #1398")
def test_other_services_answer_while_a_model_call_is_slow(make):
    import threading
    import time

    release = threading.Event()

    def slow(messages, schema):
        release.wait(30)
        return "[]"

    script = bread_script()
    script["executor"] = [slow]
    with make(script) as run:
        run.wait_asked(1)
        run.probe.say(SAID)
        run.wait(lambda: bool(run.generators["executor"].calls), "the slow call")
        client = run.probe.create_client(EditGoals, "edit_goals")
        began = time.monotonic()
        answer = client.call_async(EditGoals.Request())
        run.wait(answer.done, "edit_goals during a slow model call")
        elapsed = time.monotonic() - began
        release.set()
        assert elapsed < 1.0


def test_closing_in_mid_generation_is_prompt(make):
    import threading
    import time

    cancelled = threading.Event()

    def endless(messages, schema):
        cancelled.wait(5)
        return "late"

    script = {**bread_script(), "dialog": [endless]}
    run = make(script)
    run.stack.start()
    run.wait(lambda: bool(run.generators["dialog"].calls), "the call")
    began = time.monotonic()
    cancelled.set()
    run.stack.close()
    assert time.monotonic() - began < 5.0


def test_nodes_go_through_the_life_cycle_again_and_again(make):
    script = {**bread_script(), "dialog": ["What should I move?"] * 12}
    with make(script) as run:
        run.wait_asked(1)
        node = run.stack.nodes["dialog"]
        for _ in range(3):
            node.trigger_deactivate()
            node.trigger_cleanup()
            node.trigger_configure()
            node.trigger_activate()
        sessions = {t.session_id for t in run.probe.heard["transcript"]}
        run.wait(
            lambda: (
                len({q.session_id for q in run.probe.heard["question"]} - sessions) >= 1
                or len({q.session_id for q in run.probe.heard["question"]}) >= 2
            ),
            "a question of the last session",
        )
        run.probe.say(SAID, "u1")
        run.wait_turn(1)


def test_partial_utterance_fields_have_defaults():
    assert Utterance().is_final is False
    assert Utterance.CONFIDENCE_UNKNOWN == -1.0


def test_a_late_joiner_gets_the_whole_of_a_long_session(make):
    """No message grows with the session, and yet nothing of it is lost to who comes late."""
    turns = WINDOW + 3
    said = [f"The bread should be cold, {n}" for n in range(1, turns + 1)]
    script = {
        "dialog": [f"Question number {n}?" for n in range(1, turns + 2)],
        "goal_manager": [json.dumps([BREAD, KNIFE, "tea made"]), *[all_fit] * 2 * turns],
        "executor": [json.dumps(["put Bread in Fridge"])] * turns,
    }
    with make(script, bread_scores(*said), max_turns=turns + 1) as run:
        for turn, words in enumerate(said, 1):
            run.turn(turn, words)
        run.wait_asked(turns + 1)
        assert max(len(t.turns) for t in run.probe.heard["transcript"]) == WINDOW
        heard = []
        TranscriptReader(run.probe.create_subscription, heard.append)
        run.wait(lambda: bool(heard), "the whole transcript")
        assert [turn.utterance for turn in heard[-1].turns] == said
        assert [r.step.label for t in heard[-1].turns for r in t.actions][:2] == [
            "pick up Bread",
            "put Bread in Fridge",
        ]
        folder = run.stack.nodes["monitor"].folder
        run.wait(lambda: run.stack.nodes["monitor"].has_recorded(turns), "the record")
    assert [turn["utterance"] for turn in recording.turns(folder)] == said
