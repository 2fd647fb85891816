"""The executor on the AI2-THOR world, over its real client and a stand-in player."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("ai2thor")

from good_ros.core.plan import ErrorCode
from good_ros.msg import TaskStatus

from .harness import SAID, ScriptedStack, bread_scores, bread_script

AGAIN = "Please go on"

pytestmark = [pytest.mark.ros, pytest.mark.timeout(180)]


@pytest.fixture
def stack(ros_domain, monkeypatch, tmp_path):
    script = bread_script()
    script["executor"] *= 2
    with ScriptedStack(
        monkeypatch,
        tmp_path,
        script,
        bread_scores(SAID, AGAIN),
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


@pytest.fixture
def crashing(ros_domain, monkeypatch, tmp_path):
    """A stack whose player ends at the first pick-up, and the file of its build."""
    build = tmp_path / "player.sh"
    build.write_text(
        f"#!/bin/sh\nexec {sys.executable} -m good_ros.worlds.ai2thor.standin "
        f'--trouble crash --at PickupObject --once {tmp_path / "once"} "$@"\n'
    )
    build.chmod(0o755)
    script = bread_script()
    script["executor"] *= 2
    parameters = {"world": "ai2thor", "ai2thor_build": str(build), "max_replans": 0}
    scores = bread_scores(SAID, AGAIN)
    with ScriptedStack(monkeypatch, tmp_path, script, scores, **parameters) as stack:
        yield stack, build


def next_turn_succeeds(stack):
    stack.turn(2, AGAIN)
    status = stack.probe.last("task_status")
    assert status.state == TaskStatus.SUCCEEDED, status.error_msg
    assert status.history[-1].effect == "opened Fridge; Bread is in Fridge"


def test_after_a_crash_the_session_goes_on(crashing):
    stack, _ = crashing
    stack.turn(1, SAID)
    status = stack.probe.last("task_status")
    assert status.state == TaskStatus.FAILED
    assert "player ended (signal 9)" in status.error_msg
    assert "started again" in status.error_msg
    next_turn_succeeds(stack)


def test_a_room_that_is_lost_is_rebuilt_for_the_next_turn(crashing):
    """The build is away while the player has to be started again, and back a turn later."""
    stack, build = crashing
    stack.wait_asked(1)
    away = build.rename(build.with_suffix(".away"))
    stack.turn(1, SAID)
    status = stack.probe.last("task_status")
    assert status.state == TaskStatus.FAILED
    assert status.error_code == ErrorCode.WORLD_LOST
    assert str(build) in status.error_msg
    away.rename(build)
    next_turn_succeeds(stack)


def test_a_build_that_is_not_there_is_said_at_configure(ros_domain, monkeypatch, tmp_path):
    from good_ros.core.errors import GoodError

    stack = ScriptedStack(
        monkeypatch, tmp_path, {}, {}, world="ai2thor", ai2thor_build="/nowhere/player"
    )
    with pytest.raises(GoodError, match="/nowhere/player is not there"):
        stack.__enter__()
    stack.stack.close()
