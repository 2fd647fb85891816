"""A session on a ROS graph is the same as one without, by the same seed."""

from dataclasses import replace

import pytest

from good_ros.experiments.play import play
from good_ros.experiments.run_folder import SESSIONS, RunFolder
from good_ros.experiments.runner import run
from good_ros.experiments.spec import SessionKey, Spec
from good_ros.inference.layout import Layout

from .toy import ToyGenerator, ToyScorer, toy_models

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]

VASE = """
name: vase
domain: robot
scene: FloorPlan1
task: help
profile: The vase should be put in the cabinet.
completion_phrase: the task is completed
conditions:
  - in: [Vase_2, Cabinet_1]
"""
"""There are two of them: the robot has to ask which is meant."""
SPEC = Spec(
    "toy",
    {"robot": ("valuables_in_safe",), "grocery": ("chocolate_cake",)},
    ("ours", "ours_paper"),
    rounds=7,
    seed=3,
    graph=True,
    deadline_s=5.0,
)


@pytest.fixture
def toy_nodes(ros_domain, monkeypatch):
    for name in ("dialog", "goal_manager", "executor", "simulated_human"):
        monkeypatch.setattr(f"good_ros.nodes.{name}.make_generator", lambda *_: ToyGenerator())
    monkeypatch.setattr(
        "good_ros.nodes.goal_belief.make_scorer",
        lambda model, backend, layout, **_: ToyScorer(Layout(layout)),
    )


def test_ros_and_no_ros_runs_of_one_seed_are_identical(toy_nodes, tmp_path):
    from good_ros.nodes.graph_session import play_on_graph

    (tmp_path / "vase.yaml").write_text(VASE)
    robot = ("valuables_in_safe", str(tmp_path / "vase.yaml"))
    spec = replace(SPEC, profiles={**SPEC.profiles, "robot": robot})
    folders = []
    for name, player in (("graph", play_on_graph), ("library", play)):
        folder = RunFolder(tmp_path / name)
        with folder.begin(spec, "", ""):
            assert run(spec, folder, toy_models, play_session=player).failed == {}
        folders.append(folder)
    for key in spec.sessions():
        on_graph, without = (folder.read(SESSIONS, key) for folder in folders)
        # What was said, believed (to the last bit) and done, the end, and what it took.
        assert on_graph[:-1] == without[:-1]
        assert without[1]["beliefs"]
        assert without[-2]["machine_score"] == 1.0
        assert on_graph[-1]["usage"] == without[-1]["usage"]
        for count in ("tokens_scored", "tokens_reused"):
            assert on_graph[-1]["scoring"][count] == without[-1]["scoring"][count]
    # Among them were a plan that waited for a yes, and a question in the middle of a turn.
    cart, vase = (
        folders[0].read(SESSIONS, next(k for k in spec.sessions() if k.profile == profile))
        for profile in ("chocolate_cake", robot[1])
    )
    assert cart[-2]["steps"][-1] == "buy the basket"
    assert vase[-2]["steps"] == ["pick up Vase_2", "put Vase_2 in Cabinet_1"]
    assert vase[-1]["usage"]["human"]["calls"] == 2


def test_nodes_that_say_nothing_fail_the_session_and_not_the_run(toy_nodes, monkeypatch, tmp_path):
    from good_ros.nodes import graph_session

    class Mute(ToyScorer):
        def session(self):
            raise AssertionError("no belief is ever computed")

    monkeypatch.setattr("good_ros.nodes.goal_belief.make_scorer", lambda *_, **__: Mute())
    monkeypatch.setattr(graph_session, "CALLS_A_TURN", 0)
    monkeypatch.setattr(graph_session, "START_S", 2.0)
    spec = replace(SPEC, profiles={"robot": ("valuables_in_safe",)}, variants=("ours",))
    folder = RunFolder(tmp_path)
    with folder.begin(spec, "", ""):
        result = run(spec, folder, toy_models, play_session=graph_session.play_on_graph)
    name = SessionKey("robot", "valuables_in_safe", "ours", 0).name
    assert "said nothing" in result.failed[name]
