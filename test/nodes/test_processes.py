"""Nodes as processes of their own, over real DDS, with the small model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

from good_ros import recording
from good_ros.msg import GoalBelief, TaskStatus
from good_ros.nodes.qos import LATCHED, SPEECH_OUT

from .harness import Probe

pytestmark = [pytest.mark.ros, pytest.mark.model, pytest.mark.timeout(600)]

BIN = Path(sys.executable).parent
NODES = ("dialog", "goal_belief", "goal_manager", "monitor")


class Processes:
    """Console entries as child processes, and a probe in a context of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.probe = Probe(context=self.context)
        self.executor.add_node(self.probe)

    def start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [str(BIN / name), *arguments], stdout=log, stderr=log, start_new_session=True
            )
        self.running[name] = process
        return process

    def start_node(self, name: str) -> subprocess.Popen[bytes]:
        parameters = ["-p", f"sessions_folder:={self.folder / 'sessions'}"]
        if name != "monitor":
            parameters = ["-p", "model:=small"]
        return self.start(name, "--ros-args", *parameters)

    def wait(self, condition, what: str, timeout_s: float = 120.0) -> None:
        end = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"waited {timeout_s:g} s for {what}\n{self.logs()}")
            self.executor.spin_once(timeout_sec=0.2)

    def logs(self) -> str:
        return "\n".join(
            f"--- {path.name}\n{path.read_text()[-1500:]}" for path in self.folder.glob("*.log")
        )

    def close(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()
        self.executor.shutdown()
        self.probe.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def processes(ros_domain, small_model, tmp_path):
    result = Processes(tmp_path)
    yield result
    result.close()


def test_plain_text_from_another_process_is_answered_with_a_settled_belief(processes):
    processes.start("good", "up", "--model", "small", "--sessions", str(processes.folder))
    probe = processes.probe
    # There before the question is made, so that both sides know of each other by then.
    publisher = probe.create_publisher(String, "speech_text", SPEECH_OUT)
    processes.wait(lambda: probe.asked(1), "the first question")
    processes.wait(lambda: publisher.get_subscription_count() == 1, "the match with dialog")
    publisher.publish(String(data="Please put the bread and the tomato in the fridge."))
    processes.wait(lambda: bool(probe.settled()), "the settled belief")
    belief = probe.settled()[-1]
    assert (belief.turn, belief.settled) == (1, True)
    probabilities = [h.probability for h in belief.hypotheses]
    assert sum(probabilities) == pytest.approx(1.0)
    assert probabilities == sorted(probabilities, reverse=True)
    assert "0.5b" in belief.model
    assert len(belief.hypotheses) > 1

    # A plain subscriber that starts late gets the same, latched.
    late: list[GoalBelief] = []
    probe.create_subscription(GoalBelief, "goal_belief", late.append, LATCHED)
    processes.wait(lambda: bool(late), "the latched belief")
    assert (late[0].session_id, late[0].turn, late[0].settled) == (belief.session_id, 1, True)
    assert late[0].hypotheses == belief.hypotheses


def test_an_executor_that_is_killed_and_started_again_goes_on(processes):
    probe = processes.probe
    for name in (*NODES, "executor"):
        processes.start_node(name)
    processes.wait(lambda: probe.asked(1), "the first question")
    processes.wait(lambda: probe.utterance.get_subscription_count() == 1, "the match with dialog")
    probe.say("Please put the bread and the tomato in the fridge.", "u1")
    processes.wait(lambda: probe.ended_turn(1), "the end of turn 1")
    session, history = (
        probe.last("task_status").session_id,
        [(r.step.label, r.success) for r in probe.last("task_status").history],
    )
    scene = probe.last("task_status").scene
    processes.wait(lambda: probe.asked(2), "the second question")

    # Between two turns.
    processes.running["executor"].kill()
    processes.running["executor"].wait()
    heard = len(probe.heard["task_status"])
    processes.start_node("executor")
    processes.wait(
        lambda: any(
            s.session_id == session and s.turn == 1 for s in probe.heard["task_status"][heard:]
        ),
        "the status of the executor that was started again",
    )
    again = probe.last("task_status")
    assert [(r.step.label, r.success) for r in again.history] == history
    assert again.scene == scene

    # In the middle of a turn.
    probe.say("Please put the apple in the fridge, too.", "u2")
    processes.wait(
        lambda: (
            any(s.turn == 2 and s.state == TaskStatus.PLANNING for s in probe.heard["task_status"])
            or probe.ended_turn(2)
        ),
        "the second turn's plan",
    )
    if not probe.ended_turn(2):
        processes.running["executor"].kill()
        processes.running["executor"].wait()
        processes.start_node("executor")
    processes.wait(lambda: probe.ended_turn(2), "the end of turn 2")
    last = probe.last("task_status")
    assert last.session_id == session
    assert [(r.step.label, r.success) for r in last.history][: len(history)] == history
    processes.wait(lambda: probe.asked(3), "the third question")
    assert [t.turn for t in probe.last("transcript").turns] == [1, 2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.faults("launch #666")
def test_a_signal_in_mid_generation_leaves_nothing_behind(processes, number):
    process = processes.start("good", "up", "--model", "small", "--sessions", str(processes.folder))
    probe = processes.probe
    records = processes.folder.glob
    processes.wait(
        lambda: bool(probe.heard["transcript"] and list(records("*-*/session.json"))),
        "the session and its record",
    )
    # The first question is being made, or its model call has just begun.
    os.kill(process.pid, number)
    process.wait(timeout=15)
    assert process.returncode in (0, 130)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    (folder,) = records(f"*-{probe.last('transcript').session_id}")
    assert recording.read(folder, "transcript")[0]["turn"] == 0


SLOW_TO_CLOSE = """
import sys
from good_ros.nodes.base import GoodNode, run

class Slow(GoodNode):
    NAME = "slow"

    def start(self):
        print("active", flush=True)

    def teardown(self):
        print("closing", flush=True)
        sys.stdin.readline()
        print("closed", flush=True)

sys.exit(run(Slow))
"""


def test_a_second_interrupt_does_not_cut_off_closing(ros_domain):
    """ros2 launch sends SIGINT to processes that the terminal's has reached already."""
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_TO_CLOSE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "active\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "closing\n"
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate("\n", timeout=30)
        assert (said, process.returncode) == ("closed\n", 0), errors
        assert "Traceback" not in errors


@pytest.mark.faults("llama_ros #31")
def test_a_wrong_model_is_refused_in_one_line_and_the_node_can_be_configured_again(processes):
    broken = processes.folder / "broken.gguf"
    broken.write_bytes(b"no model")
    process = processes.start("goal_belief", "--ros-args", "-p", f"model:={broken}")
    log = processes.folder / "goal_belief.log"
    processes.wait(lambda: "cannot configure" in log.read_text(), "the refusal")
    lines = [line for line in log.read_text().splitlines() if "cannot configure" in line]
    assert len(lines) == 1
    assert "broken.gguf" in lines[0]
    assert "Traceback" not in log.read_text()
    assert process.poll() is None

    def call(kind, name, request):
        client = processes.probe.create_client(kind, f"goal_belief/{name}")
        processes.wait(client.service_is_ready, f"the service {name}")
        answer = client.call_async(request)
        processes.wait(answer.done, f"an answer of {name}")
        return answer.result()

    model = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value="small")
    parameters = [Parameter(name="model", value=model)]
    assert call(SetParameters, "set_parameters", SetParameters.Request(parameters=parameters))
    for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        request = ChangeState.Request(transition=Transition(id=transition))
        assert call(ChangeState, "change_state", request).success


def test_the_demonstration_runs_unattended_to_its_end(ros_domain, small_model, tmp_path):
    """What `make demo MODEL=small` runs after the set-up."""
    result = subprocess.run(
        [BIN / "good", "demo", "--model", "small", "--turns", "3", "--sessions", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    shown = result.stdout
    for part in ("Robot:", "Human:", "belief after turn 1", "entropy", "session folder:"):
        assert part in shown
    (folder,) = tmp_path.iterdir()
    assert folder.name in shown
    turns = recording.read(folder, "transcript")[-1]["turns"]
    assert shown.count("Human:") == len(turns)
    settled = [b for b in recording.read(folder, "beliefs") if b["settled"]]
    assert [b["turn"] for b in settled] == [t["turn"] for t in turns]
    done = [r for t in turns for r in t["actions"] if r["success"]]
    assert shown.count("✓") == len(done)


def test_a_person_joins_a_running_stack_from_a_terminal(processes):
    processes.start("good", "up", "--model", "small", "--sessions", str(processes.folder))
    processes.wait(lambda: processes.probe.asked(1), "the first question")
    chat = subprocess.Popen(
        [str(BIN / "good"), "chat", "--attach"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    processes.running["chat"] = chat
    chat.stdin.write("Please put the bread in the fridge.\n")
    chat.stdin.flush()
    processes.wait(lambda: bool(processes.probe.settled()), "the settled belief")
    processes.wait(lambda: processes.probe.ended_turn(1), "the end of turn 1")
    chat.stdin.write("\n")
    shown, _ = chat.communicate(timeout=60)
    assert chat.returncode == 0
    assert "Please put the bread in the fridge." in shown
    assert "belief after turn 1" in shown
