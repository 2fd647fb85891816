"""Where sound comes from: a microphone, or a folder of sound files."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from good_ros.core.errors import SpeechError
from good_ros.speech.audio import BLOCK, RATE, Samples, blocks_of, read_file, silence

FILE_KINDS = (".wav", ".flac", ".ogg", ".mp3")
POLL_S = 0.1
QUIET_S = 5.0
"""A microphone that gives no sound at all for so long is gone."""
HELD_BLOCKS = 1000
"""Blocks of a microphone that wait for the recogniser, about 32 s; then the oldest go."""
AFTER_FILE_S = 1.0
"""Silence after each file."""


class AudioSource(Protocol):
    """Gives sound in blocks of BLOCK samples.

    ``live`` tells whether sound that is not taken is lost. ``label`` names the sound that the
    last block was of; empty where it has no name.
    """

    live: bool
    label: str

    def check(self) -> None:
        """Raise SpeechError where the source is not there (any more)."""

    def blocks(self, stop: threading.Event) -> Iterator[Samples | None]:
        """Blocks until ``stop``; None where what follows does not go on from what was before.

        Raises SpeechError where the source is lost.
        """


class SoundFolder:
    """The sound files of a folder in the order of their names, each once, and those to come.

    A file that cannot be read is told of through ``warn`` and passed over. With ``waits`` each
    file needs a ``permit``.
    """

    live = False

    def __init__(self, folder: Path, warn: Callable[[str], object], waits: bool = False) -> None:
        self.label = ""
        self._folder = folder
        self._warn = warn
        self._permits = threading.Semaphore(0) if waits else None
        self._played: set[str] = set()
        self._seen: dict[str, tuple[int, int]] = {}
        self.check()

    def check(self) -> None:
        if not self._folder.is_dir():
            raise SpeechError(f"there is no folder {self._folder} to read sound files from")

    def permit(self) -> None:
        """Let one more file be played."""
        if self._permits is not None:
            self._permits.release()

    def blocks(self, stop: threading.Event) -> Iterator[Samples | None]:
        while not stop.is_set():
            try:
                path = self._next()
            except OSError as error:
                raise SpeechError(f"{self._folder} cannot be read: {error.strerror}") from error
            if path is None:
                stop.wait(POLL_S)
                continue
            while self._permits is not None and not self._permits.acquire(timeout=POLL_S):
                if stop.is_set():
                    return
            self._played.add(path.name)
            self.label = path.stem
            try:
                samples = read_file(path)
            except SpeechError as error:
                self._warn(str(error))
                continue
            yield from blocks_of(np.concatenate((samples, silence(AFTER_FILE_S))))
            yield None

    def _next(self) -> Path | None:
        """The first file that was not played and is no longer being written."""
        for path in sorted(self._folder.iterdir()):
            if path.suffix.lower() not in FILE_KINDS or path.name in self._played:
                continue
            try:
                stat = path.stat()
            except FileNotFoundError:
                continue
            facts = (stat.st_size, stat.st_mtime_ns)
            if self._seen.get(path.name) == facts:
                return path
            self._seen[path.name] = facts
            return None
        return None


class Microphone:
    """A microphone of this machine, through PortAudio; ``device`` is its name or number, empty
    for the default one."""

    live = True
    label = ""

    def __init__(self, device: str = "") -> None:
        self._sounddevice = _sounddevice()
        self._name = device
        self._device: Any = int(device) if device.isdigit() else device or None
        self._queue: queue.Queue[Samples] = queue.Queue(HELD_BLOCKS)
        self.check()

    def check(self) -> None:
        try:
            self._sounddevice.check_input_settings(
                device=self._device, channels=1, samplerate=RATE, dtype="float32"
            )
        except Exception as error:
            raise SpeechError(_cannot_open(self._name, error)) from error

    def blocks(self, stop: threading.Event) -> Iterator[Samples | None]:
        # What was heard before, and not taken, is of another time.
        self._queue = queue.Queue(HELD_BLOCKS)
        try:
            stream = self._sounddevice.InputStream(
                samplerate=RATE,
                blocksize=BLOCK,
                device=self._device,
                channels=1,
                dtype="float32",
                callback=self._take,
            )
            with stream:
                heard = time.monotonic()
                while not stop.is_set():
                    try:
                        block = self._queue.get(timeout=POLL_S)
                    except queue.Empty:
                        if time.monotonic() - heard > QUIET_S:
                            raise SpeechError(
                                f"the microphone gave no sound for {QUIET_S:g} s: is it there?"
                            ) from None
                        continue
                    heard = time.monotonic()
                    yield block
        except self._sounddevice.PortAudioError as error:
            raise SpeechError(_cannot_open(self._name, error)) from error

    def _take(self, samples: Any, count: int, times: Any, status: Any) -> None:
        """PortAudio's callback, in a thread of its own, which must not wait."""
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(samples[:, 0].copy())


def _sounddevice() -> Any:
    try:
        import sounddevice
    except ImportError as error:
        raise SpeechError(
            f"sounddevice is not there ({error}): pip install 'good_ros[microphone]'"
        ) from error
    except OSError as error:
        raise SpeechError(
            "PortAudio, which the microphone is read through, is not there: on Debian or Ubuntu "
            "sudo apt-get install -y libportaudio2"
        ) from error
    return sounddevice


def _cannot_open(device: str, error: Exception) -> str:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    which = f"microphone {device!r}" if device else "the default microphone"
    return (
        f"{which} cannot be opened: {reason}; `python -m sounddevice` lists what there is, or set "
        "sound_folder to read files"
    )
