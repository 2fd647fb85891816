"""What every node does, whatever its work: failures in its life cycle and in its callbacks."""

from __future__ import annotations

import threading

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.logging import LoggingSeverity, get_logger_effective_level, set_logger_level
from std_msgs.msg import String

from good_ros.core.errors import ModelError
from good_ros.node_names import NODES
from good_ros.nodes.base import GoodNode
from good_ros.nodes.qos import LATCHED, SPEECH_OUT
from good_ros.nodes.stack import Stack, StackOptions
from good_ros.srv import ResetSession

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]

DONE, FAILED = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
BROKEN = TransitionCallbackReturn.ERROR


class Closed:
    """Notes when it was closed."""

    def __init__(self, log, name):
        self.log, self.name = log, name

    def close(self):
        self.log.append(self.name)


class FailingNode(GoodNode):
    """Fails where it is told to."""

    NAME = "tested"

    def __init__(self, **arguments):
        self.fails_in = ""
        self.closed: list[str] = []
        self.heard: list[str] = []
        super().__init__(**arguments)

    def fail(self, where):
        if self.fails_in == where:
            raise RuntimeError(f"no luck in {where}")

    def setup(self, values):
        self.out = self.publisher(String, "out", LATCHED)
        self.listen(String, "in", self.on_text, SPEECH_OUT)
        self.serve(ResetSession, "act", self.on_act)
        self.keep(Closed(self.closed, "first"))
        self.fail("setup")
        self.keep(Closed(self.closed, "second"))

    def start(self):
        self.fail("start")

    def stop(self):
        self.fail("stop")

    def on_text(self, message):
        self.heard.append(message.data)
        if message.data == "bad":
            raise KeyError("bad")

    def on_act(self, request, response):
        self.fail("act")
        response.success = True
        return response


@pytest.fixture
def graph(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context)
    executor = SingleThreadedExecutor(context=context)
    node = FailingNode(context=context)
    probe = rclpy.create_node("probe", context=context)
    executor.add_node(node)
    executor.add_node(probe)

    def wait(condition):
        for _ in range(600):
            if condition():
                return
            executor.spin_once(timeout_sec=0.05)
        raise AssertionError("waited too long")

    yield node, probe, wait
    node.close()
    probe.destroy_node()
    executor.shutdown()
    context.try_shutdown()


@pytest.mark.parametrize("where", ["setup", "start", "stop"])
def test_an_unforeseen_failure_in_the_life_cycle_is_told_and_leaves_nothing_behind(
    graph, capfd, where
):
    node, _, _ = graph
    node.fails_in = where
    result = node.trigger_configure()
    if where != "setup":
        assert result == DONE
        result = node.trigger_activate()
    if where == "stop":
        assert result == DONE
        result = node.trigger_deactivate()
    assert result == (FAILED if where == "setup" else BROKEN)
    assert f"no luck in {where}" in node.failure
    assert f"no luck in {where}" in capfd.readouterr().err
    assert (node.active, node.life_cycle) == (False, "unconfigured")
    assert node.closed == (["first"] if where == "setup" else ["second", "first"])
    assert not [s for s in node.services if s.srv_name.endswith("act")]
    node.fails_in = ""
    assert node.trigger_configure() == DONE
    assert node.trigger_activate() == DONE
    assert node.failure == ""
    assert len([s for s in node.services if s.srv_name.endswith("act")]) == 1


def test_what_cannot_be_closed_does_not_keep_the_rest_open(graph, capfd):
    node, _, _ = graph

    def fail():
        raise RuntimeError("it is stuck")

    assert node.trigger_configure() == DONE
    node.at_cleanup(fail)
    assert node.trigger_cleanup() == DONE
    assert node.closed == ["second", "first"]
    assert "it is stuck" in capfd.readouterr().err


def test_a_stack_leaves_the_log_level_as_it_was(ros_domain):
    """--log-level counts where no other context is there; what it does is done here."""
    before = get_logger_effective_level("")
    stack = Stack(StackOptions(()))
    set_logger_level("", LoggingSeverity.FATAL)
    stack.close()
    assert get_logger_effective_level("") == before


def test_a_message_that_fails_is_told_of_and_the_next_is_heard(graph, capfd):
    node, probe, wait = graph
    assert node.trigger_configure() == DONE
    assert node.trigger_activate() == DONE
    out = probe.create_publisher(String, "in", SPEECH_OUT)
    wait(lambda: out.get_subscription_count() == 1)
    for text in ("bad", "good"):
        out.publish(String(data=text))
    wait(lambda: node.heard == ["bad", "good"])
    assert "KeyError" in capfd.readouterr().err


def test_what_follows_a_job_and_fails_does_not_end_the_node(graph, capfd):
    node, _, wait = graph

    def then(result, error):
        raise KeyError(result)

    done = []
    node.worker.submit(lambda cancel: "lost", then)
    node.worker.submit(lambda cancel: "kept", lambda result, error: done.append(result))
    wait(lambda: done == ["kept"])
    assert "lost" in capfd.readouterr().err


def test_a_job_that_ends_after_its_node_has_gone_ends_quietly(graph):
    node, _, _ = graph
    node.destroy_guard_condition(node.worker._guard)
    node.worker.post(lambda: None)


def test_cleanup_waits_for_the_job_that_runs(graph):
    node, _, _ = graph
    assert node.trigger_configure() == DONE
    assert node.trigger_activate() == DONE
    began, log = threading.Event(), node.closed

    def job(cancel):
        began.set()
        cancel.wait(30.0)
        log.append("job")

    node.worker.submit(job, lambda result, error: None)
    assert began.wait(30.0)
    assert node.trigger_deactivate() == DONE
    assert node.trigger_cleanup() == DONE
    assert log == ["job", "second", "first"]


@pytest.mark.parametrize("name", [*NODES, "teacher", "speech_in", "speech_out", "simulated_human"])
def test_a_node_that_was_never_configured_closes(ros_domain, name):
    Stack(StackOptions(nodes=(name,))).close()


@pytest.mark.parametrize("name", ["dialog", "goal_manager", "executor", "goal_belief"])
def test_a_node_without_its_model_says_so_and_closes(ros_domain, monkeypatch, name):
    def missing(*_, **__):
        raise ModelError("the model is not there")

    maker = "make_scorer" if name == "goal_belief" else "make_generator"
    monkeypatch.setattr(f"good_ros.nodes.{name}.{maker}", missing)
    stack = Stack(StackOptions(nodes=(name,)))
    try:
        node = stack.nodes[name]
        for _ in range(2):
            assert node.trigger_configure() == FAILED
            assert node.failure == "the model is not there"
    finally:
        stack.close()
