"""Speaking through a program, and what is kept of it."""

from __future__ import annotations

import shutil
import threading
import wave

import pytest

from good_ros.core.errors import InputError, SpeechError
from good_ros.speech.spoken import KEPT, SpokenLog
from good_ros.speech.voice import LONGEST, EspeakVoice, speakable

from .program import stand_in_program

pytestmark = pytest.mark.timeout(60)


def test_a_text_goes_through_standard_input_whatever_it_looks_like(tmp_path):
    program = stand_in_program(tmp_path)
    for text in ("--help", "$(touch broken); `id`", "-w /etc/passwd", 'it\'s "so"\n\x07done'):
        EspeakVoice(str(program.path)).say(text, threading.Event())
    assert program.said() == [
        "--help",
        "$(touch broken); `id`",
        "-w /etc/passwd",
        'it\'s "so" done',
    ]
    assert all(arguments[-1] == "--stdin" for arguments in program.arguments())
    assert {len(arguments) for arguments in program.arguments()} == {7}


def test_a_program_that_is_not_there_is_one_line_with_the_package(tmp_path):
    with pytest.raises(SpeechError, match="apt-get install -y espeak-ng") as caught:
        EspeakVoice(str(tmp_path / "none")).say("hello", threading.Event())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("code", [0, 1])
def test_what_the_program_complains_of_is_told(tmp_path, code):
    """Without a sound device espeak-ng ends with 0."""
    program = stand_in_program(tmp_path, f"echo 'x' >&2; echo 'error: no sound' >&2; exit {code}")
    with pytest.raises(SpeechError, match="could not speak: error: no sound"):
        EspeakVoice(str(program.path)).say("hello", threading.Event())


def test_it_can_be_cut_off(tmp_path):
    program = stand_in_program(tmp_path, "exec sleep 600")
    cancel = threading.Event()
    timer = threading.Timer(0.2, cancel.set)
    timer.start()
    EspeakVoice(str(program.path)).say("hello", cancel)
    timer.join()


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x07", "x" * (LONGEST + 1)])
def test_some_texts_cannot_be_said(text):
    with pytest.raises(InputError, match="nothing is said"):
        speakable(text)


@pytest.mark.parametrize(
    ("language", "voice"),
    [("", "en-gb-x-rp"), ("en", "en-gb-x-rp"), ("en_GB", "en-gb-x-rp"), ("de-AT", "de-at")],
)
def test_our_voice_speaks_its_own_language(language, voice):
    assert EspeakVoice().voice_for(language) == voice


@pytest.mark.parametrize("language", ["en; rm", "-v", "../x", "e"])
def test_a_language_is_a_language_tag(language):
    with pytest.raises(InputError, match="no language tag"):
        EspeakVoice().voice_for(language)


@pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")
def test_the_real_program_writes_a_sound_file(tmp_path):
    path = tmp_path / "a.wav"
    EspeakVoice().write("Please put the apple in the fridge.", path)
    with wave.open(str(path)) as file:
        assert file.getnframes() / file.getframerate() > 1.0
    with pytest.raises(SpeechError, match="could not speak"):
        EspeakVoice(voice="xx-yy").write("hello", path)


def test_what_was_spoken_is_known_to_the_next_start(tmp_path):
    path = tmp_path / "spoken" / "a.json"
    log = SpokenLog(path)
    assert "k1" not in log
    log.add("k1")
    assert "k1" in SpokenLog(path)
    for number in range(KEPT):
        log.add(f"n{number}")
    again = SpokenLog(path)
    assert "k1" not in again
    assert f"n{KEPT - 1}" in again


@pytest.mark.parametrize("content", ["", "{}", "[1, 2", "null"])
def test_a_log_that_is_damaged_is_begun_anew(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    SpokenLog(path).add("k")
    assert "k" in SpokenLog(path)
