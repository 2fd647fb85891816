"""The terminal's nodes, which stand outside the stack."""

from __future__ import annotations

import io

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rich.console import Console

from good_ros.msg import Question, TaskStatus, Transcript
from good_ros.nodes.console import ConsoleNode
from good_ros.nodes.qos import LATCHED_STREAM
from good_ros.nodes.watch import WatchNode

pytestmark = [pytest.mark.ros, pytest.mark.timeout(60)]


def test_a_message_of_another_release_is_told_of_and_the_next_is_shown(ros_domain, capfd):
    context = rclpy.Context()
    rclpy.init(context=context)
    executor = SingleThreadedExecutor(context=context)
    shown = io.StringIO()
    console = ConsoleNode(Console(file=shown, width=100), context=context)
    watch = WatchNode("", context=context)
    stack = rclpy.create_node("stack", context=context)
    for node in (console, watch, stack):
        executor.add_node(node)
    transcript = stack.create_publisher(Transcript, "transcript", LATCHED_STREAM)
    status = stack.create_publisher(TaskStatus, "task_status", LATCHED_STREAM)
    question = stack.create_publisher(Question, "question", LATCHED_STREAM)
    transcript.publish(Transcript(session_id="s"))
    status.publish(TaskStatus(session_id="s", turn=1, state=250))
    question.publish(Question(session_id="s", turn=1, text="What now?", expects_reply=True))

    def all_is_heard() -> bool:
        return "What now?" in shown.getvalue() and watch.changes >= 2

    try:
        for _ in range(600):
            if all_is_heard():
                break
            executor.spin_once(timeout_sec=0.05)
        assert all_is_heard()
        for _ in range(20):
            executor.spin_once(timeout_sec=0.01)
    finally:
        for node in (console, watch, stack):
            node.destroy_node()
        executor.shutdown()
        context.try_shutdown()
    assert "a message on task_status is passed over" in capfd.readouterr().err
