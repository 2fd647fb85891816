"""The executor on the AI2-THOR world, over its real client and a stand-in player."""

from __future__ import annotations

import pytest

pytest.importorskip("ai2thor")

from good_ros.core.plan import ErrorCode
from good_ros.msg import TaskStatus

from .harness import SAID, ScriptedStack, bread_scores, bread_script

pytestmark = [pytest.mark.ros, pytest.mark.timeout(180)]


@pytest.fixture
def stack(ros_domain, monkeypatch, tmp_path):
    script = bread_script()
    script["executor"] *= 2
    with ScriptedStack(
        monkeypatch,
        tmp_path,
        script,
        bread_scores(SAID, "Please go on"),
        world="ai2thor",
        ai2thor_player="stand-in",
    ) as running:
        yield running


def test_a_turn_is_acted_on(stack):
    stack.turn(1, SAID)
    status = stack.probe.last("task_status")
    assert status.state == TaskStatus.SUCCEEDED, status.error_msg
    assert [r.effect for r in status.history] == [
        "Bread is in hand",
        "opened Fridge; Bread is in Fridge",
    ]
    assert "Bread" in status.scene


def test_after_the_world_was_lost_the_next_turn_begins_with_a_new_player(stack):
    executor = stack.stack.nodes["executor"]
    stack.wait_asked(1)
    executor.world.close()
    stack.turn(1, SAID)
    status = stack.probe.last("task_status")
    assert status.state in (TaskStatus.FAILED, TaskStatus.SUCCEEDED)
    if status.state == TaskStatus.FAILED:
        assert status.error_code == ErrorCode.WORLD_LOST
        stack.turn(2, "Please go on")
        status = stack.probe.last("task_status")
    assert status.state == TaskStatus.SUCCEEDED, status.error_msg


def test_a_build_that_is_not_there_is_said_at_configure(ros_domain, monkeypatch, tmp_path):
    from good_ros.core.errors import GoodError

    stack = ScriptedStack(
        monkeypatch, tmp_path, {}, {}, world="ai2thor", ai2thor_build="/nowhere/player"
    )
    with pytest.raises(GoodError, match="/nowhere/player is not there"):
        stack.__enter__()
    stack.stack.close()
