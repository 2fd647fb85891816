"""ScienceWorld and ALFWorld through their packages: run where these are, and Java, by
``make test-promst``."""

from __future__ import annotations

import importlib.util
import shutil
import types

import pytest

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Kind
from good_ros.optimize.environments.registry import environment, instances


def has(*packages: str) -> bool:
    return all(importlib.util.find_spec(package) is not None for package in packages)


@pytest.mark.skipif(
    not has("scienceworld") or shutil.which("java") is None, reason="needs scienceworld and Java"
)
def test_scienceworlds_gold_path_for_find_plant_scores_100():
    world = environment("scienceworld")({"task": "find-plant", "variation": 0})
    try:
        gold = world.solution()
        first = world.act("fly to the moon")
        assert first.feedback is not None
        assert (first.feedback.kind, first.ends) == (Kind.INVALID, False)
        outcomes = [world.act(command) for command in gold]
        assert outcomes[-1].ends
        assert world.progress() == 1.0
        assert world.done()
    finally:
        world.close()


@pytest.mark.skipif(not has("alfworld", "textworld"), reason="needs alfworld and textworld")
@pytest.mark.parametrize("size", range(4))
def test_a_generated_alfworld_game_is_won_by_its_planners_commands(size):
    [instance] = instances("alfworld", per_size=1, sizes=[size])
    world = environment("alfworld")(instance.layout)
    try:
        wrong = world.act("open the moon")
        assert wrong.feedback is not None
        assert (wrong.feedback.kind, wrong.ends) == (Kind.INVALID, False)
        shares = [world.progress()]
        commands = world.solution()
        for command in commands:
            assert world.act(command).feedback is None
            shares.append(world.progress())
        assert shares[0] == 0.0
        assert shares[-1] == 1.0
        assert shares == sorted(shares)
        assert len(set(shares)) == (3 if instance.layout["change"] == "place" else 4)
    finally:
        world.close()


def test_webarena_says_that_it_needs_live_sites(monkeypatch):
    monkeypatch.delenv("GOOD_ROS_WEBARENA", raising=False)
    with pytest.raises(InputError, match="needs live web sites"):
        environment("webarena")({"task": 1})
    monkeypatch.setenv("GOOD_ROS_WEBARENA", "nowhere.at.all:site")
    with pytest.raises(InputError, match="cannot be imported"):
        environment("webarena")({"task": 1})


def test_webarena_drives_what_it_is_given(monkeypatch):
    class Site:
        def __init__(self, layout):
            self.done = 0.0

        def observe(self):
            return f"a page, {self.done}"

        def step(self, action):
            self.done = float(action == "click [12]")
            return "clicked"

        def score(self):
            return self.done

        def close(self):
            pass

    module = types.SimpleNamespace(open_site=Site)
    monkeypatch.setattr("importlib.import_module", lambda name: module)
    monkeypatch.setenv("GOOD_ROS_WEBARENA", "lab:open_site")
    world = environment("webarena")({"task": 1})
    wrong = world.act("@dance@")
    assert wrong.feedback is not None
    assert (wrong.feedback.kind, wrong.ends) == (Kind.INVALID, False)
    assert world.act("I choose @click [12]@").ends
    assert world.progress() == 1.0
    assert environment("webarena")({"task": 1}).act("click [12]").ends
