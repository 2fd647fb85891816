"""Where utterances begin and end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from good_ros.speech.audio import BLOCK, blocks_of, silence
from good_ros.speech.scripted import LoudnessDetector
from good_ros.speech.segmenter import BLOCK_S, Segmenter

from .sounds import tone


def segments(segmenter, *sounds):
    found = [segmenter.feed(block) for block in blocks_of(np.concatenate(sounds))]
    return [segment for segment in (*found, segmenter.flush()) if segment is not None]


def make(**options):
    options = {"partial_every_s": 0.0, **options}
    return Segmenter(LoudnessDetector(), **options)


def test_two_utterances_are_cut_apart_with_a_lead_before_each():
    first, second = segments(
        make(silence_s=0.6, lead_s=0.3),
        silence(1.0),
        tone(1.0),
        silence(1.0),
        tone(0.5),
        silence(1.0),
    )
    assert (first.number, second.number) == (1, 2)
    assert first.is_final
    assert second.is_final
    for segment, voice in ((first, 1.0), (second, 0.5)):
        seconds = len(segment.samples) * BLOCK_S / BLOCK
        assert seconds == pytest.approx(0.3 + voice + 0.6, abs=4 * BLOCK_S)
        assert np.abs(segment.samples[: BLOCK * 5]).max() == 0.0


def test_a_pause_shorter_than_the_silence_does_not_cut():
    (only,) = segments(
        make(silence_s=0.7), tone(0.5), silence(0.4), tone(0.5), silence(0.4), tone(0.5)
    )
    assert len(only.samples) * BLOCK_S / BLOCK > 2.2


def test_a_click_is_no_utterance():
    assert segments(make(minimum_s=0.2), silence(0.5), tone(0.1), silence(2.0)) == []


def test_a_long_utterance_is_cut_and_nothing_of_it_is_lost():
    found = segments(make(maximum_s=2.0), tone(5.0))
    assert [round(len(s.samples) * BLOCK_S / BLOCK) for s in found] == [2, 2, 1]
    assert [s.number for s in found] == [1, 2, 3]


def test_partial_segments_grow_and_have_the_number_of_the_final_one():
    found = segments(make(partial_every_s=1.0), silence(0.5), tone(3.4), silence(1.0))
    assert [s.is_final for s in found] == [False] * (len(found) - 1) + [True]
    assert len(found) >= 4
    lengths = [len(s.samples) for s in found]
    assert lengths == sorted(lengths)
    assert {s.number for s in found} == {1}


def test_a_reset_drops_what_was_under_way():
    segmenter = make()
    for block in blocks_of(tone(1.0)):
        segmenter.feed(block)
    segmenter.reset()
    assert segments(segmenter, silence(2.0)) == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 60)), max_size=12),
    st.integers(1, 20),
    st.integers(5, 50),
)
def test_every_loud_block_is_in_one_segment_at_most_and_none_is_overlong(runs, quiet, longest):
    """Blocks carry their number as loudness, so that each can be found again."""
    segmenter = make(
        silence_s=quiet * BLOCK_S, maximum_s=longest * BLOCK_S, minimum_s=0.0, lead_s=BLOCK_S
    )
    blocks, loud = [], []
    for is_loud, count in runs:
        for _ in range(count):
            number = len(blocks) + 1
            blocks.append(np.full(BLOCK, number if is_loud else 0.0, np.float32))
            loud += [number] if is_loud else []
    found = [segmenter.feed(block) for block in blocks] + [segmenter.flush()]
    finals = [s for s in found if s is not None]
    inside = [
        int(block[0]) for s in finals for block in s.samples.reshape(-1, BLOCK) if block[0] > 0
    ]
    assert inside == loud
    assert all(len(s.samples) <= longest * BLOCK for s in finals)
    assert [s.number for s in finals] == list(range(1, len(finals) + 1))
