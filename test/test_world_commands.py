"""``good world`` and ``good bench world``."""

from __future__ import annotations

import json

import pytest

from good_ros import cli
from good_ros.recording import SessionRecord

WATCHED = ["PickupObject", "PutObject"]


@pytest.fixture
def session(tmp_path):
    """A session that put the bread in the fridge, with a step that failed."""
    record = SessionRecord(tmp_path / "session", {})
    bread, fridge = "Bread|-00.52|+01.17|-00.03", "Fridge|-02.10|+00.00|+01.07"
    steps = [
        {"action": "PickupObject", "object_id": bread, "label": "pick up Bread"},
        {"action": "SliceObject", "object_id": fridge, "label": "slice Fridge"},
        {"action": "PutObject", "object_id": bread, "target_id": fridge, "label": "put Bread"},
    ]
    for number, step in enumerate(steps, start=1):
        success = step["action"] in WATCHED
        # It is written again once it is known that it was not undone.
        for _ in range(2):
            record.write("actions", {"number": number, "step": step, "success": success})
    record.close()
    return record.folder


class TestStore:
    @pytest.fixture(autouse=True)
    def _wide(self, monkeypatch):
        monkeypatch.setenv("COLUMNS", "200")

    def test_a_store_is_listed(self, capsys):
        assert cli.main(["world", "show", "--world", "grocery"]) == 0
        shown = capsys.readouterr().out
        assert "store: 405 items" in shown
        assert "Gluten-Free Flour Blend" in shown
        assert "in the cart: nothing" in shown

    def test_a_file_with_a_bad_row_and_a_session_goes_to_a_file(self, tmp_path, capsys):
        (tmp_path / "mine.csv").write_text("name,price\n[b]Bread[/b],2\nCake,free\n")
        record = SessionRecord(tmp_path / "session", {})
        step = {"action": "AddToCart", "object_id": "b-bread-b", "label": "add Bread"}
        record.write("actions", {"number": 1, "step": step, "success": True})
        record.close()
        out = tmp_path / "store.txt"
        options = ["--scene", str(tmp_path / "mine.csv"), "--session", str(record.folder)]
        assert cli.main(["world", "show", "--world", "grocery", *options, "--out", str(out)]) == 0
        assert "1 × [b]Bread[/b] $2.00" in out.read_text()
        assert "passed over: line 3: the price 'free' is no number" in capsys.readouterr().err

    def test_what_is_no_store_is_an_error_in_one_line(self, capsys):
        assert cli.main(["world", "show", "--world", "grocery", "--scene", "FloorPlan1"]) == 1
        assert "there is no inventory 'FloorPlan1'" in capsys.readouterr().err
        assert cli.main(["world", "show"]) == 1
        assert "--scene" in capsys.readouterr().err

    def test_check_tells_how_it_is_searched(self, capsys):
        assert cli.main(["world", "check", "--world", "grocery"]) == 0
        assert "405 items" in capsys.readouterr().out

    @pytest.mark.ros
    @pytest.mark.parametrize(
        ("arguments", "world", "scene"),
        [
            (["--world", "grocery"], "grocery", "store"),
            (["--profile", "super_bowl"], "grocery", "store"),
            ([], "household", "FloorPlan1"),
            (["--world", "ai2thor"], "ai2thor", "FloorPlan1"),
        ],
    )
    def test_the_demo_takes_world_profile_and_scene_from_each_other(
        self, monkeypatch, arguments, world, scene
    ):
        from good_ros.nodes import stack

        class Started(Exception):
            pass

        def start(options):
            raise Started(options.parameters["*"])

        monkeypatch.setattr(stack, "Stack", start)
        with pytest.raises(Started) as caught:
            cli.main(["demo", *arguments])
        common = caught.value.args[0]
        assert (common["world"], common["scene"]) == (world, scene)
        assert ("buy" in common["task"]) == (world == "grocery")
        assert cli.main(["demo", "--world", "household", "--profile", "super_bowl"]) == 1


class TestShow:
    @pytest.fixture(autouse=True)
    def _matplotlib(self):
        pytest.importorskip("matplotlib")

    @pytest.mark.parametrize("suffix", ["png", "svg"])
    def test_a_scene_is_drawn(self, tmp_path, suffix, capsys):
        out = tmp_path / f"room.{suffix}"
        assert cli.main(["world", "show", "--scene", "FloorPlan1", "--out", str(out)]) == 0
        assert capsys.readouterr().out.strip() == str(out)
        start = out.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if suffix == "png" else b"<?xml" in start

    def test_a_sessions_path_is_drawn(self, tmp_path, session):
        pictures = []
        for extra in ([], ["--session", str(session)]):
            out = tmp_path / "room.svg"
            assert (
                cli.main(["world", "show", "--scene", "FloorPlan1", "--out", str(out), *extra]) == 0
            )
            pictures.append(out.read_text())
        # Text is kept in the comments of an SVG.
        assert "1  pick up Bread" not in pictures[0]
        assert "1  pick up Bread" in pictures[1]
        assert "2  put Bread" in pictures[1]
        assert "slice Fridge" not in pictures[1]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--scene", "FloorPlan31", "--out", "x.png"], "FloorPlan31"),
            (["--scene", "FloorPlan1", "--out", "x.jpeg"], "not 'x.jpeg'"),
            (["--scene", "FloorPlan1", "--out", "/nowhere/x.png"], "cannot be written"),
            (
                ["--scene", "FloorPlan1", "--session", "/nowhere", "--out", "x.png"],
                "not a session's folder",
            ),
        ],
    )
    def test_what_cannot_be_drawn_is_said_in_a_line(self, arguments, words, capsys):
        assert cli.main(["world", "show", *arguments]) == 1
        error = capsys.readouterr().err
        assert words in error
        assert error.count("\n") == 1

    def test_a_session_of_another_scene(self, tmp_path, session, capsys):
        out = str(tmp_path / "x.png")
        arguments = ["--scene", "FloorPlan301", "--session", str(session), "--out", out]
        assert cli.main(["world", "show", *arguments]) == 1
        assert "another scene" in capsys.readouterr().err


class TestCheck:
    def test_the_household_is_ready(self, capsys):
        assert cli.main(["world", "check", "--json"]) == 0
        report = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert report["ready"] is True

    def test_ai2thor_without_a_build_is_not(self, capsys, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path))
        assert cli.main(["world", "check", "--world", "ai2thor", "--json"]) == 1
        out = capsys.readouterr().out
        assert "✗ Unity build" in out
        report = json.loads(out.splitlines()[-1])
        assert report["ready"] is False


def test_the_bench_has_its_keys(capsys):
    pytest.importorskip("ai2thor")
    assert cli.main(["bench", "world", "--rounds", "2", "--resets", "5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {"ratio_actions", "snapshot_restore_over_action", "growth_mb_1000_resets"} <= set(report)
    assert report["ratio_actions"] > 1
    assert report["snapshot_restore_over_action"] < 1
