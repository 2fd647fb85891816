"""MCAP files with ROS 2 schemas: of a running session, or of one that was recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from std_msgs.msg import Float32
from visualization_msgs.msg import MarkerArray

from good_ros import recording
from good_ros.core.errors import GoodError, InputError
from good_ros.msg import Utterance
from good_ros.nodes.convert import dict_to_message
from good_ros.nodes.definitions import definition, type_name
from good_ros.nodes.qos import LATCHED_STREAM, MARKERS, SPEECH_IN
from good_ros.nodes.topics import STREAM_TOPICS

OTHER_TOPICS: Mapping[str, tuple[Any, QoSProfile]] = {
    "utterance": (Utterance, SPEECH_IN),
    "belief_markers": (MarkerArray, MARKERS),
    "belief_entropy": (Float32, LATCHED_STREAM),
    "belief_top": (Float32, LATCHED_STREAM),
}
FOREVER = {"sec": 2147483647, "nsec": 4294967295}
CHUNK = 64 * 1024
"""Bytes: little is lost where a recording is killed."""


class BagWriter:
    """Writes a folder as rosbag2 does: an MCAP file, and on ``close`` a metadata.yaml.

    Raises InputError where the folder is there already, and GoodError without the library.
    """

    def __init__(self, folder: Path) -> None:
        try:
            from mcap.writer import Writer
        except ImportError as error:
            raise GoodError("MCAP files need the library mcap: pip install mcap") from error
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise InputError(
                f"{folder} cannot be made ({error.strerror or error}): name a folder that is not "
                "there yet"
            ) from error
        self.folder = folder
        self.path = folder / f"{folder.name}_0.mcap"
        self._writer = Writer(str(self.path), chunk_size=CHUNK)
        self._writer.start(profile="ros2", library="good_ros")
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._topics: dict[str, dict[str, Any]] = {}
        self.counts: dict[str, int] = {}
        self._span: tuple[int, int] | None = None

    def write(
        self, topic: str, message_type: Any, content: bytes, stamp_ns: int, latched: bool = True
    ) -> None:
        """Append one message as CDR; ``stamp_ns``: nanoseconds since the epoch."""
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._open(topic, message_type, latched)
        count = self.counts[topic] = self.counts.get(topic, 0) + 1
        self._writer.add_message(
            channel, log_time=stamp_ns, data=content, publish_time=stamp_ns, sequence=count
        )
        low, high = self._span or (stamp_ns, stamp_ns)
        self._span = min(low, stamp_ns), max(high, stamp_ns)

    def _open(self, topic: str, message_type: Any, latched: bool) -> int:
        name = type_name(message_type)
        if name not in self._schemas:
            self._schemas[name] = self._writer.register_schema(
                name, "ros2msg", definition(message_type).encode()
            )
        qos = yaml.safe_dump([_offered_qos(latched)], sort_keys=False)
        self._topics[topic] = {
            "name": topic,
            "type": name,
            "serialization_format": "cdr",
            "offered_qos_profiles": qos,
        }
        channel: int = self._writer.register_channel(
            topic, "cdr", self._schemas[name], {"offered_qos_profiles": qos}
        )
        self._channels[topic] = channel
        return channel

    def close(self) -> None:
        self._writer.finish()
        low, high = self._span or (0, 0)
        start = {"nanoseconds_since_epoch": low}
        duration = {"nanoseconds": high - low}
        total = sum(self.counts.values())
        about = {
            "version": 5,
            "storage_identifier": "mcap",
            "relative_file_paths": [self.path.name],
            "duration": duration,
            "starting_time": start,
            "message_count": total,
            "topics_with_message_count": [
                {"topic_metadata": topic, "message_count": self.counts[name]}
                for name, topic in self._topics.items()
            ],
            "compression_format": "",
            "compression_mode": "",
            "files": [
                {
                    "path": self.path.name,
                    "starting_time": dict(start),
                    "duration": dict(duration),
                    "message_count": total,
                }
            ],
        }
        (self.folder / "metadata.yaml").write_text(
            yaml.safe_dump({"rosbag2_bagfile_information": about}, sort_keys=False)
        )


def _offered_qos(latched: bool) -> dict[str, Any]:
    """As rosbag2 writes a profile: keep last 1 and reliable, transient local where latched."""
    return {
        "history": 1,
        "depth": 1,
        "reliability": 1,
        "durability": 1 if latched else 2,
        "deadline": dict(FOREVER),
        "lifespan": dict(FOREVER),
        "liveliness": 1,
        "liveliness_lease_duration": dict(FOREVER),
        "avoid_ros_namespace_conventions": False,
    }


class RecordNode(Node):
    """Writes what is published in its namespace to a bag, byte for byte."""

    def __init__(self, bag: BagWriter, **node_arguments: Any) -> None:
        super().__init__("record", **node_arguments)
        self.bag = bag
        self.count = 0
        topics = {t: (kind, LATCHED_STREAM) for t, kind in STREAM_TOPICS.values()}
        for topic, (kind, qos) in {**topics, **OTHER_TOPICS}.items():
            latched = qos.durability is DurabilityPolicy.TRANSIENT_LOCAL
            name = self.resolve_topic_name(topic)
            self.create_subscription(
                kind, topic, partial(self._write, name, kind, latched), qos, raw=True
            )

    def _write(self, topic: str, kind: Any, latched: bool, content: bytes) -> None:
        self.bag.write(topic, kind, bytes(content), time.time_ns(), latched)
        self.count += 1


def convert_session(session: Path, bag: BagWriter, namespace: str = "") -> None:
    """Write the messages of a recorded session to ``bag``, with the times of the record."""
    prefix = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    for kind, line in recording.read_all(session):
        topic, message_type = STREAM_TOPICS[kind]
        message = dict_to_message(message_type, line)
        stamp = round(float(line["time"]) * 1e9)
        bag.write(f"{prefix}/{topic}", message_type, serialize_message(message), stamp)
