"""Nodes that are killed at random points, and started again: nothing is lost, nothing doubled.

Real processes over DDS, with scripted models. Ten sessions by default, GOOD_ROS_KILLS of them with
``make test-faults``.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

from good_ros import recording
from good_ros.node_names import NODES
from good_ros.nodes.transcripts import TranscriptReader
from good_ros.srv import ResetSession

from .harness import Probe

SESSIONS = int(os.environ.get("GOOD_ROS_KILLS", "10"))
pytestmark = [pytest.mark.ros, pytest.mark.timeout(60 + 20 * SESSIONS)]

SCRIPTED_NODE = Path(__file__).parents[1] / "stand_ins" / "scripted_node.py"
SEED = 7
WAIT_S = 60.0
SAY_AGAIN_S = 3.0
TURNS = 2


class Killing:
    """The stack as processes, any of which may be killed, and a person who talks to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.probe = Probe(context=self.context)
        self.transcripts = []
        TranscriptReader(self.probe.create_subscription, self.transcripts.append)
        self.reset = self.probe.create_client(ResetSession, "reset_session")
        self.executor.add_node(self.probe)
        self.ids = (f"u{n}" for n in itertools.count())

    def start(self, name: str) -> None:
        command = [sys.executable, str(SCRIPTED_NODE), name, "--ros-args"]
        command += ["-p", f"sessions_folder:={self.folder / 'sessions'}"]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self, name: str) -> None:
        self.running[name].kill()
        self.running[name].wait()
        self.start(name)

    def wait(self, condition, what: str) -> None:
        end = time.monotonic() + WAIT_S
        while not condition():
            if time.monotonic() > end:
                logs = (f"--- {p.name}\n{p.read_text()[-1500:]}" for p in self.folder.glob("*.log"))
                pytest.fail("\n".join([f"waited {WAIT_S:g} s for {what}", *logs]))
            self.executor.spin_once(timeout_sec=0.1)

    @property
    def turns(self):
        """The turns of the session, as the last transcript has them."""
        return self.transcripts[-1].turns if self.transcripts else ()

    @property
    def session(self) -> str:
        return self.transcripts[-1].session_id if self.transcripts else ""

    def new_session(self) -> str:
        self.wait(self.reset.service_is_ready, "dialog")
        answer = self.reset.call_async(ResetSession.Request())
        self.wait(answer.done, "dialog's answer")
        session = answer.result().session_id
        self.wait(lambda: self.session == session, "the new session")
        return session

    def asked(self, session: str, turn: int) -> bool:
        return any((q.session_id, q.turn) == (session, turn) for q in self.probe.heard["question"])

    def is_over(self, turn: int) -> bool:
        return len(self.turns) >= turn and bool(self.turns[turn - 1].outcome)

    def take_turn(self, session: str, turn: int, kill: str = "", after: int = 0) -> None:
        """One turn; ``kill`` is the node that is killed, after so many events of the graph."""
        self.wait(lambda: self.asked(session, turn), f"the question of turn {turn}")
        words = f"words of turn {turn} of {session}"
        self.probe.say(words, next(self.ids))
        if kill:
            for _ in range(after):
                self.executor.spin_once(timeout_sec=0.005)
            self.kill(kill)
        said = time.monotonic()

        def is_heard() -> bool:
            nonlocal said
            # As a person does whom nobody hears: dialog may not have been there.
            if len(self.turns) < turn and time.monotonic() > said + SAY_AGAIN_S:
                said = time.monotonic()
                self.probe.say(words, next(self.ids))
            return len(self.turns) >= turn

        self.wait(is_heard, f"turn {turn} of {session} to be heard")
        self.wait(lambda: self.is_over(turn), f"the end of turn {turn} of {session}")

    def close(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()
        self.executor.shutdown()
        self.probe.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def killing(ros_domain, tmp_path):
    result = Killing(tmp_path)
    yield result
    result.close()


def test_nothing_is_lost_or_doubled_where_nodes_are_killed(killing):
    draw = random.Random(SEED)
    for name in NODES:
        killing.start(name)
    names = [name for _, name in zip(range(SESSIONS), itertools.cycle(NODES), strict=False)]
    draw.shuffle(names)
    for name in names:
        session = killing.new_session()
        killing.take_turn(session, 1, kill=name, after=draw.randrange(0, 40))
        for turn in range(2, TURNS + 1):
            killing.take_turn(session, turn)
        assert killing.session == session, f"{name} was killed: the session is another one"
        assert [t.turn for t in killing.turns] == list(range(1, TURNS + 1))
        assert [t.utterance for t in killing.turns] == [
            f"words of turn {t.turn} of {session}" for t in killing.turns
        ]
        steps = [r.step.label for t in killing.turns for r in t.actions if r.success]
        assert len(steps) == len(set(steps)), f"{name} was killed: {steps}"
        folder_of = killing.folder.joinpath("sessions").glob
        killing.wait(
            lambda session=session, folder_of=folder_of: (
                [
                    t["outcome"] > 0
                    for folder in folder_of(f"*-{session}")
                    for t in recording.turns(folder)
                ]
                == [True] * TURNS
            ),
            f"the record of {session}",
        )
        (folder,) = folder_of(f"*-{session}")
        assert all(recording.read(folder, kind) is not None for kind in recording.KINDS)
