"""The nodes with hri_msgs, whisper_msgs and audio_common_msgs, under their real names.

These packages are not on the package index. `make test-speech` builds stand-ins of them, with the
same types and fields (test/stand_ins); without them, or the real ones, these tests are skipped.
"""

from __future__ import annotations

import pytest
from rclpy.action import ActionClient, ActionServer
from rclpy.node import Node
from std_msgs.msg import Bool, Header

from good_ros.msg import Question, Utterance
from good_ros.nodes.qos import LATCHED_STREAM, SPEECH_OUT
from good_ros.nodes.stack import Stack, StackOptions

from ..speech.program import stand_in_program

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]

WAIT_S = 30.0
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path / "cache"))
    stacks = []

    def build(name, **parameters):
        stack = Stack(StackOptions(nodes=(name,), parameters={name: parameters}))
        stacks.append(stack)
        probe = Node("probe", context=stack.context)
        stack.add(probe)

        def wait(condition, what):
            assert stack.spin(condition, WAIT_S), f"waited {WAIT_S:g} s for {what}"

        return stack, probe, wait

    yield build
    for stack in stacks:
        stack.close()


def test_live_speech_and_whispers_transcriptions_become_utterances(make):
    hri = pytest.importorskip("hri_msgs.msg", exc_type=ImportError)
    whisper = pytest.importorskip("whisper_msgs.msg", exc_type=ImportError)
    stack, probe, wait = make("speech_adapters", discovery_period_s=0.05)
    heard: list[Utterance] = []
    probe.create_subscription(Utterance, "utterance", heard.append, SPEECH_OUT)
    stack.start()
    node = stack.nodes["speech_adapters"]
    wait(lambda: node.utterance.get_subscription_count() == 1, "the match")

    def publisher(kind, topic):
        result = probe.create_publisher(kind, topic, SPEECH_OUT)
        wait(lambda: topic in node.topics and node.topics[topic].get_publisher_count() == 1, topic)
        wait(lambda: result.get_subscription_count() == 1, topic)
        return result

    voice = publisher(hri.LiveSpeech, "/humans/voices/ann/speech")
    header = Header(stamp=probe.get_clock().now().to_msg())
    voice.publish(hri.LiveSpeech(header=header, incremental="put the"))
    final = hri.LiveSpeech(header=header, final="put the apple", confidence=0.1, locale="en_GB")
    voice.publish(final)
    voice.publish(final)
    wait(lambda: len(heard) == 3, "the words of the voice")
    assert [u.is_final for u in heard] == [False, True, True]
    assert heard[1].utterance_id == heard[2].utterance_id != ""
    assert (heard[1].speaker_id, heard[1].locale) == ("ann", "en_GB")
    assert heard[1].confidence == pytest.approx(0.1)
    text = publisher(whisper.Transcription, "/whisper/text")
    text.publish(whisper.Transcription(text=" In there.", audio_time=1.0, transcription_time=0.5))
    wait(lambda: len(heard) == 4, "whisper's words")
    assert (heard[3].text, heard[3].is_final, heard[3].confidence) == ("In there.", True, -1.0)


def test_the_tts_action_is_served_beside_the_questions(make, tmp_path):
    action = pytest.importorskip("audio_common_msgs.action", exc_type=ImportError)
    program = stand_in_program(tmp_path, 'tail -n 1 said | grep -q "" ; exit 0')
    stack, probe, wait = make("speech_out", program=str(program.path))
    client = ActionClient(probe, action.TTS, "say")
    stack.start()
    wait(client.server_is_ready, "the server")

    def call(text, language=""):
        sent = client.send_goal_async(action.TTS.Goal(text=text, language=language))
        wait(sent.done, "the goal to be taken")
        result = sent.result().get_result_async()
        wait(result.done, "the result")
        return result.result().status

    assert call("hello", "en") == SUCCEEDED
    assert call("guten Tag", "de") == SUCCEEDED
    assert call("") == ABORTED
    assert call("hello", "no language") == ABORTED
    assert program.said() == ["hello", "guten Tag"]
    assert [a[a.index("-v") + 1] for a in program.arguments()] == ["en-gb-x-rp", "de"]
    client.destroy()


def test_a_goal_that_is_cancelled_is_cut_off(make, tmp_path):
    action = pytest.importorskip("audio_common_msgs.action", exc_type=ImportError)
    program = stand_in_program(tmp_path, "exec sleep 600")
    stack, probe, wait = make("speech_out", program=str(program.path))
    client = ActionClient(probe, action.TTS, "say")
    stack.start()
    wait(client.server_is_ready, "the server")
    sent = client.send_goal_async(action.TTS.Goal(text="a long story"))
    wait(lambda: program.said() == ["a long story"], "the story to begin")
    handle = sent.result()
    handle.cancel_goal_async()
    result = handle.get_result_async()
    wait(result.done, "the result")
    assert result.result().status == CANCELED
    client.destroy()


def test_a_labs_own_tts_server_speaks_the_questions(make, tmp_path):
    action = pytest.importorskip("audio_common_msgs.action", exc_type=ImportError)
    stack, probe, wait = make("speech_out", engine="tts_action", tts_action="tts", language="en")
    said, speaking = [], []

    def speak(goal):
        said.append((goal.request.text, goal.request.language))
        if "fail" in goal.request.text:
            goal.abort()
        else:
            goal.succeed()
        return action.TTS.Result()

    questions = probe.create_publisher(Question, "question", LATCHED_STREAM)
    probe.create_subscription(Bool, "speaking", lambda m: speaking.append(m.data), LATCHED_STREAM)
    server = ActionServer(probe, action.TTS, "tts", execute_callback=speak)
    stack.start()
    node = stack.nodes["speech_out"]
    wait(lambda: node.client._client.server_is_ready(), "the lab's server")
    questions.publish(Question(session_id="s", turn=1, text="What now?", expects_reply=True))
    wait(lambda: speaking == [False, True, False], "the question's end")
    questions.publish(Question(session_id="s", turn=2, text="Will it fail?", expects_reply=True))
    wait(lambda: "its server could not" in node.problem(), "the failure to be told")
    assert said == [("What now?", "en"), ("Will it fail?", "en")]
    server.destroy()
