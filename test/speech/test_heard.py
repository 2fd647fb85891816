"""What front ends' messages mean. The messages here are stand-ins with the fields of the real
ones, whose packages are not on the package index."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from good_ros.speech.adapters import heard_live_speech, heard_transcription, voice_of
from good_ros.speech.heard import UNKNOWN, words_of
from good_ros.speech.own_voice import OwnVoice
from good_ros.speech.recogniser import Piece, confidence_of


def live_speech(final="", incremental="", confidence=0.0, sec=5, **more):
    """A stand-in for hri_msgs/LiveSpeech."""
    header = SimpleNamespace(stamp=SimpleNamespace(sec=sec, nanosec=70))
    return SimpleNamespace(
        header=header, final=final, incremental=incremental, confidence=confidence, **more
    )


@pytest.mark.parametrize(
    ("topic", "voice"),
    [
        ("/humans/voices/ab12/speech", "ab12"),
        ("/humans/voices/ab12/is_speaking", None),
        ("/humans/voices/ab12/x/speech", None),
        ("/robot/humans/voices/ab12/speech", None),
    ],
)
def test_voices_are_known_by_their_topics(topic, voice):
    assert voice_of(topic) == voice


def test_live_speech_is_final_where_final_has_words():
    heard = heard_live_speech(live_speech("put it there", "put", 0.8, locale="en_GB"), "ab12")
    assert (heard.text, heard.is_final, heard.locale) == ("put it there", True, "en_GB")
    assert (heard.confidence, heard.speaker_id) == (0.8, "ab12")
    partial = heard_live_speech(live_speech(incremental="put it"), "ab12")
    assert (partial.text, partial.is_final) == ("put it", False)
    assert heard_live_speech(live_speech(), "ab12") is None


def test_live_speech_that_is_repeated_has_the_same_id_and_another_has_not():
    first = heard_live_speech(live_speech("yes"), "a").utterance_id
    assert first == heard_live_speech(live_speech("yes"), "a").utterance_id
    assert first != heard_live_speech(live_speech("yes", sec=6), "a").utterance_id
    assert first != heard_live_speech(live_speech("yes"), "b").utterance_id
    unstamped = live_speech("yes", sec=0)
    unstamped.header.stamp.nanosec = 0
    assert heard_live_speech(unstamped, "a").utterance_id == ""


def test_live_speech_of_older_releases_is_read_too():
    message = live_speech("yes")
    message.header = SimpleNamespace(header=message.header, id="ab12")
    heard = heard_live_speech(message, "ab12")
    assert (heard.locale, heard.utterance_id) == ("", "ab12-5.000000070")


@pytest.mark.parametrize("confidence", [0.0, -1.0, 7.0])
def test_a_confidence_that_is_none_is_unknown(confidence):
    heard = heard_live_speech(live_speech("yes", confidence=confidence), "a")
    assert heard.confidence == UNKNOWN


def test_whispers_transcriptions_are_final():
    """A stand-in for whisper_msgs/Transcription."""
    message = SimpleNamespace(text=" Put it there. ", audio_time=1.5, transcription_time=0.25)
    heard = heard_transcription(message)
    assert (heard.text, heard.is_final, heard.confidence) == ("Put it there.", True, UNKNOWN)
    message.audio_time = 1.75
    assert heard_transcription(message).utterance_id != heard.utterance_id
    message.text = "[BLANK_AUDIO]"
    assert heard_transcription(message) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  Put  it there. ", "Put it there."),
        ("[BLANK_AUDIO]", ""),
        ("(music) Put it there", "Put it there"),
        ("* sighs *", ""),
        ("...", ""),
        ("Nimm die Äpfel", "Nimm die Äpfel"),
    ],
)
def test_sounds_are_no_words(text, words):
    assert words_of(text) == words


def test_confidence_is_the_tokens_mean_probability():
    assert confidence_of([Piece("a", 0.0, 4)]) == 1.0
    mixed = confidence_of([Piece("a", -1.0, 1), Piece("b", 0.0, 3)])
    assert mixed == pytest.approx(2.718281828**-0.25)
    assert confidence_of([]) == 0.0
    assert confidence_of([Piece("no no no no", -0.1, 40, compression=3.0)]) == 0.0


def test_the_robots_voice_sounds_a_little_longer_than_it_is_spoken():
    own = OwnVoice(tail_s=0.5)
    assert not own.sounds(0.0)
    own.tell(True, 1.0)
    assert own.sounds(100.0)
    own.tell(False, 101.0)
    assert own.sounds(101.4)
    assert not own.sounds(101.6)
    own.tell(False, 200.0)
    assert not own.sounds(200.1)
