"""Whole runs with scripted models: the method, resuming, the baselines, report and apply."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from good_ros.cli import main
from good_ros.core.errors import InputError, ModelError
from good_ros.core.resources import config_folder
from good_ros.language import prompts
from good_ros.language.generator import Message, Reply, Sampling
from good_ros.optimize.config import Budget, config_from, read_config
from good_ros.optimize.environments.base import Feedback, Kind
from good_ros.optimize.methods.base import cleaned
from good_ros.optimize.methods.promst import shortened
from good_ros.optimize.methods.registry import METHODS
from good_ros.optimize.report import read_run
from good_ros.optimize.resources import PROMPTS
from good_ros.optimize.run import choose_folder, make_model, optimize, resolved
from good_ros.optimize.scores import make_score
from good_ros.optimize.scripted import RULES, ScriptedActor, ScriptedWriter
from good_ros.optimize.store import read_lines
from good_ros.optimize.tasks import history_text
from good_ros.optimize.trial import Round, Trial

SMOKE = config_folder() / "optimize" / "smoke.yaml"


def smoke(**changes):
    return replace(read_config(SMOKE), **changes)


def summary(folder: Path) -> tuple:
    """What a run came to, without times."""
    return (
        (folder / "result.json").read_text(),
        [(p["key"], p["text"], p["score"], p["parents"]) for p in read_lines(folder, "prompts")],
        [(m["key"], m.get("predicted"), m.get("test_error")) for m in read_lines(folder, "models")],
        read_lines(folder, "levels"),
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    optimize(smoke(), folder)
    return folder


def test_the_phrases_are_found_with_fewer_trials_by_the_score_model_over_ten_seeds(tmp_path):
    trials = Counter()
    for seed in range(10):
        for name, model in (("with", smoke().score_model), ("without", None)):
            result = optimize(smoke(seed=seed, score_model=model), tmp_path / f"{name}{seed}")
            assert (result.start_score, result.best_score) == (0.0, 1.0), (name, seed)
            assert result.held_back_best == 1.0
            trials[name] += result.search_trials
    assert trials["with"] < 0.9 * trials["without"], trials


def test_the_best_prompt_has_all_rules(finished):
    best = read_run(finished).best["text"]
    assert all(rule in best for rule in RULES.values())


class Killed(Exception):
    pass


class Dying:
    """A model that dies at its ``last`` call."""

    model_name = "dying"

    def __init__(self, model, last: list[int]) -> None:
        self.model = model
        self.left = last

    def generate(self, *arguments, **options):
        self.left[0] -= 1
        if self.left[0] < 0:
            raise Killed
        return self.model.generate(*arguments, **options)

    def close(self):
        pass


@pytest.mark.parametrize("calls", [1, 7, 40, 150, 420])
def test_a_run_that_was_killed_goes_on_to_the_same_result(finished, tmp_path, calls):
    folder = tmp_path / "run"
    starts = 0
    left = [calls]
    while True:
        starts += 1
        try:
            optimize(smoke(), folder, models=lambda m, s: Dying(make_model(m), left))
            break
        except Killed:
            # What was being written when it died.
            with (folder / "trials.jsonl").open("a") as file:
                file.write('{"key": "cut o')
            left[0] = max(calls, 60)
    assert starts > 1
    assert summary(folder) == summary(finished)


def test_parallel_trials_change_nothing_but_the_order_of_lines(finished, tmp_path):
    optimize(smoke(parallel=2), tmp_path / "run")
    assert summary(tmp_path / "run")[1:] == summary(finished)[1:]


def test_a_finished_run_is_not_computed_again_and_nothing_is_written_over(finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    before = {p.name: p.read_bytes() for p in folder.glob("*.jsonl")}

    def no_models(model, served):
        return Dying(None, [0])

    optimize(smoke(), folder, models=no_models)
    assert {p.name: p.read_bytes() for p in folder.glob("*.jsonl")} == before
    with pytest.raises(InputError, match="other settings"):
        optimize(smoke(seed=1), folder)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").touch()
    with pytest.raises(InputError, match="something else"):
        optimize(smoke(), tmp_path / "letters")


def test_the_next_free_folder_is_taken_unless_a_run_is_unfinished(tmp_path):
    config = resolved(smoke())
    first = choose_folder(tmp_path, config)
    assert first.name == "smoke-001"
    with pytest.raises(Killed):
        optimize(smoke(), first, models=lambda m, s: Dying(make_model(m), [20]))
    assert choose_folder(tmp_path, config) == first
    assert choose_folder(tmp_path, config, new=True).name == "smoke-002"
    assert choose_folder(tmp_path, replace(config, seed=3)).name == "smoke-002"
    optimize(smoke(), first)
    assert choose_folder(tmp_path, config).name == "smoke-002"


@pytest.mark.parametrize(
    ("budget", "word"),
    [(Budget(trials=20), "20 trials"), (Budget(calls=300), "calls"), (Budget(tokens=9999), "tok")],
)
def test_a_budget_ends_the_search_with_the_best_so_far(tmp_path, budget, word):
    result = optimize(smoke(budget=budget), tmp_path / "run")
    assert word in result.end
    assert result.held_back_best is not None
    if budget.trials:
        assert result.search_trials == 20


@pytest.mark.parametrize("method", [m for m in METHODS if m != "promst"])
def test_every_baseline_runs_in_the_harness_and_can_be_gone_on_with(tmp_path, method):
    start = "Play.\nPut the action in braces.\nPick goal_0 first, then the others by their numbers."
    task = {**smoke().task, "start_prompt": start}
    config = smoke(method=method, task=task, budget=Budget(trials=24), levels=2)
    left = [50]
    folder = tmp_path / "run"
    with pytest.raises(Killed):
        optimize(config, folder, models=lambda m, s: Dying(make_model(m), left))
    again = optimize(config, folder)
    fresh = optimize(config, tmp_path / "fresh")
    assert again == fresh
    assert again.prompts > 1
    assert again.search_trials <= 26
    assert summary(folder)[1] == summary(tmp_path / "fresh")[1]


class Constant:
    """Says the same whatever it is asked; keeps what it was asked."""

    model_name = "constant"

    def __init__(self, *replies: str) -> None:
        self.replies = replies
        self.asked: list[str] = []

    def generate(self, messages, sampling, *arguments, **options):
        self.asked.append(messages[-1].content)
        text = self.replies[len(self.asked) % len(self.replies)]
        return Reply(text, 10, 1, 0.0)

    def close(self):
        pass


def test_feedback_is_summed_up_by_type_and_new_prompts_see_the_way_that_led_to_them(tmp_path):
    writer = Constant("A better prompt.", "Another prompt.")
    models = {"scripted:actor": ScriptedActor(), "scripted:writer": writer}
    config = smoke(levels=2, kids=(1, 1), beam=1, stop_at=None)
    optimize(config, tmp_path / "run", models=lambda m, s: models[m])
    assert "(type: syntactic error)" in writer.asked[0]
    assert "The reply was: Move" in writer.asked[0]
    assert "syntactic error:" in writer.asked[1]
    assert "Prompt 1 (score 0.00):" in writer.asked[1]


def test_no_more_than_ten_instances_of_feedback_are_told(tmp_path):
    writer = Constant("x")
    models = {"scripted:actor": Constant("{Jump}"), "scripted:writer": writer}
    task = {**smoke().task, "per_size": 12, "held_back": 0}
    config = smoke(task=task, levels=1, kids=(1, 1))
    result = optimize(config, tmp_path / "run", models=lambda m, s: models[m])
    assert writer.asked[0].count("The reply was") == 10
    assert result.held_back_best is None


def test_types_of_feedback_and_summing_up_can_be_left_out(tmp_path):
    writer = Constant("x", "y")
    models = {"scripted:actor": ScriptedActor(), "scripted:writer": writer}
    for number, options in enumerate(({"leave_out": "all"}, {"summarise": False})):
        config = smoke(levels=1, kids=(1, 1), method_options=options)
        optimize(config, tmp_path / str(number), models=lambda m, s: models[m])
    assert "(none; make the prompt clearer)" in writer.asked[0]
    assert "syntactic error:\n- The reply was" in writer.asked[1]
    with pytest.raises(InputError, match="stuck in the loop"):
        optimize(smoke(method_options={"leave_out": ["rudeness"]}), tmp_path / "x")


def test_long_feedback_loses_its_middle():
    assert shortened("short", 10) == "short"
    assert shortened("a" * 50 + "b" * 50, 10) == "aaaaa … bbbbb"


def test_the_search_ends_after_levels_without_gain(tmp_path):
    models = {"scripted:actor": ScriptedActor(), "scripted:writer": Constant("a", "b", "c")}
    config = smoke(patience=3, stop_at=None, kids=(2, 1))
    result = optimize(config, tmp_path / "run", models=lambda m, s: models[m])
    assert result.end == "3 levels brought no gain"
    assert len(read_lines(tmp_path / "run", "levels")) == 3


def test_reflexion_tries_again_with_what_it_learnt(tmp_path):
    rules = " ".join(dict.fromkeys(RULES.values()))
    models = {"scripted:actor": ScriptedActor(), "scripted:writer": Constant(rules)}
    config = smoke(method="ape", levels=1, kids=(0, 0), online_tries=2)
    result = optimize(config, tmp_path / "run", models=lambda m, s: models[m])
    assert result.held_back_best == 0.0
    assert result.held_back_online == 1.0


def test_a_model_that_fails_stops_the_run_which_can_be_gone_on_with(tmp_path):
    class Failing:
        model_name = "failing"

        def generate(self, *arguments, **options):
            raise ModelError("the server is away")

        def close(self):
            pass

    with pytest.raises(ModelError):
        optimize(smoke(), tmp_path / "run", models=lambda m, s: Failing())
    assert not (tmp_path / "run" / "result.json").exists()
    assert optimize(smoke(), tmp_path / "run").best_score == 1.0


def test_the_window_of_history_keeps_the_latest_rounds():
    rounds = [Round(f"state {n}", "{Move up}", "moved") for n in range(50)]
    text = history_text(rounds, 400)
    assert len(text) <= 450
    assert "Step 50. State: state 49" in text
    assert "state 1\n" not in text
    assert history_text([], 400) == "(this is the first step)"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("  Do it. ", "Do it."),
        ("Here:\n```text\nDo {this}.\n```\nDone", "Do {this}."),
        ('"Do it."', "Do it."),
        ("---\nDo it.\n---", "Do it."),
    ],
)
def test_a_prompt_is_taken_out_of_a_reply(reply, text):
    assert cleaned(reply) == text


class TestScores:
    trial = Trial(
        "i",
        0.5,
        False,
        10,
        (Feedback(Kind.COLLISION, "x"),),
        (),
        calls=10,
        tokens_in=1,
        tokens_out=4,
    )

    def test_named_ones(self):
        assert make_score("progress")(self.trial) == 0.5
        assert make_score("completion")(self.trial) == 0.0
        assert make_score("minus", {"ratio": 0.01})(self.trial) == pytest.approx(0.4)
        over = make_score("over", {"ratio": 1.0, "factor": "collisions"})
        assert over(self.trial) == pytest.approx(0.25)

    def test_a_labs_own_by_its_path(self):
        assert make_score("good_ros.optimize.scores:completion")(self.trial) == 0.0
        for name in ("nice", "good_ros.nowhere:x", "good_ros.optimize.scores:nothing"):
            with pytest.raises(InputError):
                make_score(name)

    def test_another_score_leads_to_another_result(self, tmp_path):
        score = {"name": "minus", "ratio": 0.01, "factor": "steps"}
        result = optimize(smoke(score=score, levels=1, stop_at=None), tmp_path / "run")
        assert result.start_score < 0

    def test_an_unknown_factor(self):
        with pytest.raises(InputError, match="steps, collisions"):
            make_score("minus", {"factor": "joy"})(self.trial)

    def test_a_trial_is_the_same_after_a_file(self):
        assert Trial.from_json(json.loads(json.dumps(self.trial.as_json()))) == self.trial


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"beam": 0}, "beam"),
        ({"colour": "red"}, "unknown: colour"),
        ({"kids": [1]}, "not enough values"),
        ({"score_model": {"depth": 1}}, "depth"),
        ({"task": {}}, "task.name"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_said(change, match):
    data = {**yaml.safe_load(SMOKE.read_text()), **change}
    with pytest.raises(InputError, match=match):
        config_from(data, "file")


def test_every_configuration_that_is_shipped_can_be_read():
    for path in (config_folder() / "optimize").glob("*.yaml"):
        assert read_config(path).name == path.stem


@pytest.mark.parametrize("path", sorted(PROMPTS.glob("*.yaml")), ids=lambda p: p.stem)
def test_every_prompt_declares_its_slots_and_cites_its_source(path):
    prompt = prompts.load(path.stem, folder=PROMPTS)
    assert "PROMST" in prompt.description
    assert prompt.messages(**dict.fromkeys(prompt.slots, "x"))


class TestCommand:
    def test_run_report_diff_apply(self, tmp_path, capsys):
        runs = tmp_path / "runs"
        assert main(["optimize", "run", str(SMOKE), "--runs", str(runs), "--json"]) == 0
        told = json.loads(capsys.readouterr().out.splitlines()[-1])
        run = str(runs / "smoke-001")
        assert main(["optimize", "report", run, "--json"]) == 0
        figures = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert figures == told
        assert figures["best_score"] == 1.0
        assert {
            *("start_score", "best_score", "held_back_start", "held_back_best"),
            *("trials", "tokens"),
        } <= set(figures)
        assert (runs / "smoke-001" / "report.png").stat().st_size > 10_000
        assert main(["optimize", "diff", run]) == 0
        assert "+Stay inside the grid." in capsys.readouterr().out
        for _ in range(2):
            assert main(["optimize", "apply", run, "--to", str(tmp_path / "to")]) == 0
        assert [p.name for p in (tmp_path / "to").iterdir()] == ["gridworld2.yaml"]
        written = yaml.safe_load((tmp_path / "to" / "gridworld2.yaml").read_text())
        assert "run smoke-001" in written["description"]
        assert "scripted:actor" in written["description"]
        assert (
            main(["optimize", "apply", run, "--prompt", "start", "--to", str(tmp_path / "to")]) == 0
        )
        kept = {p.name for p in (tmp_path / "to").iterdir()}
        assert kept == {"gridworld2.yaml", "gridworld2.yaml.1"}
        assert main(["optimize", "diff", run, "9999"]) == 1

    def test_a_folder_that_is_no_run(self, tmp_path, capsys):
        assert main(["optimize", "report", str(tmp_path)]) == 1
        assert "not the folder of a run" in capsys.readouterr().err


def test_scripted_models_are_named():
    with pytest.raises(InputError, match="scripted:actor"):
        make_model("scripted:poet")
    reply = ScriptedWriter().generate([Message("user", "---\nPlay.\n---\n")], Sampling())
    assert reply.text.startswith("Play.")
