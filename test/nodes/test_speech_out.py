"""speech_out on a real graph, with a stand-in for the espeak-ng program."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from std_msgs.msg import Bool, String

from good_ros.msg import Question
from good_ros.nodes.qos import LATCHED, LATCHED_STREAM, SPEECH_OUT
from good_ros.nodes.stack import Stack, StackOptions

from ..speech.program import stand_in_program

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]

WAIT_S = 30.0


def question(turn=1, text="What shall I do?", session="s1", expects_reply=True, asked=0):
    result = Question(session_id=session, turn=turn, text=text, expects_reply=expects_reply)
    result.header.stamp.sec = asked
    return result


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    """Makes a running speech_out and a probe beside it; ``then`` is what the program does.

    ``standing`` are questions that were asked before the node is started.
    """
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path / "cache"))
    stacks = []

    def build(then="exit 0", standing=(), **parameters):
        program = stand_in_program(tmp_path, then)
        values = {"program": str(program.path), **parameters}
        stack = Stack(StackOptions(nodes=("speech_out",), parameters={"speech_out": values}))
        stacks.append(stack)
        probe = Node("probe", context=stack.context)
        stack.add(probe)
        run = SimpleNamespace(
            stack=stack,
            program=program,
            node=stack.nodes["speech_out"],
            questions=probe.create_publisher(Question, "question", LATCHED),
            say=probe.create_publisher(String, "say", SPEECH_OUT),
            speaking=[],
            probe=probe,
        )
        probe.create_subscription(
            Bool, "speaking", lambda m: run.speaking.append(m.data), LATCHED_STREAM
        )

        def wait(condition, what):
            said, speaking = program.said(), run.speaking
            assert stack.spin(condition, WAIT_S), f"waited for {what}: {said}, {speaking}"

        run.wait = wait
        run.ask = lambda *args, **more: run.questions.publish(question(*args, **more))
        for message in standing:
            run.questions.publish(message)
        stack.start()
        if parameters.get("speak_questions", True):
            wait(lambda: run.questions.get_subscription_count() == 1, "the match")
        return run

    yield build
    for stack in stacks:
        if stack.context.ok():
            stack.close()


def test_each_question_is_spoken_once_and_speaking_tells_when(make):
    run = make()
    run.ask(1)
    run.wait(lambda: run.speaking == [False, True, False], "the first question's end")
    run.ask(1)
    run.ask(2, "And now?")
    run.wait(lambda: run.speaking[3:] == [True, False], "the second question's end")
    assert run.program.said() == ["What shall I do?", "And now?"]


def test_what_is_said_a_second_time_in_a_turn_is_spoken_a_second_time(make):
    run = make()
    for asked in (1, 2):
        run.ask(1, "Could you say it again?", asked=asked)
        run.wait(lambda asked=asked: len(run.program.said()) == asked, "it to be spoken")


def test_a_node_that_starts_late_speaks_the_standing_question_and_one_that_starts_again_not(make):
    first = make(standing=[question()])
    first.wait(lambda: first.program.said() == ["What shall I do?"], "the question")
    first.wait(lambda: first.node.pending == 0, "its end")
    first.stack.close()
    again = make(standing=[question()])
    again.wait(lambda: again.speaking == [False], "the node to be active")
    again.questions.publish(question(2, "And now?"))
    again.wait(lambda: len(again.program.said()) == 2, "the next question")
    assert again.program.said() == ["What shall I do?", "And now?"]


def test_a_question_that_came_while_the_node_was_inactive_is_spoken_once_it_is_active(make):
    run = make()
    assert run.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    run.ask(1)
    run.wait(lambda: run.node.standing is not None, "the question to be heard")
    assert run.program.said() == []
    assert run.node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    run.wait(lambda: len(run.program.said()) == 1, "the question to be spoken")


def test_what_others_want_said_is_said_one_after_the_other(make):
    run = make(speak_questions=False)
    run.wait(lambda: run.say.get_subscription_count() == 1, "the match")
    for text in ("one", "", "x" * 2001, "two"):
        run.say.publish(String(data=text))
    run.wait(lambda: run.speaking[-1:] == [False] and len(run.program.said()) == 2, "both")
    assert run.program.said() == ["one", "two"]


def test_without_the_program_the_node_stays_up_with_one_clear_line(make, capfd, tmp_path):
    run = make(program=str(tmp_path / "later" / "espeak-ng"))
    run.ask(1)
    run.ask(2, "And now?")
    run.wait(lambda: run.speaking[-1:] == [False] and len(run.speaking) >= 3, "both to fail")
    run.wait(lambda: run.node.pending == 0, "both to fail")
    assert "apt-get install -y espeak-ng" in run.node.problem()
    told = [line for line in capfd.readouterr().err.splitlines() if "nothing is spoken" in line]
    assert len(told) == 1
    # It is looked for again, so that a later installation is enough.
    (tmp_path / "later").mkdir()
    program = stand_in_program(tmp_path / "later")
    program.path.rename(tmp_path / "later" / "espeak-ng")
    run.ask(3, "Are you there?")
    run.wait(lambda: program.said() == ["Are you there?"], "the third question")
    run.wait(lambda: not run.node.problem(), "the problem to be over")


def test_deactivation_cuts_it_off(make):
    run = make("exec sleep 600")
    run.ask(1)
    run.wait(lambda: run.program.said() == ["What shall I do?"], "the question to begin")
    assert run.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    run.wait(lambda: run.speaking[-1] is False, "the word that it is over")
    run.wait(lambda: not run.node.worker.busy, "the program to be gone")


def test_with_the_topic_as_engine_the_questions_go_to_say(make):
    run = make(engine="topic")
    said = []
    run.probe.create_subscription(String, "say", lambda m: said.append(m.data), SPEECH_OUT)
    run.wait(lambda: run.node.say.get_subscription_count() == 1, "the match")
    run.ask(1)
    run.wait(lambda: bool(said), "the text")
    assert said == ["What shall I do?"]
    assert run.program.said() == []
    assert run.speaking == []


def test_without_its_package_the_action_is_refused_as_engine(make):
    from good_ros.nodes.speech_action import tts_action

    if tts_action() is not None:
        pytest.skip("audio_common_msgs is there")
    stack = Stack(
        StackOptions(nodes=("speech_out",), parameters={"speech_out": {"engine": "tts_action"}})
    )
    try:
        node = stack.nodes["speech_out"]
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        assert "audio_common_msgs is not there" in node.failure
    finally:
        stack.close()
