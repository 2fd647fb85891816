"""The report's numbers, of a folder that was made by hand."""

import csv
import math

import pytest

from good_ros.core.errors import InputError
from good_ros.experiments.reporting import REPORT, Report
from good_ros.experiments.run_folder import JUDGEMENTS, SESSIONS, RunFolder
from good_ros.experiments.spec import SessionKey, Spec
from good_ros.experiments.tables import agreement, differences, interval, read_cells

SPEC = Spec(
    "hand", {"robot": ("a", "b")}, ("ours", "no_goals"), trials=2, judge_model="judge", seed=4
)
SCORES = {
    ("ours", "a", 0): (1.0, 3),
    ("ours", "a", 1): (1.0, 2.75),
    ("ours", "b", 0): (0.5, 1.5),
    ("ours", "b", 1): (0.5, None),
    ("no_goals", "a", 0): (0.5, 3),
    ("no_goals", "a", 1): (0.25, 0.75),
}
"""By variant, profile and trial the machine-checked score, and the judge's out of 3."""


@pytest.fixture
def folder(tmp_path):
    found = RunFolder(tmp_path)
    with found.begin(SPEC, "good experiment run hand.yaml", "abc"):
        for (variant, profile, trial), (machine, judge) in SCORES.items():
            key = SessionKey("robot", profile, variant, trial)
            with found.writer(SESSIONS, key) as write:
                write(
                    {
                        "record": "end",
                        "machine_score": machine,
                        "at_start": 0.25,
                        "turns": 4 + trial,
                    }
                )
                write({"record": "cost", "usage": {}, "scoring": {}, "seconds": 2.5, "cost": None})
            with found.writer(JUDGEMENTS, key) as write:
                given = {"outcome": (3, judge)}
                if variant == "ours":
                    given |= {"goals_reasonable": (5, 4), "goals_removed": (3, 1.5)}
                for criterion, (most, score) in given.items():
                    write(
                        {
                            "record": "judgement",
                            "criterion": criterion,
                            "most": most,
                            "score": score,
                            "replies": [],
                        }
                    )
                write({"record": "cost", "usage": {}, "cost": None})
    return found


def test_the_numbers(folder):
    cells = Report(folder).cells_as_json["robot"]
    ours, no_goals = cells["ours"], cells["no_goals"]
    assert (ours["n"], ours["wanted"], no_goals["n"], no_goals["wanted"]) == (4, 4, 2, 4)
    assert ours["machine_score"] == 0.75
    # Means of four draws from two 1 and two 0.5: all of one kind is 1/16 likely, over 2.5 %.
    assert (ours["low"], ours["high"]) == (0.5, 1.0)
    assert no_goals["machine_score"] == 0.375
    assert (no_goals["low"], no_goals["high"]) == (0.25, 0.5)
    assert ours["judge_score"] == pytest.approx((3 + 2.75 + 1.5) / 3 / 3)
    assert (ours["judge_n"], ours["judge_missing"]) == (3, 1)
    assert (ours["goals_reasonable"], ours["goals_removed"]) == (0.8, 0.5)
    assert (no_goals["goals_reasonable"], no_goals["goals_removed"]) == (None, None)
    assert (ours["fulfilled"], ours["turns"], ours["at_start"]) == (0.5, 4.5, 0.25)


def test_the_agreement_of_judge_and_conditions(folder):
    (found,) = agreement(read_cells(folder))
    # (1, 3), (1, 2.75), (0.5, 1.5), (0.5, 3), (0.25, 0.75): three of five in the same step.
    assert (found.n, found.exact) == (5, 0.6)
    # Ranks (4.5, 4.5, 2.5, 2.5, 1) and (4.5, 3, 2, 4.5, 1).
    assert found.correlation == pytest.approx(6 / math.sqrt(9 * 9.5))


def test_ours_is_compared_pair_by_pair(folder):
    (found,) = differences(read_cells(folder))
    assert (found.variant, found.n, found.mean) == ("no_goals", 2, 0.625)
    assert (found.low, found.high) == (0.5, 0.75)


def test_tables_as_files_and_text(folder):
    report = Report(folder)
    report.write()
    with (folder.path / REPORT / "figure5_robot.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["machine_score"] for row in rows] == ["0.75", "0.375"]
    assert {row["command"] for row in rows} == {"good experiment run hand.yaml"}
    with (folder.path / REPORT / "sessions.csv").open() as file:
        sessions = list(csv.DictReader(file))
    assert len(sessions) == 6
    assert sessions[3]["judge_score"] == ""
    assert "6 of 8 sessions" in report.note()
    assert "0.75" in report.text()


def test_one_session_tells_nothing_of_the_next():
    assert interval([0.5]) == (0.0, 1.0)
    assert interval([]) == (None, None)


def test_nothing_done_yet_and_a_damaged_session(tmp_path):
    folder = RunFolder(tmp_path)
    with folder.begin(SPEC, "", "abc"):
        with pytest.raises(InputError, match="no session"):
            Report(folder).write()
        with folder.writer(SESSIONS, SPEC.sessions()[0]) as write:
            write({"record": "session"})
    with pytest.raises(InputError, match="has no end"):
        Report(folder)
