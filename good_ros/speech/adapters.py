"""What other packages' speech messages mean. The messages are read by their fields alone."""

from __future__ import annotations

import re
from typing import Any

from good_ros.speech.heard import UNKNOWN, Heard, words_of


def voice_of(topic: str, humans: str = "/humans") -> str | None:
    """The voice id of a topic ``<humans>/voices/<id>/speech`` (REP-155); None for any other."""
    pattern = re.escape(humans.rstrip("/")) + r"/voices/([^/]+)/speech"
    match = re.fullmatch(pattern, topic)
    return match[1] if match else None


def heard_live_speech(message: Any, voice: str) -> Heard | None:
    """``hri_msgs/LiveSpeech`` of one voice, final where ``final`` has words; None without any.

    A confidence of exactly 0 is what a front end leaves that gives none, and is taken as
    unknown. The id is made of the voice and the stamp, so that a message that is repeated is
    known as the same; without a stamp it stays empty.
    """
    final = words_of(message.final)
    text = final or words_of(message.incremental)
    if not text:
        return None
    confidence = float(message.confidence)
    stamp = _stamp(message)
    return Heard(
        text,
        confidence if 0.0 < confidence <= 1.0 else UNKNOWN,
        getattr(message, "locale", ""),  # Releases before 2023 have none.
        is_final=bool(final),
        utterance_id=f"{voice}-{stamp}" if stamp else "",
        speaker_id=voice,
    )


def heard_transcription(message: Any) -> Heard | None:
    """``whisper_msgs/Transcription``, which is final always and tells no confidence.

    It has no header; words that took the same time to the last bit are the same message again.
    """
    text = words_of(message.text)
    if not text:
        return None
    times = (float(message.audio_time), float(message.transcription_time))
    return Heard(text, utterance_id=f"whisper-{times[0]!r}-{times[1]!r}" if any(times) else "")


def _stamp(message: Any) -> str:
    """A message's time as text; empty where it is not set."""
    header = getattr(message, "header", None)
    # Older releases have a header of their own around the usual one.
    stamp = getattr(header, "stamp", None) or getattr(
        getattr(header, "header", None), "stamp", None
    )
    if stamp is None or not (stamp.sec or stamp.nanosec):
        return ""
    return f"{stamp.sec}.{stamp.nanosec:09}"
