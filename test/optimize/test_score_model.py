"""The score model: it learns, it is careful, it is the same each time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from good_ros.core.errors import InputError
from good_ros.optimize.score_model import ScoreModel, make_embed, ngrams, resolve_features

PARTS = ("Be brief.", "Think first.", "Use braces.", "Stay inside.", "Never guess.", "Hurry up.")


def pairs(count: int, seed: int = 0) -> tuple[list[str], list[float]]:
    """Prompts whose score is how many of three good parts they have, of three."""
    rng = random.Random(seed)
    texts = [" ".join(rng.sample(PARTS, rng.randint(0, 6))) or "Go." for _ in range(count)]
    return texts, [sum(part in text for part in PARTS[1:4]) / 3 for text in texts]


def test_the_error_gets_smaller_with_more_pairs():
    errors = []
    for count in (8, 60):
        fit = ScoreModel(ngrams).fit(*pairs(count))
        assert fit is not None
        errors.append(fit.test_error)
    assert errors[1] < errors[0]
    assert errors[1] < 0.1


def test_a_bad_prompt_is_held_back_and_a_good_one_is_not():
    model = ScoreModel(ngrams)
    model.fit(*pairs(60))
    good, bad = " ".join(PARTS[1:4]), "Hurry up. Be brief."
    assert model.lets_through(good, 1.0, 0.8)[0]
    assert not model.lets_through(bad, 1.0, 0.8)[0]
    assert model.lets_through(bad, 1.0, 0.0)[0]


def test_variance_and_error_let_more_through():
    model = ScoreModel(ngrams)
    fit = model.fit(*pairs(60))
    mean, variance = model.predict("Hurry up.")
    threshold = mean + variance + fit.test_error
    assert model.lets_through("Hurry up.", threshold - 1e-9, 1.0)[0]
    assert not model.lets_through("Hurry up.", threshold + 1e-9, 1.0)[0]


def test_it_is_the_same_each_time_and_needs_a_few_pairs():
    first, second = ScoreModel(ngrams, seed=3), ScoreModel(ngrams, seed=3)
    assert first.fit(*pairs(20)) == second.fit(*pairs(20))
    assert first.predict("Use braces.") == second.predict("Use braces.")
    assert ScoreModel(ngrams).fit(*pairs(4)) is None


def test_features_are_chosen_by_name():
    assert make_embed("ngrams") is ngrams
    assert resolve_features("ngrams") == "ngrams"
    assert resolve_features("auto") in ("ngrams", "minilm")


def test_a_transformers_model_of_any_folder_gives_features(tmp_path):
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "be", "brief", "use", "braces"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    embed = make_embed(str(tmp_path))
    rows = embed(["be brief", "use braces " * 400])
    assert rows.shape == (2, 8)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 1.0])


def test_a_folder_without_a_model_is_said(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(InputError, match="no features"):
        make_embed(str(tmp_path))
