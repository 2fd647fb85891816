"""The transcript over its two topics: its last turns, and the blocks before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from good_ros import msg
from good_ros.core.dialog import Transcript
from good_ros.nodes.convert import transcript_from_msg, transcript_to_msg
from good_ros.nodes.qos import LATCHED, LATCHED_BLOCKS, LATCHED_STREAM
from good_ros.turns.window import WholeTranscript, block, blocks_of, window

if TYPE_CHECKING:
    from good_ros.nodes.base import GoodNode

TOPIC = "transcript"
PAST_TOPIC = "transcript_past"


class TranscriptPublisher:
    """Publishes a session's transcript for ``node``; what was published before is not again."""

    def __init__(self, node: GoodNode) -> None:
        self._node = node
        self._shown = node.publisher(msg.Transcript, TOPIC, LATCHED)
        self._past = node.publisher(msg.Transcript, PAST_TOPIC, LATCHED_BLOCKS)
        self._session_id = ""
        self._blocks = 0

    def publish(self, transcript: Transcript) -> None:
        if transcript.session_id != self._session_id:
            self._session_id, self._blocks = transcript.session_id, 0
        while self._blocks < blocks_of(transcript.turn):
            self._blocks += 1
            past = block(transcript, self._blocks)
            self._past.publish(transcript_to_msg(past, self._node.header()))
        self._shown.publish(transcript_to_msg(window(transcript), self._node.header()))


class TranscriptReader:
    """Calls ``hear`` with the whole transcript whenever it has changed.

    ``subscribe`` makes a subscription from message type, topic, callback and quality of service:
    ``listen`` of a GoodNode, or ``create_subscription``.
    """

    def __init__(self, subscribe: Callable[..., Any], hear: Callable[[Transcript], None]) -> None:
        self._whole = WholeTranscript()
        self._hear = hear
        subscribe(msg.Transcript, PAST_TOPIC, self._on_block, LATCHED_BLOCKS)
        subscribe(msg.Transcript, TOPIC, self._on_window, LATCHED_STREAM)

    def _on_window(self, message: msg.Transcript) -> None:
        self._tell(self._whole.hear(transcript_from_msg(message)))

    def _on_block(self, message: msg.Transcript) -> None:
        self._tell(self._whole.hear_block(transcript_from_msg(message)))

    def _tell(self, transcript: Transcript | None) -> None:
        if transcript is not None:
            self._hear(transcript)
