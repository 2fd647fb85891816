"""Runs of experiments: complete, killed anywhere, with a server that fails, in parallel."""

import json
import multiprocessing
import os
import threading
from dataclasses import replace

import pytest

from good_ros.cli import main
from good_ros.core.errors import InputError, ModelError
from good_ros.experiments.judges import OUTCOME
from good_ros.experiments.reporting import REPORT, Report
from good_ros.experiments.run_folder import JUDGEMENTS, SESSIONS, RunFolder
from good_ros.experiments.runner import run
from good_ros.experiments.spec import SessionKey, Spec
from good_ros.experiments.usage import Prices

from ..model_server import Server
from .toy import ToyGenerator, toy_models

SPEC = Spec(
    "toy",
    {"robot": ("valuables_in_safe",), "grocery": ("chocolate_cake",)},
    rounds=4,
    judge_model="toy",
)
SHORT = replace(
    SPEC, profiles={"robot": ("valuables_in_safe",)}, variants=("ours", "no_goals"), rounds=2
)
TIMED = ("costs.csv",)
"""Of the tables, those that have seconds in them."""


def run_all(spec, path, **keywords):
    folder = RunFolder(path)
    with folder.begin(spec, "good experiment run toy.yaml", "abc"):
        return folder, run(spec, folder, keywords.pop("models", toy_models), **keywords)


def tables(folder):
    Report(folder).write_tables()
    return {
        path.name: path.read_text()
        for path in sorted((folder.path / REPORT).glob("*.csv"))
        if path.name not in TIMED
    }


def untimed(folder, spec):
    """All records of a run without what differs from run to run."""
    return [
        record
        for kind in (SESSIONS, JUDGEMENTS)
        for key in spec.sessions()
        for record in folder.read(kind, key)
        if record["record"] != "cost"
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Both domains and all variants, with what was told on the way."""
    told = []
    folder, result = run_all(SPEC, tmp_path_factory.mktemp("whole"), on_progress=told.append)
    return folder, result, told


class TestWhole:
    def test_every_variant_is_run_in_both_domains(self, whole):
        folder, result, _ = whole
        assert (result.done, result.failed, result.skipped) == (8, {}, 0)
        cells = Report(folder).cells_as_json
        assert {d: list(v) for d, v in cells.items()} == {
            d: ["ours", "ours_paper", "no_goals", "no_inference"] for d in ("robot", "grocery")
        }
        for variants in cells.values():
            for cell in variants.values():
                assert cell["n"] == cell["wanted"] == 1
                assert cell["low"] <= cell["machine_score"] <= cell["high"]
        assert cells["robot"]["ours"]["machine_score"] == 1.0
        assert cells["robot"]["ours"]["at_start"] == 0.0
        assert cells["robot"]["no_goals"]["goals_reasonable"] is None
        # Flour, sugar, eggs and milk of seven, and nothing ready-made.
        assert cells["grocery"]["ours"]["machine_score"] == pytest.approx(5 / 7)

    def test_records_hold_beliefs_transcript_actions_and_the_cart(self, whole):
        folder, _, _ = whole
        records = folder.read(SESSIONS, SessionKey("grocery", "chocolate_cake", "ours", 0))
        assert [r["record"] for r in records] == ["session", *["turn"] * 4, "end", "cost"]
        first = records[1]
        assert first["utterance"] == "Please put the flour in the cart."
        assert [b["settled"] for b in first["beliefs"]] == [False, True]
        assert sum(h["probability"] for h in first["beliefs"][1]["hypotheses"]) == pytest.approx(1)
        assert first["actions"][0]["label"] == "add Plain White Flour"
        assert records[-2]["cart"]["Medium Eggs"] == [1, 179]
        usage = records[-1]["usage"]
        assert usage["human"]["calls"] == 4
        assert all(u["tokens_in"] > 0 for u in usage.values())

    def test_the_baselines_take_no_scores_and_no_goals_takes_no_goals(self, whole):
        folder, _, _ = whole
        by_variant = {
            variant: folder.read(SESSIONS, SessionKey("robot", "valuables_in_safe", variant, 0))
            for variant in SPEC.variants
        }
        scored = {v: r[-1]["scoring"]["tokens_scored"] for v, r in by_variant.items()}
        assert scored["no_goals"] == scored["no_inference"] == 0 < scored["ours"]
        assert all(t["goals"] is None for t in by_variant["no_goals"] if t["record"] == "turn")
        assert by_variant["no_inference"][1]["goals"]["added"]

    def test_progress_tells_time_left_and_tokens(self, whole):
        _, _, told = whole
        assert [p.done for p in told] == list(range(1, 9))
        assert all(p.total == 8 and p.seconds_left is not None for p in told)
        assert told[-1].seconds_left == 0
        assert told[0].tokens_in < told[-1].tokens_in
        assert told[-1].cost is None

    def test_a_second_run_computes_nothing(self, whole):
        folder, _, _ = whole

        def no_models():
            raise AssertionError("a session that is there was run again")

        assert run_all(SPEC, folder.path, models=no_models)[1].done == 8

    def test_figures_and_tables_are_written_and_name_their_source(self, whole):
        folder, _, _ = whole
        paths = Report(folder).write()
        names = {path.name for path in paths}
        assert {"figure4_grocery.png", "figure5_robot.png", "figure4_grocery.csv"} <= names
        for path in paths:
            assert path.stat().st_size > 0
            if path.suffix == ".png":
                assert path.read_bytes().startswith(b"\x89PNG")
        row = (folder.path / REPORT / "figure5_robot.csv").read_text().splitlines()[1]
        assert row.endswith("default,,toy,0,4,abc,good experiment run toy.yaml")
        note = Report(folder).note("robot")
        for part in (
            "model default",
            "judge toy",
            "seed 0",
            "4 sessions",
            "commit abc",
            "toy.yaml",
        ):
            assert part in note

    def test_another_experiment_is_not_mixed_in(self, whole):
        folder, _, _ = whole
        with pytest.raises(InputError, match=r"another experiment \(rounds differ"):
            run_all(replace(SPEC, rounds=5), folder.path)


class Killed(BaseException):
    """What a signal does to a run."""


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    folder, _ = run_all(SHORT, tmp_path_factory.mktemp("short"))
    return tables(folder), untimed(folder, SHORT)


class TestKilled:
    def test_killed_after_any_record_and_gone_on_with_it_comes_out_the_same(self, short, tmp_path):
        count = 0
        for at in range(1, 100):
            folder = RunFolder(tmp_path / str(at))
            written = 0

            def write_or_die(at=at):
                nonlocal written
                written += 1
                if written == at:
                    raise Killed

            folder.on_write = write_or_die
            try:
                with folder.begin(SHORT, "good experiment run toy.yaml", "abc"):
                    run(SHORT, folder, toy_models)
                break
            except Killed:
                count += 1
            again, _ = run_all(SHORT, folder.path)
            assert tables(again) == short[0]
            assert untimed(again, SHORT) == short[1]
        # Each session: its name, 2 turns, end and cost; 3 or 1 judgements and their cost.
        assert count == 2 * 5 + 4 + 2

    def test_a_process_that_is_gone_leaves_a_folder_that_can_be_gone_on_with(self, short, tmp_path):
        def die_in_the_second_session():
            folder = RunFolder(tmp_path)
            written = []

            def write():
                written.append(0)
                if len(written) == 12:
                    os._exit(9)

            folder.on_write = write
            with folder.begin(SHORT, "good experiment run toy.yaml", "abc"):
                run(SHORT, folder, toy_models)

        child = multiprocessing.get_context("fork").Process(target=die_in_the_second_session)
        child.start()
        child.join()
        assert child.exitcode == 9
        assert list((tmp_path / SESSIONS).glob("*.part"))
        played = []
        folder, result = run_all(SHORT, tmp_path, on_progress=lambda p: played.append(p.key))
        assert (len(played), result.done) == (1, 2)
        assert untimed(folder, SHORT) == short[1]

    def test_one_run_at_a_time(self, tmp_path):
        with (
            RunFolder(tmp_path).begin(SHORT, "", ""),
            pytest.raises(InputError, match="another run has"),
        ):
            run_all(SHORT, tmp_path)


class TestFailing:
    def test_a_session_whose_model_fails_is_left_for_the_next_run(self, tmp_path, short):
        def fail_on_no_goals(spec, key, models, write):
            from good_ros.experiments.play import play

            if key.variant == "no_goals":
                raise ModelError("the server is down")
            return play(spec, key, models, write)

        told = []
        folder, result = run_all(
            SHORT, tmp_path, play_session=fail_on_no_goals, on_progress=told.append
        )
        assert (result.done, result.failed) == (
            1,
            {"robot.valuables_in_safe.no_goals.0": "the server is down"},
        )
        assert told[-1].error == "the server is down"
        assert Report(folder).cells_as_json["robot"]["no_goals"]["n"] == 0
        assert Report(folder).cells_as_json["robot"]["no_goals"]["machine_score"] is None
        run_all(SHORT, tmp_path)
        assert untimed(folder, SHORT) == short[1]

    def test_after_three_in_a_row_no_more_is_begun(self, tmp_path):
        def fail(*_):
            raise ModelError("down")

        _, result = run_all(SPEC, tmp_path, play_session=fail)
        assert (len(result.failed), result.skipped) == (3, 5)
        # Those that failed come last the next time, and do not keep the others from being run.
        told = []
        _, result = run_all(SPEC, tmp_path, on_progress=told.append)
        assert [p.key for p in told[-3:]] == SPEC.sessions()[:3]
        assert result.done == 8
        assert not list(tmp_path.glob("failures/*"))

    def test_a_judge_that_says_no_score_is_missing_and_counted(self, tmp_path):
        folder, _ = run_all(SHORT, tmp_path, models=lambda: toy_models('{"score": 9}'))
        cell = Report(folder).cells_as_json["robot"]["ours"]
        assert (cell["judge_score"], cell["judge_n"], cell["judge_missing"]) == (None, 0, 3)
        key = SHORT.sessions()[0]
        judged = {r["criterion"]: r for r in folder.read(JUDGEMENTS, key) if "criterion" in r}
        assert judged[OUTCOME]["replies"] == ['{"score": 9}'] * 2


def test_sessions_run_in_parallel_where_servers_answer_them(tmp_path, short):
    together = threading.Barrier(2, timeout=60)

    class Meeting(ToyGenerator):
        def generate(self, *arguments, **keywords):
            if not self.calls:
                # Goes on only where two sessions are under way at the same time.
                together.wait()
            return super().generate(*arguments, **keywords)

    spec = replace(SHORT, workers=2)
    folder, _ = run_all(spec, tmp_path, models=lambda: replace(toy_models(), human=Meeting()))
    assert untimed(folder, spec) == short[1]


def test_costs_are_counted_by_what_they_are_priced_at(tmp_path):
    spec = replace(SHORT, prices={"model": Prices(2.0, 4.0), "judge": Prices(1.0, 0.0)})
    told = []
    folder, _ = run_all(spec, tmp_path, on_progress=told.append)
    expected = 0.0
    for key in spec.sessions():
        for usage in folder.read(SESSIONS, key)[-1]["usage"].values():
            expected += (2 * usage["tokens_in"] + 4 * usage["tokens_out"]) / 1e6
        expected += folder.read(JUDGEMENTS, key)[-1]["usage"]["judge"]["tokens_in"] / 1e6
    assert told[-1].cost == pytest.approx(expected)
    assert expected > 0


def test_the_commands(monkeypatch, capsys, tmp_path):
    path = tmp_path / "toy.yaml"
    path.write_text(
        "domains: [robot]\nprofiles: [valuables_in_safe]\nvariants: [ours]\nrounds: 2\n"
        "judge_model: small\n"
    )
    monkeypatch.setattr("good_ros.commands.experiment.load_models", lambda spec: toy_models())
    folder = str(tmp_path / "run")
    assert main(["experiment", "run", str(path), "--folder", folder]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == folder
    assert "1/1 robot, valuables_in_safe, ours, trial 0" in err
    assert main(["experiment", "report", folder, "--json"]) == 0
    cell = json.loads(capsys.readouterr().out.splitlines()[-1])["robot"]["ours"]
    assert {"n", "machine_score", "judge_score", "low", "high"} <= set(cell)
    assert main(["experiment", "report", str(tmp_path)]) == 1
    assert "no folder of `good experiment run`" in capsys.readouterr().err


def test_a_served_model_and_judge_that_answer_nonsense_end_in_scores_that_are_missing(
    capsys, tmp_path
):
    server = Server("I cannot say.")
    path = tmp_path / "served.yaml"
    path.write_text(
        "domains: [robot]\nprofiles: [valuables_in_safe]\nvariants: [no_goals]\nrounds: 1\n"
        f"trials: 2\nworkers: 2\nmodel: {server.url}\nscoring_model: {server.url}\n"
        f"judge_model: {server.url}\nprices: {{model: {{in: 1000, out: 0}}}}\n"
    )
    folder = str(tmp_path / "run")
    assert main(["experiment", "run", str(path), "--folder", folder]) == 0
    assert "2/2" in (err := capsys.readouterr().err)
    assert main(["experiment", "report", folder, "--json"]) == 0
    cell = json.loads(capsys.readouterr().out.splitlines()[-1])["robot"]["no_goals"]
    assert (cell["n"], cell["machine_score"], cell["judge_score"]) == (2, 0.0, None)
    assert cell["judge_missing"] == 2
    # Each call reads seven tokens; the judge, asked twice in each session, has no price.
    read = 7 * (len(server.requests) - 4) / 1000
    assert f"cost {read:.4f}" in err
    server.shutdown()
