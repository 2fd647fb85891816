"""Front ends of any quality of service are heard by dialog, on `utterance` too."""

from __future__ import annotations

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from good_ros.msg import Utterance

from .harness import SAID, ScriptedStack

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]


@pytest.mark.parametrize("reliability", list(ReliabilityPolicy)[1:3])
@pytest.mark.parametrize("durability", list(DurabilityPolicy)[1:3])
def test_utterances_of_any_quality_of_service_are_heard_once(
    ros_domain, monkeypatch, tmp_path, reliability, durability
):
    script = {"dialog": ["What should I move?"]}
    with ScriptedStack(monkeypatch, tmp_path, script, {}, nodes=("dialog",)) as run:
        run.wait_asked(1)
        qos = QoSProfile(depth=10, reliability=reliability, durability=durability)
        publisher = run.probe.create_publisher(Utterance, "utterance", qos)
        run.wait(lambda: publisher.get_subscription_count() == 1, "the match with dialog")

        def heard() -> bool:
            # dialog may know of the publisher a little later, so it is said until it is heard;
            # the id makes that harmless.
            publisher.publish(
                Utterance(utterance_id="one", text=SAID, confidence=0.9, is_final=True)
            )
            transcript = run.probe.last("transcript")
            return bool(transcript and transcript.turns)

        run.wait(heard, "the utterance in the transcript")
        assert [t.utterance for t in run.probe.last("transcript").turns] == [SAID]
