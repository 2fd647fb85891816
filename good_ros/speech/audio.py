"""How sound is held: 16 kHz mono, 32-bit floats in -1 to 1, in blocks of BLOCK samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from good_ros.core.errors import SpeechError

RATE = 16_000
"""Samples a second, which the voice detector and the recogniser take."""
BLOCK = 512
"""Samples of a block, 32 ms: the voice detector's own window."""
INSTALL = "run `scripts/setup.sh speech`, or pip install 'good_ros[speech]'"

Samples = npt.NDArray[np.float32]
"""Sound of shape [samples]."""


def read_file(path: Path) -> Samples:
    """A sound file of any format and rate. Raises SpeechError where it cannot be read."""
    try:
        from faster_whisper.audio import decode_audio
    except ImportError as error:
        raise SpeechError(f"faster-whisper is not there ({error}): {INSTALL}") from error
    try:
        samples: Samples = decode_audio(str(path), sampling_rate=RATE)
    except Exception as error:
        # The decoder raises whatever FFmpeg says, which has a class for each of its errors.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SpeechError(f"{path} is no sound file that can be read: {reason}") from error
    return samples


def blocks_of(samples: Samples) -> Iterator[Samples]:
    """``samples`` in blocks; the last one is filled up with silence."""
    for start in range(0, len(samples), BLOCK):
        block = samples[start : start + BLOCK]
        yield block if len(block) == BLOCK else np.pad(block, (0, BLOCK - len(block)))


def silence(seconds: float) -> Samples:
    """So many seconds of silence."""
    return np.zeros(int(seconds * RATE), np.float32)
