"""Sound files in place of a microphone, and the listener that reads them."""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from good_ros.core.errors import SpeechError
from good_ros.speech.audio import BLOCK, RATE, read_file, silence
from good_ros.speech.listener import Listener
from good_ros.speech.scripted import LoudnessDetector
from good_ros.speech.segmenter import Segmenter
from good_ros.speech.sources import Microphone, SoundFolder

from .sounds import said, tone, write_wav

pytestmark = pytest.mark.timeout(60)
needs_decoder = pytest.mark.skipif(
    find_spec("faster_whisper") is None, reason="faster-whisper is not installed: make speech"
)


class Collector:
    """What a listener hands over; ``wait`` until there are so many segments."""

    def __init__(self, source, deaf=lambda: False):
        self.heard, self.lost = [], []
        self._changed = threading.Condition()
        segmenter = Segmenter(LoudnessDetector(), partial_every_s=0.0)
        self.listener = Listener(source, segmenter, deaf, self._take, self._lose)

    def _take(self, segment, label):
        with self._changed:
            self.heard.append((label, segment))
            self._changed.notify_all()

    def _lose(self, error):
        with self._changed:
            self.lost.append(error)
            self._changed.notify_all()

    def wait(self, condition):
        with self._changed:
            assert self._changed.wait_for(condition, 30.0), (self.heard, self.lost)


@pytest.fixture
def collect():
    made = []

    def make(source, **options):
        made.append(Collector(source, **options))
        return made[-1]

    yield make
    for collector in made:
        collector.listener.close()


@needs_decoder
def test_a_file_of_another_rate_is_read_as_ours(tmp_path):
    path = write_wav(tmp_path / "a.wav", tone(1.0), rate=8000)  # Lasts two seconds there.
    samples = read_file(path)
    assert samples.dtype == np.float32
    assert len(samples) == pytest.approx(2 * RATE, abs=200)
    assert np.abs(samples).max() == pytest.approx(0.5, abs=0.05)


@needs_decoder
def test_files_are_heard_once_in_order_with_those_that_come_later(tmp_path, collect):
    for name in ("b", "a"):
        write_wav(tmp_path / f"{name}.wav", *said(0.5))
    (tmp_path / "notes.txt").write_text("no sound")
    (tmp_path / "aa.wav").write_bytes(b"no sound either")
    warnings = []
    collector = collect(SoundFolder(tmp_path, warnings.append))
    collector.wait(lambda: len(collector.heard) == 2)
    write_wav(tmp_path / "c.wav", *said(0.5), *said(0.5))
    collector.wait(lambda: len(collector.heard) == 4)
    assert [label for label, _ in collector.heard] == ["a", "b", "c", "c"]
    assert len(warnings) == 1
    assert "aa.wav is no sound file" in warnings[0]
    assert "\n" not in warnings[0]


@needs_decoder
def test_with_permits_each_file_waits_for_one(tmp_path, collect):
    for name in ("a", "b"):
        write_wav(tmp_path / f"{name}.wav", *said(0.5))
    source = SoundFolder(tmp_path, print, waits=True)
    collector = collect(source)
    source.permit()
    collector.wait(lambda: len(collector.heard) == 1)
    source.permit()
    collector.wait(lambda: len(collector.heard) == 2)
    assert [label for label, _ in collector.heard] == ["a", "b"]


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(SpeechError, match="there is no folder") as caught:
        SoundFolder(tmp_path / "none", print)
    assert "\n" not in str(caught.value)


def test_a_folder_that_goes_is_a_source_that_is_lost(tmp_path, collect):
    folder = tmp_path / "sounds"
    folder.mkdir()
    collector = collect(SoundFolder(folder, print))
    folder.rmdir()
    collector.wait(lambda: bool(collector.lost))
    assert "cannot be read" in str(collector.lost[0])


class ScriptedSource:
    """Gives blocks, and calls ``at[number]`` before that block."""

    label = ""

    def __init__(self, samples, live, at):
        self.samples, self.live, self.at = samples, live, at

    def blocks(self, stop):
        for number, start in enumerate(range(0, len(self.samples) - BLOCK, BLOCK)):
            self.at.get(number, lambda: None)()
            yield self.samples[start : start + BLOCK]
        yield None
        raise SpeechError("the cable is out")


def test_while_the_robot_speaks_a_live_source_is_dropped_and_the_loss_is_told(collect):
    speaking = threading.Event()
    second = RATE // BLOCK
    samples = np.concatenate((tone(2.0), silence(2.0), tone(1.0), silence(1.0)))
    source = ScriptedSource(
        samples, True, {second: speaking.set, 2 * second: speaking.clear, 3 * second: lambda: None}
    )
    collector = collect(source, deaf=speaking.is_set)
    collector.wait(lambda: bool(collector.lost))
    # The first tone was cut into by the robot's voice, so it is dropped as a whole.
    (heard,) = [segment for _, segment in collector.heard]
    assert len(heard.samples) / RATE < 2.2
    assert "cable" in str(collector.lost[0])


def test_while_the_robot_speaks_a_file_waits(collect):
    speaking = threading.Event()
    samples = np.concatenate((tone(2.0), silence(1.0)))
    source = ScriptedSource(samples, False, {20: speaking.set})
    timer = threading.Timer(0.2, speaking.clear)
    timer.start()
    collector = collect(source, deaf=speaking.is_set)
    collector.wait(lambda: bool(collector.lost))
    timer.join()
    (heard,) = [segment for _, segment in collector.heard]
    assert len(heard.samples) / RATE > 2.5


def test_without_the_microphones_package_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SpeechError, match=r"good_ros\[microphone\]") as caught:
        Microphone()
    assert "\n" not in str(caught.value)


def test_a_microphone_that_is_unplugged_is_lost(monkeypatch, collect):
    """On a stand-in for the sounddevice package."""

    class Unplugged(Exception):
        pass

    class Stream:
        def __init__(self, callback, blocksize, **options):
            self.callback, self.size = callback, blocksize

        def __enter__(self):
            # The first blocks come before anything is taken: more than are held.
            for number in range(1200):
                loud = 200 <= number < 300 or number >= 1150
                self.callback(np.full((self.size, 1), float(loud), np.float32), self.size, 0, 0)

        def __exit__(self, *_):
            raise Unplugged("device unavailable")

    package = SimpleNamespace(
        PortAudioError=Unplugged, InputStream=Stream, check_input_settings=lambda **_: None
    )
    monkeypatch.setitem(sys.modules, "sounddevice", package)
    monkeypatch.setattr("good_ros.speech.sources.QUIET_S", 0.1)
    collector = collect(Microphone("3"))
    collector.wait(lambda: bool(collector.lost))
    assert len(collector.heard) == 1
    assert "microphone" in str(collector.lost[0])


@pytest.mark.parametrize("error", [ValueError("No input device matching 'usb'"), MemoryError()])
def test_a_source_that_fails_in_a_way_of_its_own_is_lost_and_not_silent(collect, error):
    def fail():
        raise error

    collector = collect(ScriptedSource(silence(2.0), True, {3: fail}))
    collector.wait(lambda: bool(collector.lost))
    assert isinstance(collector.lost[0], SpeechError)
    assert str(error) in str(collector.lost[0])


@needs_decoder
def test_a_folder_that_is_there_again_is_not_heard_from_the_start(tmp_path, collect):
    folder, away = tmp_path / "sounds", tmp_path / "away"
    folder.mkdir()
    write_wav(folder / "a.wav", *said(0.5))
    source = SoundFolder(folder, print)
    first = collect(source)
    first.wait(lambda: len(first.heard) == 1)
    folder.rename(away)
    first.wait(lambda: bool(first.lost))
    with pytest.raises(SpeechError, match="there is no folder"):
        source.check()
    away.rename(folder)
    source.check()
    write_wav(folder / "b.wav", *said(0.5))
    second = collect(source)
    second.wait(lambda: len(second.heard) == 1)
    assert [label for label, _ in (*first.heard, *second.heard)] == ["a", "b"]


def test_a_microphone_that_is_listened_to_again_has_no_old_sound(monkeypatch):
    """On a stand-in for the sounddevice package."""

    class Stream:
        def __init__(self, callback, blocksize, **options):
            self.give = lambda value: callback(np.full((blocksize, 1), value, np.float32), 0, 0, 0)

        def __enter__(self):
            for value in loudness.pop(0):
                self.give(value)

        def __exit__(self, *_):
            pass

    loudness = [(0.1, 0.2), (0.3,)]
    package = SimpleNamespace(
        PortAudioError=OSError, InputStream=Stream, check_input_settings=lambda **_: None
    )
    monkeypatch.setitem(sys.modules, "sounddevice", package)
    microphone, stop = Microphone(), threading.Event()
    assert next(iter(microphone.blocks(stop)))[0] == pytest.approx(0.1)
    assert next(iter(microphone.blocks(stop)))[0] == pytest.approx(0.3)
