"""Reads a source in a thread of its own and hands over the segments of speech in it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from good_ros.core.errors import SpeechError
from good_ros.speech.segmenter import Segment, Segmenter
from good_ros.speech.sources import AudioSource

WAIT_S = 0.05


class Listener:
    """``take(segment, label)`` gets each segment, ``lost(error)`` the end of the source.

    Both are called in the listener's thread. While ``deaf()`` holds, the sound of a live source
    is dropped, with what was under way, and another source waits.
    """

    def __init__(
        self,
        source: AudioSource,
        segmenter: Segmenter,
        deaf: Callable[[], bool],
        take: Callable[[Segment, str], object],
        lost: Callable[[SpeechError], object],
    ) -> None:
        self._source = source
        self._segmenter = segmenter
        self._deaf = deaf
        self._take = take
        self._lost = lost
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self._thread.start()

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop; what is under way is dropped."""
        self._stop.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            self._read()
        except Exception as error:
            # Drivers and detectors fail in ways of their own; to be deaf in silence is the worst.
            told = error if isinstance(error, SpeechError) else SpeechError(f"{error!r}")
            if not self._stop.is_set():
                self._lost(told)

    def _read(self) -> None:
        deaf = False
        for block in self._source.blocks(self._stop):
            while not self._source.live and self._deaf() and not self._stop.is_set():
                self._stop.wait(WAIT_S)
            if self._stop.is_set():
                return
            if block is None:
                self._hand_over(self._segmenter.flush())
                continue
            if self._deaf():
                if not deaf:
                    self._segmenter.reset()
                deaf = True
                continue
            deaf = False
            self._hand_over(self._segmenter.feed(block))

    def _hand_over(self, segment: Segment | None) -> None:
        if segment is not None:
            self._take(segment, self._source.label)
