"""A world of a lab's own: the code of docs/your_world.md, as it stands there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import InputError
from good_ros.core.goals import Goal
from good_ros.core.plan import ErrorCode, Step, TaskState
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning.planner import Planner
from good_ros.planning.safety import Safety, load_rules
from good_ros.planning.turn import TurnActor
from good_ros.worlds.registry import is_world, make_world

PAGE = Path(__file__).parents[2] / "docs" / "your_world.md"
CODE = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


@pytest.fixture
def lamps(tmp_path, monkeypatch):
    (tmp_path / "my_lamps.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_lamps", raising=False)
    return make_world("my_lamps:Lamps")


def test_it_is_short():
    assert len(CODE.splitlines()) < 60


def test_a_wish_is_fulfilled_in_it(lamps):
    lamps.reset("house")
    goal = Goal("g1", "the hall lamp on")
    belief = Belief("s", 1, 1, True, (Hypothesis(goal, 1.0, -1.0, 0.0),), 0.0)
    said = Transcript("s", (Turn(1, "What should I do?", "Switch on the hall lamp, please."),))
    asked = []
    actor = TurnActor(
        lamps,
        Planner(ScriptedGenerator([json.dumps(["switch on HallLamp"])]), task="help"),
        approve=lambda status, stop: asked.append(status) or True,
    )
    status = actor.act(belief, said, ())
    assert status.state in (TaskState.SUCCEEDED, TaskState.DONE), status
    assert [r.effect for r in status.history] == ["HallLamp is on"]
    # What the safety file does not list waits for a yes.
    assert len(asked) == 1


def test_its_failures_are_typed(lamps):
    lamps.reset("house")
    step = lamps.possible_actions(["HallLamp"])[0]
    before = lamps.snapshot()
    outcome = lamps.act(type(step)("SwitchOn", "Sun"))
    assert (outcome.success, outcome.error_code) == (False, ErrorCode.NOT_FOUND)
    assert lamps.snapshot() == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:Lamps", "No module named"),
        ("json:NoSuchClass", "NoSuchClass"),
        ("json:", "cannot be made"),
        ("collections:OrderedDict", "has no act"),
        ("pathlib:os.getcwd", "cannot be made"),
        ("../evil:Lamps", "cannot be made"),
        ("nowhere", "module:Class for your own"),
    ],
)
def test_what_is_no_world_gets_one_clear_line(name, words):
    with pytest.raises(InputError, match=words) as caught:
        make_world(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("class Lamps\n", "SyntaxError"),
        ("class Lamps:\n    def __init__(self):\n        lamp\n", "NameError.*lamp"),
        ("raise RuntimeError('no\\nlamp')", "RuntimeError: no lamp"),
    ],
)
def test_a_slip_in_a_world_of_ones_own_is_told_in_one_line(tmp_path, monkeypatch, text, words):
    (tmp_path / "slip.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "slip", raising=False)
    with pytest.raises(InputError, match=words) as caught:
        make_world("slip:Lamps")
    assert "\n" not in str(caught.value)


def test_names():
    assert is_world("household")
    assert is_world("my_lamps:Lamps")
    assert not is_world("my_lamps")


def test_the_pages_own_rules_and_parameters_are_read(tmp_path):
    rules, parameters = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    file = tmp_path / "my_safety.yaml"
    file.write_text(rules)
    judge = Safety(load_rules(str(file)))
    assert not judge.judge_steps([Step("SwitchOn", "HallLamp", label="x")], []).approval
    assert judge.judge_steps([Step("OpenObject", "HallLamp", label="x")], []).approval
    named = yaml.safe_load(parameters)["/**/executor"]["ros__parameters"]
    assert named["world"] == "my_lamps:Lamps"
    assert Path(named["safety_file"]).name == file.name
