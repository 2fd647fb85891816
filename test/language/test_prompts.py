"""Prompts are data files with named slots."""

import pytest

from good_ros.core.errors import InputError
from good_ros.language import prompts

NAMES = sorted(path.stem for path in prompts.FOLDER.glob("*.yaml"))
FILES = sorted((p.parent.name, p.stem) for p in prompts.FOLDER.glob("*/*.yaml"))


@pytest.mark.parametrize(("world", "name"), [*(("", name) for name in NAMES), *FILES])
def test_every_file_declares_the_slots_it_uses_and_cites_its_source(world, name):
    prompt = prompts.load(name, world)
    assert "GOOD" in prompt.description or "ProVox" in prompt.description
    messages = prompt.messages(**{slot: f"<{slot}>" for slot in prompt.slots})
    text = "\n".join(m.content for m in messages)
    for slot in prompt.slots:
        assert f"<{slot}>" in text


def test_the_prompts_of_the_method_are_there():
    assert {"question", "human", "infer", "propose_goals", "remove_goals", "plan"} <= set(NAMES)


def test_a_world_has_its_own_words_with_the_same_slots():
    assert ("grocery", "plan") in FILES
    for world, name in FILES:
        if name in NAMES:
            own, general = prompts.load(name, world), prompts.load(name)
            assert set(own.slots) == set(general.slots)
            assert own != general
    assert prompts.load("infer", "grocery") == prompts.load("infer")
    assert prompts.load("plan", "household") == prompts.load("plan")


def test_a_missing_and_an_unknown_slot_are_named():
    with pytest.raises(InputError, match="missing slots: goal; unknown slots: gaol"):
        prompts.load("infer").messages(gaol="x")


def test_an_unknown_prompt_names_the_known_ones():
    with pytest.raises(InputError, match="infer"):
        prompts.load("nothing")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "must have"),
        ("description: x", "must have"),
        ("a: [", "not YAML"),
        ("description: x\nslots: [a]\nuser: hello", "declared"),
    ],
)
def test_a_damaged_file_is_named_in_one_line(tmp_path, monkeypatch, text, match):
    (tmp_path / "broken.yaml").write_text(text)
    monkeypatch.setattr(prompts, "FOLDER", tmp_path)
    prompts.load.cache_clear()
    with pytest.raises(InputError, match=match) as caught:
        prompts.load("broken")
    assert "\n" not in str(caught.value)


def test_braces_in_a_value_stay_as_they_are():
    message = prompts.load("infer").messages(goal="{goal} {task} {0}")[0]
    assert "{goal} {task} {0}" in message.content
