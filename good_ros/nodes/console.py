"""The console: shows a session in the terminal as it goes, and lets a person type answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import Log
from rclpy.node import Node
from rich.console import Console
from rich.markup import escape

from good_ros.core.goals import RemovalReason
from good_ros.core.plan import TaskState
from good_ros.core.plan import TaskStatus as Status
from good_ros.msg import (
    GoalBelief,
    GoalSet,
    Question,
    Suggestion,
    TaskStatus,
    Transcript,
    Utterance,
)
from good_ros.nodes.convert import (
    belief_from_msg,
    goal_set_from_msg,
    status_from_msg,
    transcript_from_msg,
)
from good_ros.nodes.guard import guarded
from good_ros.nodes.qos import LATCHED_STREAM, SPEECH_OUT
from good_ros.nodes.speaker import Speaker
from good_ros.srv import AnswerSuggestion, ApprovePlan
from good_ros.turns.window import WholeHistory
from good_ros.view import belief_panel, status_lines, waiting_lines

YES, NO = frozenset({"y", "yes", "ok", "okay"}), frozenset({"n", "no"})


class ConsoleNode(Node):
    """A plain node, so that it can come and go beside any running stack."""

    def __init__(self, console: Console, **node_arguments: Any) -> None:
        super().__init__("console", **node_arguments)
        self.console = console
        self.turn = 0
        self.done = WholeHistory()
        self.ended = False
        self._said_turn: tuple[str, int] = ("", 0)
        self._status_shown: tuple[str, int, int] | None = None
        self._settled_turn = 0
        self._waiting: Status | None = None
        self._trouble = ""
        self._approve = self.create_client(ApprovePlan, "approve_plan")
        self._offered: Suggestion | None = None
        self._answer = self.create_client(AnswerSuggestion, "answer_suggestion")
        self._goodbye = ""
        self._end_reason = ""
        self.speaker = Speaker(
            self, self.create_publisher(Utterance, "utterance", SPEECH_OUT), "console"
        )
        self._listen(Question, "question", self.show_question)
        self._listen(Transcript, "transcript", self.show_transcript)
        self._listen(GoalSet, "goals", self.show_goals)
        self._listen(GoalBelief, "goal_belief", self.show_belief)
        self._listen(TaskStatus, "task_status", self.show_status)
        self._listen(Suggestion, "suggestion", self.show_suggestion)
        self.create_subscription(Log, "/rosout", self.show_log, 100)

    def _listen(self, kind: type, topic: str, show: Callable[[Any], None]) -> None:
        heard = guarded(self, show, f"a message on {topic}")
        self.create_subscription(kind, topic, heard, LATCHED_STREAM)

    def has_ended(self) -> bool:
        """Whether the session is over and its last belief has been shown."""
        return self.ended and self._settled_turn >= self.turn

    @property
    def steps_done(self) -> int:
        return sum(result.success for result in self.done.steps)

    def say(self, text: str) -> None:
        """Publish what the person typed, once dialog is there to hear it.

        Callable from any thread.
        """
        word = text.strip().rstrip(".!").casefold()
        waiting = self._waiting
        if waiting is not None and word in YES | NO:
            self._waiting = None
            self._approve.call_async(
                ApprovePlan.Request(
                    session_id=waiting.session_id, turn=waiting.turn, approve=word in YES
                )
            )
            return
        offered = self._offered
        if offered is not None and word in YES | NO:
            self._offered = None
            self._answer.call_async(
                AnswerSuggestion.Request(
                    session_id=offered.session_id,
                    suggestion_id=offered.suggestion_id,
                    accept=word in YES,
                )
            )
            return
        self.speaker.say(text)

    def show_question(self, message: Question) -> None:
        if not message.expects_reply:
            # It may overtake the transcript that it follows.
            self._goodbye = message.text
            self._show_end()
            return
        self.console.rule(f"turn {message.turn}", align="left", style="dim")
        self.console.print(f"[bold blue]Robot:[/] {escape(message.text)}")

    def show_transcript(self, message: Transcript) -> None:
        transcript = transcript_from_msg(message)
        key = (transcript.session_id, transcript.turn)
        self.turn = transcript.turn
        if transcript.turns and key != self._said_turn:
            self._said_turn = key
            said = escape(transcript.turns[-1].utterance)
            self.console.print(f"[bold green]Human:[/] {said}")
        if transcript.ended and not self.ended:
            self.ended = True
            self._end_reason = transcript.end_reason
            self._show_end()

    def _show_end(self) -> None:
        if self.ended and self._goodbye:
            self.console.print(f"[bold blue]Robot:[/] {escape(self._goodbye)}")
            self.console.print(f"[bold]The session ends:[/] {escape(self._end_reason)}.")

    def show_goals(self, message: GoalSet) -> None:
        goals = goal_set_from_msg(message)
        if goals.turn == 0:
            return
        for goal in goals.added:
            self.console.print(f"  [green]+ goal[/] {escape(goal.text)}")
        for removal in goals.removed:
            reason = removal.detail or RemovalReason(removal.reason).name.lower()
            self.console.print(
                f"  [red]- goal[/] {escape(removal.goal.text)} [dim]({escape(reason)})[/]"
            )

    def show_belief(self, message: GoalBelief) -> None:
        if message.settled:
            self._settled_turn = message.turn
            self.console.print(belief_panel(belief_from_msg(message)))

    def show_status(self, message: TaskStatus) -> None:
        status = status_from_msg(message)
        key = (status.session_id, status.turn, int(status.state))
        self.done.hear(status)
        waits = status.state is TaskState.WAITING_APPROVAL
        if waits and status != self._waiting:
            self.console.print(waiting_lines(status))
        self._waiting = status if waits else None
        if status.state is TaskState.PLANNING and status.error_msg != self._trouble:
            self._trouble = status.error_msg
            if self._trouble:
                self.console.print(f"  [yellow]the language model: {escape(self._trouble)}[/]")
        if status.state.ends_turn and key != self._status_shown and status.turn:
            self._status_shown = key
            self.console.print(status_lines(status))

    def show_suggestion(self, message: Suggestion) -> None:
        if message.state == Suggestion.OFFERED:
            self._offered = message
            self.console.print(f"[bold blue]Robot:[/] {escape(message.text)} [dim](yes or no)[/]")
            return
        self._offered = None
        words = {
            Suggestion.ACCEPTED: "yes",
            Suggestion.REFUSED: "no",
            Suggestion.IGNORED: "not answered",
        }
        self.console.print(f"  [dim]offered '{escape(message.text)}': {words[message.state]}[/]")

    def show_log(self, message: Log) -> None:
        if message.level >= 30:  # Log.WARN is a bytes constant in some releases.
            self.console.print(f"[dim]{escape(message.name)}:[/] [yellow]{escape(message.msg)}[/]")
