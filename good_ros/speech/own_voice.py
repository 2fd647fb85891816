"""When the robot itself speaks, so that it does not hear itself."""

from __future__ import annotations


class OwnVoice:
    """Follows what is said of the robot's speaking; times in seconds of any steady clock.

    The room and the sound card hold a voice for a moment, so it counts ``tail_s`` longer than
    it is spoken.
    """

    def __init__(self, tail_s: float) -> None:
        self._tail_s = tail_s
        self._speaking = False
        self._until = float("-inf")

    def tell(self, speaking: bool, now: float) -> None:
        """The robot begins or ceases to speak."""
        if self._speaking and not speaking:
            self._until = now + self._tail_s
        self._speaking = speaking

    def sounds(self, now: float) -> bool:
        """Whether the robot's voice may be in what is heard now."""
        return self._speaking or now < self._until
