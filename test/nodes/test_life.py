"""A stack that is left running: stopped and started again, beside another, on a full disk."""

import errno
import threading

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rosgraph_msgs.msg import Clock

from good_ros.msg import TaskStatus
from good_ros.nodes.qos import LATCHED
from good_ros.recording import SessionRecord

from .harness import SAID, Probe, ScriptedStack, bread_scores, bread_script

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    def build(script=None, **keywords):
        script = script or bread_script()
        return ScriptedStack(monkeypatch, tmp_path, script, bread_scores(), **keywords)

    return build


def handles(node):
    """How many of everything a node has on the graph."""
    kinds = ("publishers", "subscriptions", "clients", "services", "timers", "waitables")
    return {kind: len(list(getattr(node, kind))) for kind in kinds}


def test_ten_times_through_the_life_cycle_leave_nothing_behind(make):
    with make({"dialog": ["What?"] * 12}) as run:
        run.wait_asked(1)
        before = {name: handles(node) for name, node in run.stack.nodes.items()}
        threads = threading.active_count()
        for _ in range(10):
            for node in run.stack.nodes.values():
                assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
                assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
                assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
                assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
        assert {name: handles(node) for name, node in run.stack.nodes.items()} == before
        assert threading.active_count() == threads


def test_two_stacks_in_namespaces_of_their_own_do_not_meet(make, monkeypatch, tmp_path):
    with make(namespace="robot1") as first, make(namespace="robot2") as second:
        for run in (first, second):
            run.wait(lambda run=run: run.probe.asked(1), "the question")
        first.probe.say(SAID, "u1")
        first.wait(
            lambda: second.stack.spin(lambda: True) and first.probe.ended_turn(1),
            "the end of robot1's turn",
        )
        second.stack.spin(lambda: False, 0.3)
        assert second.probe.last("transcript").turns == []
        assert second.probe.heard["goal_belief"] == []
        assert first.probe.last("transcript").session_id != (
            second.probe.last("transcript").session_id
        )


@pytest.mark.parametrize("jump", [-500.0, 1e6], ids=["back", "ahead"])
def test_a_clock_that_jumps_changes_nothing(make, jump):
    with make(use_sim_time=True) as run:
        clock = run.probe.create_publisher(Clock, "/clock", LATCHED)

        def now(seconds):
            message = Clock()
            message.clock.sec = int(seconds)
            clock.publish(message)

        nodes = run.stack.nodes.values()

        def is_at(seconds):
            # Again until each has it: nothing is latched for those that come late.
            now(seconds)
            return all(round(node.seconds()) == seconds for node in nodes)

        run.wait(lambda: is_at(1000.0), "the clock")
        run.wait_asked(1)
        run.probe.say(SAID, "u1")
        run.wait(lambda: is_at(1000.0 + jump), "the jump")
        run.wait_turn(1)
        assert run.probe.last("task_status").state == TaskStatus.SUCCEEDED
        run.wait_asked(2)


def test_a_full_disk_stops_the_record_and_nothing_else(make, monkeypatch, capfd):
    def full(self, kind, fields):
        raise OSError(errno.ENOSPC, "No space left on device")

    with make() as run:
        run.wait_asked(1)
        monkeypatch.setattr(SessionRecord, "write", full)
        run.turn(1, SAID)
        assert run.probe.last("task_status").state == TaskStatus.SUCCEEDED
        run.wait_asked(2)
        assert run.stack.nodes["monitor"].active
    told = [line for line in capfd.readouterr().err.splitlines() if "recording stopped" in line]
    assert len(told) == 1
    assert "free space or set sessions_folder" in told[0]


def test_a_probe_of_no_namespace_hears_nothing_of_a_robot(make):
    """Names are relative: nothing of a stack is outside its namespace but /diagnostics."""
    with make(namespace="robot1") as run:
        outside = Probe(context=run.stack.context)
        run.stack.add(outside)
        run.wait_asked(1)
        run.turn(1, SAID)
        assert not any(outside.heard.values())


def test_a_dialog_that_was_inactive_when_the_executor_reported_goes_on(make):
    with make() as run:
        run.wait_asked(1)
        dialog = run.stack.nodes["dialog"]
        run.probe.say(SAID, "u1")
        run.wait(lambda: dialog.flow.transcript.turn == 1, "the utterance")
        assert dialog.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
        run.wait_turn(1)
        run.stack.spin(lambda: False, 0.3)
        assert dialog.trigger_activate() == TransitionCallbackReturn.SUCCESS
        run.wait_asked(2)
        turn = run.probe.last("transcript").turns[0]
        assert [r.step.label for r in turn.actions] == ["pick up Bread", "put Bread in Fridge"]


def test_a_dialog_that_was_cut_off_goes_on_though_it_is_activated_long_after_configure(
    make, monkeypatch, tmp_path
):
    """As under a life-cycle manager, which configures every node before it activates one."""
    monkeypatch.setattr("good_ros.nodes.dialog.RESUME_WAIT_S", 0.5)
    with make() as run:
        run.turn(1, SAID)
        run.wait_asked(2)
        dialog = run.stack.nodes["dialog"]
        session, kept = dialog.flow.transcript.session_id, dialog.journal.path.read_bytes()
        dialog.trigger_deactivate()
        dialog.trigger_cleanup()
        # As it is where dialog was killed, and not stopped.
        dialog.journal.path.write_bytes(kept)
        assert dialog.trigger_configure() == TransitionCallbackReturn.SUCCESS
        run.wait(lambda: session in dialog.sessions_heard, "what the others latched")
        assert dialog.trigger_activate() == TransitionCallbackReturn.SUCCESS
        run.stack.spin(lambda: False, 1.0)
        assert dialog.flow.transcript.session_id == session
        assert dialog.flow.transcript.turn == 1


def test_a_belief_that_failed_is_tried_again_though_the_clock_stands_still(make, monkeypatch):
    monkeypatch.setattr("good_ros.nodes.goal_belief.RETRY_S", 0.1)
    with make(use_sim_time=True, failures=1) as run:
        run.turn(1, SAID)
        assert run.probe.last("task_status").state == TaskStatus.SUCCEEDED


def test_a_belief_that_is_to_be_tried_again_leaves_no_timer_behind(make):
    with make(failures=100) as run:
        belief = run.stack.nodes["goal_belief"]
        run.wait_asked(1)
        before = handles(belief)
        run.probe.say(SAID, "u1")
        run.wait(lambda: handles(belief)["timers"] > before["timers"], "the failure")
        for change in ("deactivate", "cleanup", "configure", "activate"):
            assert getattr(belief, f"trigger_{change}")() == TransitionCallbackReturn.SUCCESS
        assert handles(belief) == before
