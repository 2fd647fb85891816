"""speech_adapters on a real graph.

The packages of the front ends' messages are not on the package index. Here a type that is there
stands in for them, so that discovery and passing on are real; what the fields mean is tested in
test/speech/test_heard.py.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, String

from good_ros.msg import Utterance
from good_ros.nodes.qos import LATCHED_STREAM, SPEECH_OUT
from good_ros.nodes.speech_adapters import Kind
from good_ros.nodes.stack import Stack, StackOptions
from good_ros.speech.adapters import voice_of
from good_ros.speech.heard import Heard

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]

WAIT_S = 30.0


def stand_in_kinds(humans, transcriptions):
    """std_msgs/String in place of LiveSpeech, and a package that is not there."""

    def reader(topic):
        voice = voice_of(topic, humans)
        return voice and (
            lambda m: Heard(m.data, 0.5, "en", True, f"{voice}-{m.data}", voice) if m.data else None
        )

    return (
        Kind("std_msgs", "String", reader),
        Kind("no_such_msgs", "Speech", lambda topic: pytest.fail("its package is not there")),
    )


@pytest.fixture
def run(ros_domain, monkeypatch):
    monkeypatch.setattr("good_ros.nodes.speech_adapters.kinds", stand_in_kinds)
    stack = Stack(
        StackOptions(
            nodes=("speech_adapters",),
            parameters={"speech_adapters": {"discovery_period_s": 0.05}},
        )
    )
    probe = Node("probe", context=stack.context)
    stack.add(probe)
    heard: list[Utterance] = []
    probe.create_subscription(Utterance, "utterance", heard.append, SPEECH_OUT)
    node = stack.nodes["speech_adapters"]

    def wait(condition, what):
        assert stack.spin(condition, WAIT_S), f"waited for {what}: {heard}"

    def voice(name, kind=String, qos=LATCHED_STREAM):
        return probe.create_publisher(kind, f"/humans/voices/{name}/speech", qos)

    def matched(publisher):
        """Both sides know of each other: before that a best-effort subscription misses words."""
        subscription = node.topics.get(publisher.topic_name)
        return (
            subscription is not None
            and subscription.get_publisher_count() == 1
            and publisher.get_subscription_count() == 1
        )

    stack.start()
    wait(lambda: node.utterance.get_subscription_count() == 1, "the match")
    yield SimpleNamespace(
        probe=probe, node=node, heard=heard, wait=wait, voice=voice, matched=matched
    )
    stack.close()


def test_every_voice_is_heard_also_those_that_come_later(run):
    first = run.voice("a")
    run.wait(lambda: run.matched(first), "voice a to be found")
    first.publish(String(data="hello"))
    run.wait(lambda: len(run.heard) == 1, "its words")
    second = run.voice("b")
    run.wait(lambda: run.matched(second), "voice b to be found")
    second.publish(String(data="me too"))
    first.publish(String(data=""))
    first.publish(String(data="again"))
    run.wait(lambda: len(run.heard) == 3, "more words")
    assert sorted((u.speaker_id, u.text, u.utterance_id) for u in run.heard) == [
        ("a", "again", "a-again"),
        ("a", "hello", "a-hello"),
        ("b", "me too", "b-me too"),
    ]
    assert all(u.is_final and u.locale == "en" and u.confidence == 0.5 for u in run.heard)
    assert "no_such_msgs/msg/Speech" in run.node.facts()["packages that are missing"]


def test_other_topics_and_types_are_left_alone_and_a_voice_that_goes_is_let_go(run):
    other = run.probe.create_publisher(String, "/humans/voices/a/name", LATCHED_STREAM)
    alien = run.voice("x", Bool)
    voice = run.voice("a")
    run.wait(lambda: run.matched(voice), "voice a to be found")
    assert other.get_subscription_count() == 0
    assert alien.get_subscription_count() == 0
    run.probe.destroy_publisher(voice)
    run.wait(lambda: not run.node.topics, "voice a to be let go")
    again = run.voice("a")
    run.wait(lambda: run.matched(again), "voice a to be found again")


@pytest.mark.parametrize("reliability", list(ReliabilityPolicy)[1:3])
@pytest.mark.parametrize("durability", list(DurabilityPolicy)[1:3])
def test_a_voice_of_any_quality_of_service_is_heard(run, reliability, durability):
    voice = run.voice("a", qos=QoSProfile(depth=5, reliability=reliability, durability=durability))
    run.wait(lambda: run.matched(voice), "the voice to be found")
    voice.publish(String(data="hello"))
    run.wait(lambda: bool(run.heard), "its words")


def test_an_inactive_node_passes_nothing_on_and_cleanup_lets_every_topic_go(run):
    voice = run.voice("a")
    run.wait(lambda: run.matched(voice), "voice a to be found")
    assert run.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    voice.publish(String(data="not now"))
    assert run.node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    run.wait(lambda: voice.get_subscription_count() == 0, "voice a to be let go")
    assert run.heard == []


def test_the_real_types_are_those_of_the_packages():
    from good_ros.nodes.speech_adapters import kinds

    live, whisper = kinds("/humans", "")
    assert (live.type_name, whisper.type_name) == (
        "hri_msgs/msg/LiveSpeech",
        "whisper_msgs/msg/Transcription",
    )
    assert live.reader("/humans/voices/a/speech") is not None
    assert live.reader("/speech") is None
    assert whisper.reader("/anything") is not None
    assert kinds("/humans", "/ours")[1].reader("/anything") is None
