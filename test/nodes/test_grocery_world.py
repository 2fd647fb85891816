"""A session in the store on a real graph: nodes, approval, the end."""

import json

import pytest

from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.msg import TaskStatus
from good_ros.srv import ApprovePlan
from good_ros.worlds.grocery import embedding

from .harness import ScriptedStack, all_fit, messages_text

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]

GOAL = "milk and eggs put in the cart"
SAID = "Please add milk and eggs"
DONE = "That is all"


def test_what_is_wanted_is_bought_after_a_yes(ros_domain, monkeypatch, tmp_path):
    monkeypatch.setattr(embedding, "missing", lambda: "nothing is installed here")
    goals = {UNSPECIFIED_TEXT: -20.0, GOAL: -10.0, "tea": -30.0, "jam": -31.0}
    script = {
        "dialog": ["What would you like?", "And what else?"],
        "goal_manager": [json.dumps([GOAL, "tea", "jam"]), all_fit, all_fit],
        "executor": [json.dumps(["add Whole Milk", "add Medium Eggs"])],
    }
    scores = {(goal, said): value for said in (SAID, DONE) for goal, value in goals.items()}
    with ScriptedStack(
        monkeypatch, tmp_path, script, scores, world="grocery", scene="store"
    ) as run:
        run.turn(1, SAID)
        status = run.probe.last("task_status")
        assert status.state == TaskStatus.SUCCEEDED
        assert "1 × Whole Milk (1 l) $1.19" in status.scene
        run.wait_asked(2)
        # 'That is all' ends a conversation at home; in a store it is bought first.
        run.probe.say(DONE, "u2")
        run.wait(
            lambda: run.probe.last("task_status").state == TaskStatus.WAITING_APPROVAL,
            "the question whether to buy",
        )
        client = run.probe.create_client(ApprovePlan, "approve_plan")
        answer = client.call_async(
            ApprovePlan.Request(session_id=status.session_id, turn=2, approve=True)
        )
        run.wait(answer.done, "approve_plan")
        run.wait_turn(2)
        status = run.probe.last("task_status")
        assert status.state == TaskStatus.DONE
        assert "$2.98 in all" in status.history[-1].effect
        run.wait(lambda: run.probe.last("transcript").ended, "the end of the session")
        for node in ("dialog", "goal_manager", "executor"):
            said = "\n".join(map(messages_text, run.generators[node].calls))
            assert "shopping assistant" in said
            assert "household robot" not in said
