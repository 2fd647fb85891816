"""The monitor node: reads everything and records each session on disk."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from good_ros import __version__
from good_ros.core.errors import GoodError
from good_ros.core.plan import TaskState
from good_ros.msg import GoalBelief, GoalSet, Question, TaskStatus, Transcript
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import message_to_dict
from good_ros.nodes.parameters import Parameter
from good_ros.nodes.qos import LATCHED_STREAM
from good_ros.recording import SessionRecord


def default_sessions_folder() -> Path:
    """Where sessions are kept unless a parameter says otherwise: beside ROS's own logs."""
    return Path(os.environ.get("ROS_HOME", Path.home() / ".ros")) / "good_ros" / "sessions"


class MonitorNode(GoodNode):
    NAME = "monitor"
    record: SessionRecord | None = None
    PARAMETERS = (
        Parameter(
            "sessions_folder",
            "",
            "Where sessions are recorded; empty for good_ros/sessions under ROS_HOME.",
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        folder = values.sessions_folder
        self.root = Path(folder).expanduser() if folder else default_sessions_folder()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GoodError(
                f"sessions cannot be recorded under {self.root} ({error}): set sessions_folder"
            ) from error
        self.session_id = ""
        self.settled_turn = self.reported_turn = 0
        self.early: list[tuple[str, Any]] = []
        self.actions_written: list[dict[str, Any]] = []
        self.plan_written: tuple[int, tuple[str, ...]] = (0, ())
        self.listen(Transcript, "transcript", self.on_transcript, LATCHED_STREAM)
        self.listen(Question, "question", lambda m: self.on_message("questions", m), LATCHED_STREAM)
        self.listen(GoalSet, "goals", lambda m: self.on_message("goals", m), LATCHED_STREAM)
        self.listen(
            GoalBelief, "goal_belief", lambda m: self.on_message("beliefs", m), LATCHED_STREAM
        )
        self.listen(
            TaskStatus, "task_status", lambda m: self.on_message("status", m), LATCHED_STREAM
        )

    @property
    def folder(self) -> Path | None:
        """The current session's folder."""
        return self.record.folder if self.record else None

    def has_recorded(self, turn: int) -> bool:
        """Whether a turn is on disk to its end: its settled belief and the executor's report."""
        return min(self.settled_turn, self.reported_turn) >= turn

    def teardown(self) -> None:
        if self.record:
            self.record.close()
            self.record = None

    def on_transcript(self, message: Transcript) -> None:
        if message.session_id != self.session_id:
            self.begin(message.session_id)
        self.write("transcript", message)

    def begin(self, session_id: str) -> None:
        """Open the record of a session, going on with an old one of the same id."""
        if self.record:
            self.record.close()
            self.record = None
        self.session_id = session_id
        self.actions_written = []
        self.plan_written = (0, ())
        self.settled_turn = self.reported_turn = 0
        existing = sorted(self.root.glob(f"*-{session_id}"))
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{session_id}"
        folder = existing[-1] if existing else self.root / name
        about = {
            "session_id": session_id,
            "good_ros": __version__,
            "namespace": self.get_namespace(),
            "began": time.time(),
        }
        try:
            self.record = SessionRecord(folder, about)
        except OSError as error:
            self.get_logger().error(f"the session is not recorded: {error}")
            return
        self.get_logger().info(f"recording in {folder}")
        early, self.early = self.early, []
        for kind, message in early:
            self.on_message(kind, message)

    def on_message(self, kind: str, message: Any) -> None:
        if message.session_id != self.session_id:
            # It may have overtaken the transcript that begins its session.
            self.early = [*self.early[-20:], (kind, message)]
            return
        self.write(kind, message)
        if kind == "status":
            self.write_plan_and_actions(message)
            if TaskState(message.state).ends_turn:
                self.reported_turn = message.turn
        elif kind == "beliefs" and message.settled:
            self.settled_turn = message.turn

    def write_plan_and_actions(self, message: TaskStatus) -> None:
        """What is new in the status' plan and history, as lines of their own."""
        labels = tuple(step.label for step in message.plan)
        if labels and (message.turn, labels) != self.plan_written:
            self.plan_written = (message.turn, labels)
            steps = [message_to_dict(step) for step in message.plan]
            self.append("plans", {"turn": message.turn, "steps": steps})
        for number, result in enumerate(message.history):
            fields = message_to_dict(result)
            if number == len(self.actions_written):
                self.actions_written.append({})
            # A step that was undone later is written again under its number.
            if fields != self.actions_written[number]:
                self.actions_written[number] = fields
                self.append("actions", {"number": number + 1, **fields})

    def write(self, kind: str, message: Any) -> None:
        self.append(kind, message_to_dict(message))

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        if self.record is None:
            return
        try:
            self.record.write(kind, fields)
        except (OSError, ValueError) as error:
            self.get_logger().error(
                f"recording stopped: {error}; free space or set sessions_folder",
                throttle_duration_sec=60.0,
            )


def main() -> int:
    return run(MonitorNode)


if __name__ == "__main__":
    raise SystemExit(main())
