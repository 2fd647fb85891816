"""speech_in on a real graph: sound files, a scripted recogniser and voice detector."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool

from good_ros.core.errors import SpeechError
from good_ros.msg import Question, Utterance
from good_ros.nodes.qos import LATCHED, LATCHED_STREAM
from good_ros.nodes.stack import Stack, StackOptions
from good_ros.speech.heard import Heard
from good_ros.speech.scripted import LoudnessDetector, ScriptedRecogniser

from ..speech.sounds import said, write_wav

pytestmark = [
    pytest.mark.ros,
    pytest.mark.timeout(120),
    pytest.mark.skipif(
        find_spec("faster_whisper") is None, reason="faster-whisper is not installed: make speech"
    ),
]

WAIT_S = 30.0
STREAM = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    """Makes a running speech_in that hears the folder ``run.folder``, and a probe beside it."""
    folder = tmp_path / "sounds"
    folder.mkdir()
    stacks = []

    def build(script, start=True, **parameters):
        recogniser = ScriptedRecogniser(script)
        monkeypatch.setattr("good_ros.nodes.speech_in.make_recogniser", lambda *_: recogniser)
        monkeypatch.setattr("good_ros.nodes.speech_in.make_detector", LoudnessDetector)
        values = {"sound_folder": str(folder), "partial_every_s": 0.0, **parameters}
        stack = Stack(StackOptions(nodes=("speech_in",), parameters={"speech_in": values}))
        stacks.append(stack)
        probe = Node("probe", context=stack.context)
        stack.add(probe)
        heard: list[Utterance] = []
        probe.create_subscription(Utterance, "utterance", heard.append, STREAM)
        run = SimpleNamespace(
            folder=folder,
            stack=stack,
            probe=probe,
            heard=heard,
            recogniser=recogniser,
            node=stack.nodes["speech_in"],
        )

        def wait(condition, what):
            assert stack.spin(condition, WAIT_S), f"waited {WAIT_S:g} s for {what}: {heard}"

        run.wait = wait
        if start:
            stack.start()
            wait(lambda: run.node.utterance.get_subscription_count() == 1, "the match")
        return run

    yield build
    for stack in stacks:
        stack.close()


def test_a_final_utterance_has_all_its_fields(make):
    run = make([Heard("Put it there.", 0.75, "en")], speaker_id="ann")
    write_wav(run.folder / "a.wav", *said(1.0))
    run.wait(lambda: bool(run.heard), "the utterance")
    (heard,) = run.heard
    assert (heard.text, heard.is_final, heard.locale) == ("Put it there.", True, "en")
    assert heard.confidence == pytest.approx(0.75)
    assert (heard.speaker_id, heard.header.stamp.sec > 0) == ("ann", True)
    assert heard.utterance_id.endswith("-1-a")


def test_partial_results_come_before_the_final_one_and_share_its_id(make, monkeypatch):
    run = make([Heard("All of it.", 0.9, "en")], partial_every_s=1.0)
    # A file is read much faster than it sounds; here the end of it waits for a partial result.
    take, ends = run.node.on_segment, []
    monkeypatch.setattr(
        run.node,
        "on_segment",
        lambda segment, *which: (
            ends.append((segment, *which)) if segment.is_final else take(segment, *which)
        ),
    )
    write_wav(run.folder / "a.wav", *said(3.5))
    run.wait(lambda: bool(run.heard and ends), "a partial result")
    take(*ends[0])
    run.wait(lambda: any(u.is_final for u in run.heard), "the final utterance")
    assert [u.is_final for u in run.heard] == [False] * (len(run.heard) - 1) + [True]
    assert run.heard[0].text.startswith("partial")
    assert len({u.utterance_id for u in run.heard}) == 1


def test_every_utterance_has_an_id_of_its_own_also_after_a_new_activation(make):
    run = make([Heard(f"number {n}", 0.9, "en") for n in range(3)])
    write_wav(run.folder / "a.wav", *said(0.5), *said(0.5))
    run.wait(lambda: len(run.heard) == 2, "two utterances")
    assert run.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    write_wav(run.folder / "b.wav", *said(0.5))
    assert run.node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    run.wait(lambda: len(run.heard) == 3, "the third utterance")
    assert [u.text for u in run.heard] == ["number 0", "number 1", "number 2"]
    assert len({u.utterance_id for u in run.heard}) == 3


def test_a_sound_without_words_and_one_that_fails_publish_nothing_and_the_next_counts(make):
    run = make([Heard("", 0.0), SpeechError("too much noise"), Heard("Here I am.", 0.9)])
    write_wav(run.folder / "a.wav", *said(0.5), *said(0.5), *said(0.5))
    run.wait(lambda: bool(run.heard), "the utterance")
    assert [u.text for u in run.heard] == ["Here I am."]


def test_while_the_robot_speaks_nothing_is_heard(make):
    run = make([Heard("after", 0.9)], own_voice_tail_s=0.0)
    speaking = run.probe.create_publisher(Bool, "speaking", LATCHED)
    speaking.publish(Bool(data=True))
    run.wait(lambda: run.node.own_voice.sounds(0.0), "the word that the robot speaks")
    write_wav(run.folder / "a.wav", *said(0.5))
    run.wait(lambda: run.node.source.label == "a", "the file to be opened")
    assert not run.heard
    speaking.publish(Bool(data=False))
    run.wait(lambda: bool(run.heard), "the utterance after it")


def test_a_voice_that_dies_while_it_speaks_does_not_leave_the_robot_deaf(make, monkeypatch):
    monkeypatch.setattr("good_ros.nodes.speech_in.WATCH_S", 0.05)
    run = make([Heard("after", 0.9)])
    speaking = run.probe.create_publisher(Bool, "speaking", LATCHED)
    speaking.publish(Bool(data=True))
    run.wait(lambda: run.node.own_voice.sounds(0.0), "the word that the robot speaks")
    run.probe.destroy_publisher(speaking)
    write_wav(run.folder / "a.wav", *said(0.5))
    run.wait(lambda: bool(run.heard), "the utterance")


def test_a_file_is_heard_for_each_question_that_expects_a_reply(make):
    run = make([Heard("one", 0.9), Heard("two", 0.9)], sound_pace="question")
    for name in ("a", "b"):
        write_wav(run.folder / f"{name}.wav", *said(0.5))
    questions = run.probe.create_publisher(Question, "question", LATCHED_STREAM)
    first = Question(session_id="s", turn=1, text="What?", expects_reply=True)
    questions.publish(first)
    run.wait(lambda: len(run.heard) == 1, "the answer to the first question")
    questions.publish(first)  # Again the same; and one that expects no reply.
    questions.publish(Question(session_id="s", turn=2, text="I see.", expects_reply=False))
    questions.publish(Question(session_id="s", turn=2, text="And then?", expects_reply=True))
    run.wait(lambda: len(run.heard) == 2, "the answer to the second question")
    assert [u.text for u in run.heard] == ["one", "two"]


def test_a_source_that_is_lost_is_opened_again(make, monkeypatch):
    monkeypatch.setattr("good_ros.nodes.speech_in.REOPEN_S", 0.1)
    run = make([Heard("there again", 0.9)])
    run.node.on_lost(SpeechError("the cable is out"))
    assert run.node.problem() == "the cable is out"
    run.wait(lambda: not run.node.problem(), "the source to be opened again")
    write_wav(run.folder / "a.wav", *said(0.5))
    run.wait(lambda: bool(run.heard), "the utterance")


def test_a_folder_that_is_opened_again_is_not_heard_twice(make, monkeypatch):
    monkeypatch.setattr("good_ros.nodes.speech_in.REOPEN_S", 0.1)
    run = make([Heard("one", 0.9), Heard("two", 0.9)])
    write_wav(run.folder / "a.wav", *said(0.5))
    run.wait(lambda: len(run.heard) == 1, "the first utterance")
    run.node.on_lost(SpeechError("the disk is away"))
    run.wait(lambda: not run.node.problem(), "the source to be opened again")
    write_wav(run.folder / "b.wav", *said(0.5))
    run.wait(lambda: len(run.heard) == 2, "the second utterance")
    assert [u.utterance_id.rpartition("-")[2] for u in run.heard] == ["a", "b"]


def test_a_question_that_is_asked_again_is_answered_again(make):
    run = make([Heard("one", 0.1), Heard("two", 0.9)], sound_pace="question")
    for name in ("a", "b"):
        write_wav(run.folder / f"{name}.wav", *said(0.5))
    questions = run.probe.create_publisher(Question, "question", LATCHED_STREAM)
    again = Question(session_id="s", turn=1, text="Could you say it again?", expects_reply=True)
    for seconds in (1, 2):
        again.header.stamp.sec = seconds
        questions.publish(again)
        run.wait(lambda seconds=seconds: len(run.heard) == seconds, "the answer")
    assert [u.text for u in run.heard] == ["one", "two"]


def test_a_missing_model_is_refused_in_one_line_and_the_node_can_be_configured_later(
    ros_domain, monkeypatch, tmp_path
):
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path))
    stack = Stack(
        StackOptions(
            nodes=("speech_in",), parameters={"speech_in": {"sound_folder": str(tmp_path)}}
        )
    )
    try:
        node = stack.nodes["speech_in"]
        assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
        assert "good model pull speech" in node.failure
        assert "\n" not in node.failure
        monkeypatch.setattr(
            "good_ros.nodes.speech_in.make_recogniser", lambda *_: ScriptedRecogniser([])
        )
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    finally:
        stack.close()
