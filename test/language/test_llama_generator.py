"""Generation with a real model: the small one of the catalogue."""

import json
import threading

import pytest

from good_ros.core.errors import ModelCancelled, ModelError, ModelTimeout
from good_ros.language.backends import make_generator
from good_ros.language.generator import Message, Sampling
from good_ros.language.llama_generator import PIECE_TOKENS, LlamaGenerator
from good_ros.language.llama_runtime import load_runtime

pytestmark = pytest.mark.model

ASK = [Message("system", "You are brief."), Message("user", "Name two fruits.")]


@pytest.fixture(scope="module")
def generator(small_model):
    generator = LlamaGenerator(load_runtime(small_model))
    yield generator
    generator.close()


def test_greedy_is_always_the_same(generator):
    first = generator.generate(ASK, Sampling(16))
    again = generator.generate(ASK, Sampling(16))
    assert first.text == again.text != ""
    assert 0 < first.tokens_out <= 16


def test_a_seed_repeats_a_draw_and_another_changes_it(generator):
    draws = [generator.generate(ASK, Sampling(12, 1.5, seed)).text for seed in (1, 1, 2, 3)]
    assert draws[0] == draws[1]
    assert len(set(draws)) > 1


@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_a_schema_cannot_be_left(generator, temperature):
    schema = {
        "type": "array",
        "items": {"enum": ["qzx one", "qzx two", "qzx three"]},
        "minItems": 2,
        "maxItems": 3,
    }
    reply = generator.generate(ASK, Sampling(64, temperature, 5), schema)
    value = json.loads(reply.text)
    assert 2 <= len(value) <= 3
    assert set(value) <= {"qzx one", "qzx two", "qzx three"}


def test_a_prompt_that_begins_like_the_last_one_gives_the_same_reply(
    generator, small_model, monkeypatch
):
    start = [Message("system", "You are brief. " * 20)]
    longer = [*start, Message("user", "Name two fruits. Then stop.")]
    generator.generate([*start, ASK[1]], Sampling(8))
    read = []
    inner = generator._read
    monkeypatch.setattr(generator, "_read", lambda tokens: read.extend(tokens) or inner(tokens))
    reused = generator.generate(longer, Sampling(8))
    assert len(read) - reused.tokens_out == reused.tokens_in - PIECE_TOKENS
    fresh = LlamaGenerator(load_runtime(small_model))
    assert fresh.generate(longer, Sampling(8)).text == reused.text
    fresh.close()


def test_stop_words_are_left_out(generator):
    reply = generator.generate(
        [Message("user", "Count from one to nine in digits, with commas.")],
        Sampling(40, stop=("5",)),
    )
    assert "4" in reply.text
    assert "5" not in reply.text


def test_cancelled_and_asked_again(generator):
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(ModelCancelled):
        generator.generate(ASK, Sampling(16), cancel=cancel)
    assert generator.generate(ASK, Sampling(16)).text


def test_cancelled_while_it_writes(generator, monkeypatch):
    cancel = threading.Event()
    read = []
    inner = generator._read

    def cancel_at_the_third(tokens):
        read.append(tokens)
        if len(read) == 3:
            cancel.set()
        return inner(tokens)

    monkeypatch.setattr(generator, "_read", cancel_at_the_third)
    with pytest.raises(ModelCancelled):
        generator.generate(ASK, Sampling(400, 1.0), cancel=cancel)
    assert len(read) == 3


def test_a_deadline_ends_it(generator):
    with pytest.raises(ModelTimeout, match="deadline_s"):
        generator.generate(ASK, Sampling(400, 1.0), deadline_s=0.001)


def test_a_prompt_that_does_not_fit_is_refused(generator):
    long = [Message("user", "word " * 5000)]
    with pytest.raises(ModelError, match="no room"):
        generator.generate(long, Sampling(16))


def test_a_model_parameter_finds_it(small_model):
    for model in ("small", str(small_model)):
        generator = make_generator(model)
        assert generator.model_name == small_model.stem
        generator.close()


def test_a_closed_generator_writes_no_more(small_model):
    generator = LlamaGenerator(load_runtime(small_model))
    generator.close()
    generator.close()
    with pytest.raises(ModelCancelled):
        generator.generate(ASK, Sampling(8))
