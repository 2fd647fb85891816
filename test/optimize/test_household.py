"""The planner's own prompt as a task, and what people said in sessions as feedback on it."""

from __future__ import annotations

import json

import pytest

from good_ros.core.errors import InputError
from good_ros.core.plan import ErrorCode
from good_ros.language import prompts
from good_ros.language.scripted import ScriptedGenerator
from good_ros.optimize.config import RunConfig
from good_ros.optimize.corrections import read_corrections
from good_ros.optimize.environments.base import Kind
from good_ros.optimize.environments.registry import Instance
from good_ros.optimize.household import HouseholdOptions, HouseholdTask
from good_ros.optimize.run import optimize
from good_ros.recording import SessionRecord
from good_ros.worlds import predicates
from good_ros.worlds.registry import make_world

FOOD = Instance("food", {"profile": "put_away_food", "seed": 0, "wishes": [0]})
GOOD_PLAN = '["put Bread in Fridge"]'


@pytest.fixture(scope="module")
def task() -> HouseholdTask:
    return HouseholdTask(HouseholdOptions())


def test_instances_are_of_all_profiles_and_the_same_each_time(task):
    again = HouseholdTask(HouseholdOptions())
    assert task.instances == again.instances
    assert len(task.instances) == len(task.held_back) == 10
    assert not {i.id for i in task.instances} & {i.id for i in task.held_back}
    assert {i.layout["profile"] for i in task.instances} == {
        i.layout["profile"] for i in task.held_back
    }


def test_a_plan_that_works_at_once_scores_1_and_the_model_is_told_the_prompt(task):
    model = ScriptedGenerator([GOOD_PLAN])
    trial = task.trial("Be quick. Your task is to {task}.", FOOD, model)
    assert (trial.progress, trial.completed, trial.feedback) == (1.0, True, ())
    system, user = model.calls[0]
    assert system.content.startswith("Be quick. Your task is to interact")
    assert "the Bread put in the Fridge" in user.content


def test_a_plan_that_is_repaired_scores_0_and_is_told(task):
    trial = task.trial(task.start_prompt, FOOD, ScriptedGenerator(["what?", GOOD_PLAN]))
    assert (trial.progress, trial.completed) == (0.0, False)
    assert [f.kind for f in trial.feedback] == [Kind.INVALID]
    assert "put Bread in Fridge" in trial.feedback[0].text


def test_a_plan_that_the_executor_completes_for_its_goal_counts_as_repaired(task):
    trial = task.trial(task.start_prompt, FOOD, ScriptedGenerator(['["open Fridge"]']))
    assert (trial.progress, trial.completed) == (0.0, False)
    assert trial.feedback[0].text.startswith('The reply was: ["open Fridge"]. It had to be put')
    assert "put Bread in Fridge" in trial.feedback[0].text


@pytest.mark.parametrize("constrained", [True, False])
def test_the_reply_is_held_to_the_actions_where_it_is_to_be(constrained):
    schemas = []

    class Asked(ScriptedGenerator):
        def generate(self, messages, sampling, json_schema=None, *arguments, **options):
            schemas.append(json_schema)
            return super().generate(messages, sampling, json_schema, *arguments, **options)

    task = HouseholdTask(HouseholdOptions(constrained=constrained))
    assert task.trial(task.start_prompt, FOOD, Asked([GOOD_PLAN])).progress == 1.0
    assert [schema is not None for schema in schemas] == [constrained]


def test_wishes_for_the_room_are_many_and_none_is_true_before():
    options = HouseholdOptions(profiles=("put_away_food",), wishes="room", room_wishes=5)
    task = HouseholdTask(options)
    assert HouseholdTask(options).instances == task.instances
    for instance in (*task.instances, *task.held_back):
        wishes = [next(iter(wish.values())) for wish in instance.layout["wishes"]]
        assert len({thing for thing, _ in wishes}) == len({place for _, place in wishes}) == 5
        world = make_world("household")
        world.reset("FloorPlan1", instance.layout["seed"])
        assert not any(predicates.holds(w, world.observe()) for w in instance.layout["wishes"])
        world.close()
    first = task.instances[0]
    plan = [f"put {v[0]} {k} {v[1]}" for w in first.layout["wishes"] for k, v in w.items()]
    trial = task.trial(task.start_prompt, first, ScriptedGenerator([json.dumps(plan)]))
    assert (trial.progress, trial.completed) == (1.0, True)
    worse = task.trial(task.start_prompt, first, ScriptedGenerator([json.dumps(plan[:4])]))
    assert not worse.completed


def test_wishes_that_cannot_be_drawn_are_told():
    with pytest.raises(InputError, match="wishes is profile or room, not 'any'"):
        HouseholdTask(HouseholdOptions(wishes="any"))
    with pytest.raises(InputError, match="FloorPlan1 has not 200 things"):
        HouseholdTask(HouseholdOptions(profiles=("put_away_food",), wishes="room", room_wishes=200))


def test_no_plan_at_all(task):
    trial = task.trial(task.start_prompt, FOOD, ScriptedGenerator(["no", "no", "no", "no"]))
    assert trial.progress == 0.0
    assert "No plan worked" in trial.feedback[0].text


def test_slots_that_do_not_belong_are_taken_out_and_the_task_is_put_in(task):
    assert task.usable("Plan for {robot}.") == "Plan for robot.\nYour task is to {task}."
    assert task.usable("Plan. {task}") == "Plan. {task}"
    assert task.usable("   ") == ""


def test_what_apply_writes_is_read_in_place_of_the_planners_prompt(task, tmp_path, monkeypatch):
    name, text = task.as_file("Plan well. Your task is to {task}.", "Found by a run of PROMST.")
    (tmp_path / f"{name}.yaml").write_text(text)
    prompts.load.cache_clear()
    try:
        before = prompts.load("plan")
        monkeypatch.setenv("GOOD_ROS_PROMPTS", str(tmp_path))
        prompts.load.cache_clear()
        used = prompts.load("plan")
        assert used.system.strip() == "Plan well. Your task is to {task}."
        assert used.user.strip() == before.user.strip()
        assert prompts.load("infer").name == "infer"
        (tmp_path / "plan.yaml").write_text("description: x\nslots: [task]\nsystem: '{task}'\n")
        prompts.load.cache_clear()
        with pytest.raises(InputError, match="must have the slots"):
            prompts.load("plan")
    finally:
        monkeypatch.delenv("GOOD_ROS_PROMPTS", raising=False)
        prompts.load.cache_clear()


def status(turn: int, code: ErrorCode, message: str, plan: list[str], history=()) -> dict:
    return {
        "turn": turn,
        "error_code": int(code),
        "error_msg": message,
        "plan": [{"label": label} for label in plan],
        "history": list(history),
    }


def result(turn: int, label: str, message: str = "") -> dict:
    return {"turn": turn, "step": {"label": label}, "success": not message, "error_msg": message}


@pytest.fixture
def session(tmp_path):
    said = {
        1: "Put the bread away.",
        2: "No, that is wrong. I meant the fridge!",
        3: "Break the mug.",
        4: "Now the tomato.",
        5: "What is wrong with the weather?",
    }
    record = SessionRecord(tmp_path / "sessions" / "s1", {"model": "x"})
    turns = [{"turn": t, "question": "?", "utterance": u} for t, u in said.items()]
    record.write("transcript", {"turns": turns})
    undone = [result(4, "put Tomato in Fridge", "undone: the plan was cancelled")]
    for line in (
        status(1, ErrorCode.NONE, "", ["put Bread in Bin"]),
        status(3, ErrorCode.NONE, "", ["break Mug"]),
        status(3, ErrorCode.NOT_APPROVED, "the person said no: it breaks", ["break Mug"]),
        status(3, ErrorCode.NOT_APPROVED, "the person said no: it breaks", ["break Mug"]),
        status(4, ErrorCode.NONE, "", ["put Tomato in Fridge"]),
        status(4, ErrorCode.CANCELLED, "the plan was cancelled", [], undone),
    ):
        record.write("status", line)
    record.close()
    return tmp_path / "sessions"


def test_refused_undone_and_corrected_plans_are_feedback(session):
    found = read_corrections(session)
    assert {f.kind for f in found} == {Kind.CORRECTION}
    texts = [f.text for f in found]
    assert len(texts) == 3
    assert "'break Mug' was refused" in texts[0]
    assert "'put Tomato in Fridge' was begun and had to be undone" in texts[1]
    assert "after the plan 'put Bread in Bin' the person said: No, that is wrong." in texts[2]
    assert texts[2].startswith("When the person had said 'Put the bread away.'")
    assert read_corrections(session / "s1") == found


def test_a_folder_without_sessions_is_said(tmp_path):
    with pytest.raises(InputError, match="holds none"):
        read_corrections(tmp_path)


def test_corrections_reach_the_model_that_writes_prompts(session, tmp_path):
    actor = ScriptedGenerator([GOOD_PLAN, "what?", GOOD_PLAN, GOOD_PLAN])
    writer = ScriptedGenerator(["Summed up.", "Ask first. {task}"])
    config = RunConfig(
        "household",
        {
            "name": "household",
            "profiles": ["put_away_food"],
            "per_profile": 1,
            "held_back": 0,
            "corrections": [str(session)],
        },
        {"task": "actor", "prompt": "writer"},
        levels=1,
        kids=(1, 1),
        score_model=None,
    )
    models = {"actor": actor, "writer": writer}
    found = optimize(config, tmp_path / "run", models=lambda m, s: models[m])
    asked = writer.calls[0][-1].content
    assert "correction by a person" in asked
    assert "'break Mug' was refused" in asked
    assert found.prompts == 2
    kept = json.loads((tmp_path / "run" / "instances.json").read_text())
    assert kept["instances"][0]["layout"]["profile"] == "put_away_food"
