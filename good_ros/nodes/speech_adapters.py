"""The speech_adapters node: passes on what other speech front ends publish, as ``utterance``.

Each kind is there where its message package is: ``hri_msgs/LiveSpeech`` of every voice under
``/humans/voices`` and ``whisper_msgs/Transcription`` on any topic. Topics that come later are
found as they come. (``std_msgs/String`` on ``speech_text`` dialog hears by itself.)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

from good_ros.msg import Utterance
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.parameters import Parameter
from good_ros.nodes.qos import SPEECH_IN, SPEECH_OUT
from good_ros.speech.adapters import heard_live_speech, heard_transcription, voice_of
from good_ros.speech.heard import Heard

Read = Callable[[Any], Heard | None]


@dataclass(frozen=True)
class Kind:
    """A message type of another package, and how to read one that comes on a topic.

    ``reader`` gives, for a topic's full name, what reads its messages; None for a topic that is
    not a front end's.
    """

    package: str
    message: str
    reader: Callable[[str], Read | None]

    @property
    def type_name(self) -> str:
        return f"{self.package}/msg/{self.message}"

    def load(self) -> Any:
        """The message's class, or None where its package is not there."""
        try:
            return getattr(importlib.import_module(f"{self.package}.msg"), self.message)
        except (ImportError, AttributeError):
            return None


def kinds(humans: str, transcriptions: str) -> tuple[Kind, ...]:
    """The kinds that are known; ``transcriptions`` is a topic's full name, or empty for any."""

    def live_speech(topic: str) -> Read | None:
        voice = voice_of(topic, humans)
        return None if voice is None else partial(heard_live_speech, voice=voice)

    def transcription(topic: str) -> Read | None:
        return heard_transcription if transcriptions in ("", topic) else None

    return (
        Kind("hri_msgs", "LiveSpeech", live_speech),
        Kind("whisper_msgs", "Transcription", transcription),
    )


class SpeechAdaptersNode(GoodNode):
    """Finds the topics of other front ends, and passes on what they hear."""

    NAME = "speech_adapters"
    PARAMETERS = (
        Parameter("humans", "/humans", "Where the voices of REP-155 are: <this>/voices/<id>."),
        Parameter(
            "transcription_topic",
            "",
            "The one topic of whisper_msgs/Transcription that is heard; empty for every one.",
        ),
        Parameter(
            "discovery_period_s", 0.2, "Seconds between two looks for new topics.", 0.05, 10.0
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.utterance = self.publisher(Utterance, "utterance", SPEECH_OUT)
        self.kinds: list[tuple[Kind, Any]] = []
        self.missing: list[str] = []
        for kind in kinds(values.humans, values.transcription_topic):
            message_type = kind.load()
            if message_type is None:
                self.missing.append(kind.type_name)
            else:
                self.kinds.append((kind, message_type))
        if self.missing:
            self.get_logger().info(f"not there, so not heard: {', '.join(self.missing)}")
        self.topics: dict[str, Any] = {}
        """Topics that are heard, with their subscriptions."""
        timer = self.create_timer(values.discovery_period_s, self.discover)
        self.at_cleanup(lambda: self.destroy_timer(timer))

    def teardown(self) -> None:
        for subscription in getattr(self, "topics", {}).values():
            self.destroy_subscription(subscription)
        self.topics = {}

    def facts(self) -> Mapping[str, str]:
        return {
            "topics": ", ".join(sorted(self.topics)) or "none yet",
            "packages that are missing": ", ".join(self.missing) or "none",
        }

    def discover(self) -> None:
        """Hear the topics that have come, and let go of those whose publishers have gone."""
        for topic in [t for t in self.topics if not self.count_publishers(t)]:
            self.destroy_subscription(self.topics.pop(topic))
        there = dict(self.get_topic_names_and_types())
        for kind, message_type in self.kinds:
            for topic, types in there.items():
                if topic in self.topics or kind.type_name not in types:
                    continue
                read = kind.reader(topic)
                if read is not None and self.count_publishers(topic):
                    self.topics[topic] = self.create_subscription(
                        message_type, topic, partial(self.on_message, topic, read), SPEECH_IN
                    )
                    self.get_logger().info(f"{topic} is heard")

    def on_message(self, topic: str, read: Read, message: Any) -> None:
        heard = read(message)
        if heard is None or not self.active:
            return
        self.utterance.publish(
            Utterance(
                header=self.header(),
                utterance_id=heard.utterance_id,
                speaker_id=heard.speaker_id,
                text=heard.text,
                confidence=heard.confidence,
                locale=heard.locale,
                is_final=heard.is_final,
            )
        )


def main() -> int:
    return run(SpeechAdaptersNode)


if __name__ == "__main__":
    raise SystemExit(main())
