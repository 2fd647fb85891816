"""Stand-ins for the voice detector and the recogniser, for tests alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from good_ros.speech.audio import RATE, Samples
from good_ros.speech.heard import Heard

LOUD = 0.05


class LoudnessDetector:
    """Takes for voice whatever is loud."""

    def probability(self, block: Samples) -> float:
        return float(np.abs(block).max() > LOUD)

    def reset(self) -> None:
        """Nothing is remembered."""


class ScriptedRecogniser:
    """Gives the script's entries to final segments in order; an exception is raised.

    Raises AssertionError where the script runs out. ``lengths`` are the segments' in seconds. A
    partial segment is 'partial' and its whole seconds.
    """

    model_name = "scripted"

    def __init__(self, script: Sequence[Heard | Exception]) -> None:
        self._script = list(script)
        self.lengths: list[float] = []

    def transcribe(self, samples: Samples, is_final: bool = True) -> Heard:
        seconds = len(samples) / RATE
        if not is_final:
            return Heard(f"partial {seconds:.0f}", 0.5, "en", is_final=False)
        self.lengths.append(seconds)
        if not self._script:
            raise AssertionError(f"nothing is scripted for a segment of {seconds:.1f} s")
        entry = self._script.pop(0)
        if isinstance(entry, Exception):
            raise entry
        return entry
