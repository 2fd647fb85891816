"""Sounds for tests: tones for voice, silence, and both in WAV files."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

from good_ros.speech.audio import RATE, Samples, silence


def tone(seconds: float, loudness: float = 0.5) -> Samples:
    """What the loudness detector takes for voice."""
    times = np.arange(int(seconds * RATE)) / RATE
    return (loudness * np.sin(2 * np.pi * 220 * times)).astype(np.float32)


def write_wav(path: Path, *sounds: Samples, rate: int = RATE) -> Path:
    """The sounds one after the other, as 16-bit WAV; the file appears whole."""
    samples = np.concatenate(sounds)
    scratch = path.with_suffix(".part")
    with wave.open(str(scratch), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((samples * 32767).astype("<i2").tobytes())
    scratch.replace(path)
    return path


def said(seconds: float) -> tuple[Samples, ...]:
    """An utterance of so many seconds with silence around it."""
    return silence(0.5), tone(seconds), silence(1.0)
