"""The isolated inference experiment within a run."""

import json
from dataclasses import replace

import pytest

from good_ros.core.errors import InputError
from good_ros.experiments.evidence_store import JsonLinesStore
from good_ros.experiments.isolated import run_isolated
from good_ros.experiments.reporting import REPORT, Report
from good_ros.experiments.run_folder import SESSIONS, RunFolder
from good_ros.experiments.spec import Isolated, Spec
from good_ros.inference.layout import Layout
from good_ros.language.scripted import ScriptedGenerator

from .toy import ToyScorer

SPEC = Spec("toy", {"robot": ("valuables_in_safe",)}, ("ours",))
CHOICES = ("bank", "library", "mall", "park", "shop")


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.jsonl"
    lines = [
        {
            "id": str(i),
            "question": "Where do you find books?",
            "choices": {"label": list("ABCDE"), "text": list(CHOICES)},
            "answerKey": key,
        }
        for i, key in enumerate("BE")
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


def rephrasings(choice):
    # Only the library's share a word with it.
    words = "the library" if choice == "library" else "some other"
    return json.dumps([f"{words} {i}" for i in range(4)])


def run(spec, folder, tmp_path):
    scripted = ScriptedGenerator([rephrasings(choice) for choice in CHOICES])
    told = []
    run_isolated(
        spec,
        folder,
        generators=lambda name: scripted,
        scorers=lambda model, layout: ToyScorer(layout),
        store=lambda name: JsonLinesStore(tmp_path / f"{name}.jsonl"),
        on_result=told.append,
    )
    return told


def test_each_model_answers_in_both_readings_and_is_not_run_again(questions, tmp_path):
    spec = replace(SPEC, isolated=Isolated(questions, models=("small",)))
    folder = RunFolder(tmp_path / "run")
    with folder.begin(spec, "good experiment run toy.yaml", "abc"):
        told = run(spec, folder, tmp_path)
        assert [(r["model"], r["layout"], r["n"]) for r in told] == [
            ("small", Layout.GOAL_LAST.value, 2),
            ("small", Layout.GOAL_FIRST.value, 2),
        ]
        # 'library' is recognised by its word; of 'shop' all goals say as little.
        assert told[0]["accuracy"] == 0.5
        assert (told[0]["accuracy_low"], told[0]["accuracy_high"]) == (0.0, 1.0)
        assert run(spec, folder, tmp_path) == []
        with folder.writer(SESSIONS, spec.sessions()[0]) as write:
            write({"record": "end", "machine_score": 1.0, "at_start": 0.0, "turns": 3})
    report = Report(folder)
    report.write()
    assert (folder.path / REPORT / "figure3_inference.png").stat().st_size > 0
    assert "0.5" in (folder.path / REPORT / "figure3_inference.csv").read_text()
    assert "isolated inference" in report.text()


def test_questions_that_are_not_there(tmp_path):
    spec = replace(SPEC, isolated=Isolated(str(tmp_path / "none.jsonl")))
    folder = RunFolder(tmp_path / "run")
    with folder.begin(spec, "", ""), pytest.raises(InputError, match="cannot be read"):
        run(spec, folder, tmp_path)
    run_isolated(SPEC, folder)
