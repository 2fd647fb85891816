"""Whole sessions without a graph, and the measures over them."""

import json
from dataclasses import replace

import pytest

from good_ros.cli import main
from good_ros.core.errors import InputError
from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.core.plan import Step, StepResult
from good_ros.experiments.human import SimulatedHuman
from good_ros.experiments.profiles import Profile
from good_ros.experiments.tasks import (
    Models,
    TaskResult,
    choose_profiles,
    read_progress,
    run_task,
    run_tasks,
    summary,
)
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.language.scripted import ScriptedGenerator
from good_ros.worlds.registry import make_world

BREAD = "the bread put in the fridge"
SAID = "The bread should be cold"
PROFILE = Profile(
    "bread",
    "robot",
    "FloorPlan1",
    "help",
    "The bread should be put in the fridge.",
    "the task is completed",
    ({"in": ["Bread", "Fridge"]},),
)


def models(*plans: str) -> Models:
    goals = {UNSPECIFIED_TEXT: -20.0, BREAD: -10.0, "tea made": -23.0, "a cake": -24.0}
    return Models(
        ScriptedGenerator(
            ["What should I move?", json.dumps([BREAD, "tea made", "a cake"]), "And now?"]
        ),
        ScriptedGenerator(plans),
        ScriptedGenerator([SAID]),
        ScriptedScorer({(g, SAID): value for g, value in goals.items()}),
    )


def test_a_session_goes_from_a_wish_to_its_fulfilment():
    result = run_task(PROFILE, 0, models('["put Bread in Fridge"]'))
    assert result == TaskResult(
        "bread",
        0,
        success=True,
        turns=2,
        plans=1,
        plans_without_repair=1,
        refused=0,
        steps=("pick up Bread", "put Bread in Fridge"),
        end="the person said that the task is completed",
    )


def test_a_plan_that_was_put_right_counts_as_repaired():
    result = run_task(PROFILE, 0, models("no list", '["put Bread in Fridge"]'))
    assert (result.plans, result.plans_without_repair, result.success) == (1, 0, True)


def test_where_the_room_is_not_as_wanted_the_session_has_failed():
    wanted = replace(PROFILE, conditions=({"in": ["Tomato", "Fridge"]},))
    result = run_task(wanted, 0, models('["open Fridge"]'), max_turns=1)
    assert (result.success, result.turns) == (False, 1)
    assert "limit" in result.end


def test_results_are_kept_and_a_second_run_computes_only_what_is_missing(tmp_path):
    path = tmp_path / "progress.jsonl"
    turns = []
    first = run_tasks(
        [PROFILE],
        [0],
        lambda: models('["put Bread in Fridge"]'),
        progress=path,
        on_turn=lambda *turn: turns.append(turn),
    )
    assert turns == [("bread", 0, 1)]
    with path.open("a") as file:
        file.write('{"profile": "bread", "se')

    def no_models():
        raise AssertionError("a result that is there was computed again")

    assert run_tasks([PROFILE], [0, 1], no_models, limit=1, progress=path) == first
    assert len(path.read_text().splitlines()) == 1


def test_a_progress_file_of_something_else_is_an_error(tmp_path):
    path = tmp_path / "progress.jsonl"
    path.write_text('{"profile": "bread"}\n')
    with pytest.raises(InputError, match="line 1"):
        read_progress(path)


def test_the_measures():
    def result(success, turns, plans, clean, refused=0):
        return TaskResult("p", 0, success, turns, plans, clean, refused)

    assert summary([result(True, 4, 3, 2), result(False, 20, 1, 1, 2)]) == {
        "n": 2,
        "success": 0.5,
        "mean_turns": 12.0,
        "mean_plans": 2.0,
        "plans_without_repair": 0.75,
        "refused": 2,
    }
    assert summary([])["plans_without_repair"] == 0.0


def test_a_domain_stands_for_its_profiles():
    assert len(choose_profiles(["robot"])) == 5
    assert [p.name for p in choose_profiles(["put_away_food", "put_away_food"])] == [
        "put_away_food"
    ]
    with pytest.raises(InputError, match="nobody"):
        choose_profiles(["nobody"])


def test_the_command_prints_one_json_object(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(
        "good_ros.commands.tasks.load_models", lambda *_: models('["put Bread in Fridge"]')
    )
    monkeypatch.setattr("good_ros.commands.tasks.choose_profiles", lambda names: [PROFILE])
    progress = str(tmp_path / "progress.jsonl")
    assert main(["eval", "tasks", "--seeds", "1", "--progress", progress, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["success"] == 1.0
    assert main(["eval", "tasks", "--seeds", "0"]) == 1


class TestSimulatedHuman:
    def human(self, **keywords) -> SimulatedHuman:
        world = make_world("household")
        return SimulatedHuman(PROFILE, ScriptedGenerator([]), world, **keywords)

    def plan(self, *labels: str) -> tuple[Step, ...]:
        world = make_world("household")
        world.reset("FloorPlan1")
        steps = {s.label: s for s in world.possible_actions([o.id for o in world.observe()])}
        return tuple(steps[label] for label in labels)

    @pytest.mark.parametrize(
        ("labels", "approved"),
        [
            (("pick up Bread", "put Bread in Fridge"), True),
            (("pick up Bread",), False),
            (("put Bread in Fridge",), False),
        ],
    )
    def test_what_helps_is_approved(self, labels, approved):
        assert self.human().would_approve(self.plan(*labels), ()) is approved

    def test_everything_and_nothing(self):
        plan = self.plan("pick up Bread")
        assert self.human(approves="everything").would_approve(plan, ())
        assert not self.human(approves="nothing").would_approve(plan, ())

    def test_a_history_that_cannot_be_followed_is_said_and_content_with_nothing(self):
        human = self.human()
        history = (StepResult(self.plan("put Bread in Fridge")[0], True),)
        assert not human.is_content(history)
        assert "could not be followed" in human.problem
        assert not human.would_approve(self.plan("pick up Bread"), history)

    def test_what_is_so_already_is_seen(self):
        """Told only the steps, the small models asked for what had been done, or took it back."""
        both = replace(PROFILE, conditions=(*PROFILE.conditions, {"in": ["Tomato", "Fridge"]}))
        generator = ScriptedGenerator(["Please see to the tomato too."] * 2)
        human = SimulatedHuman(both, generator, make_world("household"))
        human.answer("What next?", 1, ())
        steps = self.plan("pick up Bread", "put Bread in Fridge")
        human.answer("What next?", 2, tuple(StepResult(step, True) for step in steps))
        before, after = (call[0].content for call in generator.calls)
        assert "as you want it" not in before
        assert "Already as you want it: Bread is in Fridge" in after
        assert "Tomato is" not in after
