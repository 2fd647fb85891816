"""The monitor node: records each session on disk, and shows it (RViz, page, diagnostics).

It only listens, so it may be killed at any time; one that is started again goes on with the
record that it finds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.msg import Log
from rclpy.clock import Clock, ClockType
from std_msgs.msg import Header

from good_ros import __version__
from good_ros.core.errors import GoodError
from good_ros.core.plan import TaskState
from good_ros.monitor.health import Health, Level, SilenceWatch
from good_ros.monitor.room import RoomPicture
from good_ros.monitor.session import SessionView
from good_ros.msg import TaskStatus, Transcript
from good_ros.nodes import belief_display, diagnostics, monitor_page
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.belief_display import BeliefDisplay
from good_ros.nodes.convert import belief_from_msg, message_to_dict, time_from_msg
from good_ros.nodes.monitor_page import Page
from good_ros.nodes.parameters import SESSIONS_FOLDER, WORLD_SEED, Parameter, sessions_folder
from good_ros.nodes.qos import DIAGNOSTICS, LATCHED_STREAM
from good_ros.nodes.topics import STREAM_TOPICS
from good_ros.recording import SessionRecord, actions_of, folder_name, read_all
from good_ros.turns.window import STATUS_TURNS

WATCH_S = 0.25
"""Seconds between two looks at who is silent: by default a dead node is told of within 2 s."""
TELL_S = 1.0
EARLY = 200
"""Messages that are kept until the transcript of their session comes."""
LOG_LEVELS = {30: "WARN", 40: "ERROR", 50: "FATAL"}


class MonitorNode(GoodNode):
    NAME = "monitor"
    record: SessionRecord | None = None
    page: Page | None = None
    PARAMETERS = (
        SESSIONS_FOLDER,
        Parameter("record", True, "Whether sessions are recorded at all."),
        Parameter("world", "household", "The executor's world, whose room the page shows."),
        Parameter("scene", "FloorPlan1", "The executor's scene."),
        WORLD_SEED,
        *belief_display.PARAMETERS,
        *monitor_page.PARAMETERS,
        Parameter(
            "stale_after_s",
            1.5,
            "Seconds without diagnostics of a node after which it is reported as stale; several "
            "times diagnostics_period_s.",
            0.3,
            3600.0,
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.root = sessions_folder(values.sessions_folder)
        try:
            if values.record:
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
        self.view = SessionView(self.get_namespace())
        self.display = BeliefDisplay(self, values)
        self.room = RoomPicture(values.world, values.scene, values.world_seed)
        if values.web_port >= 0:
            self.page = Page(self, values, self.picture)
            self.show(self.view.sections)
        self.watch_health(values.stale_after_s)
        for kind, (topic, message_type) in STREAM_TOPICS.items():
            first = kind == "transcript"
            callback = self.on_transcript if first else partial(self.on_message, kind)
            self.listen(message_type, topic, callback, LATCHED_STREAM)

    def start(self) -> None:
        if self.page:
            self.page.announce()
        self.display.renew()

    @property
    def folder(self) -> Path | None:
        """The current session's folder."""
        return self.record.folder if self.record else None

    def has_recorded(self, turn: int) -> bool:
        """Whether a turn is on disk to its end: its settled belief and the executor's report."""
        return min(self.settled_turn, self.reported_turn) >= turn

    def teardown(self) -> None:
        self.page = None
        if self.record:
            self.record.close()
            self.record = None

    def facts(self) -> Mapping[str, str]:
        return {
            "recording in": str(self.folder or "no session yet"),
            "page": self.page.server.url if self.page else "off",
        }

    # The session.

    def on_transcript(self, message: Transcript) -> None:
        if message.session_id != self.session_id:
            self.begin(message.session_id)
        self.take("transcript", message)

    def begin(self, session_id: str) -> None:
        """Open the record of a session, going on with an old one of the same id."""
        if self.record:
            self.record.close()
            self.record = None
        self.session_id = session_id
        self.actions_written = []
        self.plan_written = (0, ())
        self.settled_turn = self.reported_turn = 0
        ending = folder_name(session_id)
        existing = sorted(self.root.glob(f"*-{ending}"))
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{ending}"
        folder = existing[-1] if existing else self.root / name
        self.view.begin(session_id)
        about = {
            "session_id": session_id,
            "good_ros": __version__,
            "namespace": self.get_namespace(),
            "began": time.time(),
        }
        try:
            if self.values.record:
                if existing:
                    self.view.load(read_all(folder))
                    self.actions_written = actions_of(folder)
                self.record = SessionRecord(folder, about)
                self.get_logger().info(f"recording in {folder}")
        except (OSError, GoodError) as error:
            self.get_logger().error(f"the session is not recorded: {error}")
        self.show(self.view.sections)
        early, self.early = self.early, []
        for kind, message in early:
            self.on_message(kind, message)

    def on_message(self, kind: str, message: Any) -> None:
        if message.session_id != self.session_id:
            # It may have overtaken the transcript that begins its session.
            self.early = [*self.early[-EARLY:], (kind, message)]
            return
        self.take(kind, message)
        if kind == "status":
            self.write_plan_and_actions(message)
            if TaskState(message.state).ends_turn:
                self.reported_turn = message.turn
        elif kind == "beliefs":
            self.display.show(belief_from_msg(message))
            if message.settled:
                self.settled_turn = message.turn

    def take(self, kind: str, message: Any) -> None:
        """Record a message of the session, and show it."""
        fields = message_to_dict(message)
        self.append(kind, fields)
        self.show(self.view.hear(kind, fields))

    def write_plan_and_actions(self, message: TaskStatus) -> None:
        """What is new in the status' plan and history, as lines of their own."""
        labels = tuple(step.label for step in message.plan)
        if labels and (message.turn, labels) != self.plan_written:
            self.plan_written = (message.turn, labels)
            steps = [message_to_dict(step) for step in message.plan]
            self.append("plans", {"turn": message.turn, "steps": steps})
        turns = [message.turn - STATUS_TURNS + 1, *(result.turn for result in message.history)]
        before = sum(action["turn"] < min(turns) for action in self.actions_written)
        for number, result in enumerate(message.history, before):
            fields = message_to_dict(result)
            if number == len(self.actions_written):
                self.actions_written.append({})
            # A step that was undone later is written again under its number.
            if fields != self.actions_written[number]:
                self.actions_written[number] = fields
                self.append("actions", {"number": number + 1, **fields})

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

    # The page.

    def show(self, sections: Mapping[str, Any]) -> None:
        if self.page:
            self.page.server.update(sections)

    def picture(self) -> Any:
        """The room from above as a ``Picture``, or None; called from the server's thread."""
        from good_ros.monitor.web import Picture

        drawn = self.room.picture(self.folder)
        return None if drawn is None else Picture(*drawn)

    # The nodes' health.

    def watch_health(self, stale_after_s: float) -> None:
        self.silence = SilenceWatch(stale_after_s, WATCH_S)
        self.known_silent: set[str] = set()
        self.told = 0.0
        self.nodes_changed = False
        self.clock = Clock(clock_type=ClockType.STEADY_TIME)
        self.diagnostics = self.create_publisher(DiagnosticArray, diagnostics.TOPIC, DIAGNOSTICS)
        self.at_cleanup(lambda: self.destroy_publisher(self.diagnostics))
        timer = self.create_timer(WATCH_S, self.report_silent, clock=self.clock)
        self.at_cleanup(lambda: self.destroy_timer(timer))
        self.listen(DiagnosticArray, diagnostics.TOPIC, self.on_diagnostics, DIAGNOSTICS)
        self.listen(Log, "/rosout", self.on_log, LATCHED_STREAM)

    def now_s(self) -> float:
        return float(self.clock.now().nanoseconds) * 1e-9

    def is_ours(self, name: str) -> bool:
        """Whether a fully qualified node name is in this node's namespace."""
        return name.rpartition("/")[0] == self.get_namespace().rstrip("/")

    def on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            level = Level(status.level[0])
            ours = status.hardware_id == diagnostics.HARDWARE_ID and self.is_ours(status.name)
            if ours and level is not Level.STALE:
                self.silence.hear(status.name, self.now_s())
                facts = {item.key: item.value for item in status.values}
                self.nodes_changed |= bool(
                    self.view.node_is(status.name, level.name, status.message, facts)
                )

    def report_silent(self) -> None:
        now = self.now_s()
        silent = self.silence.look(now)
        # A node that has just fallen silent is told of at once, the rest once in a while: the
        # page would be busy with little else.
        if set(silent) == self.known_silent and now - self.told < TELL_S:
            return
        self.known_silent, self.told = set(silent), now
        statuses = []
        for name, seconds in silent.items():
            facts = self.view.sections["nodes"][name]["facts"]
            health = Health(Level.STALE, f"silent for {seconds:.0f} s", facts)
            statuses.append(diagnostics.health_to_msg(name, health))
            self.view.node_is(name, health.level.name, health.message, facts)
        if self.nodes_changed or statuses:
            self.nodes_changed = False
            self.show({"nodes": self.view.sections["nodes"]})
        if statuses:
            header = Header(stamp=self.get_clock().now().to_msg())
            self.diagnostics.publish(DiagnosticArray(header=header, status=statuses))

    def on_log(self, message: Log) -> None:
        if message.level >= 30:  # Log.WARN is a bytes constant in some releases.
            name = message.name.replace(".", "/")
            if self.is_ours(f"/{name}"):
                level = LOG_LEVELS.get(message.level, "ERROR")
                stamp = time_from_msg(message.stamp)
                self.show(self.view.logged(level, name, message.msg, stamp))


def main() -> int:
    return run(MonitorNode)


if __name__ == "__main__":
    raise SystemExit(main())
