"""Recorded expert runs, done again in the household and through AI2-THOR's client."""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path

import pytest

from good_ros import cli
from good_ros.core.errors import InputError, WorldError
from good_ros.experiments.replay import load_runs, replay_runs
from good_ros.worlds.ai2thor.options import Ai2thorOptions
from good_ros.worlds.ai2thor.world import Ai2thorWorld

SHARED = Path(os.environ.get("GOOD_ROS_SHARED", Path(__file__).parents[3] / "shared"))
RECORDED = SHARED / "data" / "alfred_trajectories_a.json"

BREAD, FRIDGE = "Bread|-00.52|+01.17|-00.03", "Fridge|-02.10|+00.00|+01.07"
RUN = {
    "id": "own/cool_bread",
    "task_type": "pick_cool_then_place_in_recep",
    "pddl_params": {
        "object_target": "Bread",
        "parent_target": "CounterTop",
        "mrecep_target": "",
        "toggle_target": "",
        "object_sliced": False,
    },
    "scene": "FloorPlan1",
    "object_poses": [],
    "object_toggles": [],
    "actions": [
        {"action": "PickupObject", "objectId": BREAD},
        {"action": "OpenObject", "objectId": FRIDGE},
        {"action": "PutObject", "objectId": BREAD, "receptacleObjectId": FRIDGE},
        {"action": "PickupObject", "objectId": BREAD},
        {
            "action": "PutObject",
            "objectId": BREAD,
            "receptacleObjectId": "CounterTop|-00.10|+01.15|00.00",
        },
    ],
}


def changed(**fields):
    return {**copy.deepcopy(RUN), **fields}


def test_a_run_of_our_own_passes():
    report = replay_runs([RUN])
    assert (report.runs, report.passed, report.failures) == (1, 1, [])


@pytest.mark.parametrize("number", range(1, 6))
def test_an_impossible_action_is_reported_exactly(number):
    run = changed()
    run["actions"][number - 1] = {"action": "PickupObject", "objectId": FRIDGE}
    (failure,) = replay_runs([run]).failures
    assert (failure.id, failure.step) == ("own/cool_bread", number)
    assert failure.reason.startswith("PickupObject: Fridge cannot be picked up")


def test_actions_that_work_but_do_not_reach_the_condition_are_told_apart():
    (failure,) = replay_runs([changed(actions=RUN["actions"][:3])]).failures
    assert failure.step == 0
    assert "condition" in failure.reason


def test_a_thing_that_is_not_there_is_named():
    run = changed()
    run["actions"][0]["objectId"] = "Anvil|+00.00|+00.00|+00.00"
    (failure,) = replay_runs([run]).failures
    assert failure.step == 1
    assert "Anvil" in failure.reason


def test_poses_put_things_where_they_were_recorded():
    """On the first counter, with an id that follows from the pose."""
    pose = {"objectName": "Bread_1234", "position": {"x": 0.69, "y": 1.02, "z": -2.48}}
    run = changed(object_poses=[pose])
    recorded = "Bread|+00.69|+01.02|-02.48"
    for action in run["actions"]:
        if action["objectId"] == BREAD:
            action["objectId"] = recorded
    assert replay_runs([run]).failures == []


@pytest.mark.parametrize(
    ("text", "match"),
    [("{", "not JSON"), ("{}", "not a list"), ('[{"id": "x"}]', "run 1 lacks task_type")],
)
def test_a_bad_file_is_named(tmp_path, text, match):
    path = tmp_path / "runs.json"
    path.write_text(text)
    with pytest.raises(InputError, match=match):
        load_runs(path)
    assert cli.main(["eval", "replay", "--data", str(path)]) == 1


def test_the_command_prints_one_json_object_last(tmp_path, capsys):
    path = tmp_path / "runs.json"
    broken = changed(id="own/broken", actions=[{"action": "OpenObject", "objectId": BREAD}])
    path.write_text(json.dumps([RUN, broken]))
    assert cli.main(["eval", "replay", "--data", str(path), "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    report = json.loads(out)
    assert (report["runs"], report["passed"], report["share"]) == (2, 1, 0.5)
    assert report["failures"][0]["id"] == "own/broken"
    assert report["failures"][0]["step"] == 1


@pytest.fixture(scope="module")
def stand_in():
    """AI2-THOR's client over the stand-in player."""
    pytest.importorskip("ai2thor")
    world = Ai2thorWorld(Ai2thorOptions(player="stand-in"))
    yield world
    world.close()


class TestThroughTheClient:
    """The same list as in the household."""

    @pytest.mark.parametrize("number", range(1, 6))
    def test_an_impossible_action_is_reported_exactly(self, stand_in, number):
        run = changed()
        run["actions"][number - 1] = {"action": "SliceObject", "objectId": FRIDGE}
        (failure,) = replay_runs([RUN, run], world=stand_in).failures
        assert failure.step == number
        assert replay_runs([RUN, run]).failures == [failure]

    def test_by_the_command(self, tmp_path, capsys):
        pytest.importorskip("ai2thor")
        path = tmp_path / "runs.json"
        broken = changed(id="own/broken", actions=[{"action": "OpenObject", "objectId": BREAD}])
        path.write_text(json.dumps([RUN, broken]))
        arguments = ["eval", "replay", "--data", str(path), "--json"]
        lists = []
        for world in (["household"], ["ai2thor", "--player", "stand-in"]):
            assert cli.main([*arguments, "--world", *world]) == 0
            lists.append(json.loads(capsys.readouterr().out))
        assert lists[0] == lists[1]
        assert lists[0]["failures"][0]["step"] == 1

    def test_a_world_that_is_lost_is_no_failed_run(self, tmp_path):
        build = tmp_path / "player.sh"
        build.write_text(
            f"#!/bin/sh\n{sys.executable} -m good_ros.worlds.ai2thor.standin "
            '--trouble crash --at PutObject "$@"\n'
        )
        build.chmod(0o755)
        world = Ai2thorWorld(Ai2thorOptions(build=str(build)))
        world.reset("FloorPlan1")
        build.unlink()
        with pytest.raises(WorldError, match="own/cool_bread, step 3"):
            replay_runs([RUN], world=world)
        world.close()


@pytest.mark.skipif(not RECORDED.is_file(), reason="the recorded ALFRED runs are not here")
def test_recorded_expert_runs_pass(stand_in):
    runs = load_runs(RECORDED)
    report = replay_runs(runs)
    assert report.runs == 63
    assert report.passed / report.runs >= 0.97, report.failures
    assert replay_runs(runs, world=stand_in) == report
