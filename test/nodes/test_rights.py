"""The SROS2 policy is what the nodes of a real graph use, and no more.

To write it anew: GOOD_ROS_WRITE_POLICY=1 python -m pytest test/nodes/test_rights.py
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from good_ros.language.scripted import ScriptedGenerator
from good_ros.node_names import NODES
from good_ros.nodes.rights import policy, rights_of

from .harness import ScriptedStack

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]
PATH = Path(__file__).parents[2] / "config" / "security" / "policy.xml"


def test_the_policy_is_what_the_nodes_use(ros_domain, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "good_ros.nodes.simulated_human.make_generator", lambda *_: ScriptedGenerator([])
    )
    nodes = (*NODES, "simulated_human")
    with ScriptedStack(
        monkeypatch,
        tmp_path,
        {"dialog": ["What?"]},
        {},
        nodes=nodes,
        profile="put_away_food",
        web_port=0,
    ) as run:
        observer = run.probe

        def found():
            return policy({name: rights_of(observer, name) for name in nodes})

        if os.environ.get("GOOD_ROS_WRITE_POLICY"):
            run.wait_asked(1)
            PATH.write_text(found())
        run.stack.spin(lambda: found() == PATH.read_text(), 30.0)
        # The difference is what there is to read.
        assert found() == PATH.read_text()


def test_each_node_may_do_its_part_alone(ros_domain):
    text = PATH.read_text()
    enclaves = {part.split('"')[0]: part for part in text.split('enclave path="/good_ros/')[1:]}
    assert set(enclaves) == {*NODES, "simulated_human"}

    def publishes(node, topic):
        _, _, rest = enclaves[node].partition('publish="ALLOW"')
        return f"<topic>{topic}</topic>" in rest.partition("</topics>")[0]

    owners = {
        "/question": "dialog",
        "/transcript": "dialog",
        "/goal_belief": "goal_belief",
        "/goals": "goal_manager",
        "/task_status": "executor",
    }
    for topic, owner in owners.items():
        assert [node for node in enclaves if publishes(node, topic)] == [owner]
