"""How well near-duplicates are found."""

import pytest

from good_ros.core.errors import InputError
from good_ros.experiments.merging import MergingResult, Pair, load_pairs, measure, wrong
from good_ros.inference.sameness import same_words


def test_precision_and_recall():
    pairs = [Pair("a", "b", True), Pair("c", "d", True), Pair("e", "f", False)]
    assert measure(pairs, []) == MergingResult(3, 1.0, 1.0)
    assert measure(pairs, [pairs[0]]) == MergingResult(3, 1.0, 0.5)
    assert measure(pairs, [pairs[2]]) == MergingResult(3, pytest.approx(2 / 3), 1.0)
    assert measure(pairs, pairs[:2]) == MergingResult(3, 1.0, 0.0)


def test_words_alone_never_take_two_for_one():
    """A goal that is merged by mistake is gone; one too many does little harm."""
    assert not [pair for pair in wrong(load_pairs(), same_words) if not pair.same]


@pytest.mark.parametrize("content", ["", "same: 3", "same: [[a]]\ndifferent: []", "- a"])
def test_a_file_without_pairs_is_refused(tmp_path, content):
    path = tmp_path / "pairs.yaml"
    path.write_text(content)
    with pytest.raises(InputError):
        load_pairs(path)
