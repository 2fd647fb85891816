"""The TTS action of ``audio_common_msgs`` where that package is there: served, and called."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future

from good_ros.core.errors import SpeechError
from good_ros.nodes.base import GoodNode
from good_ros.nodes.waiting import until_done
from good_ros.planning.desk import Desk, Stop

ACTION_PACKAGE = "audio_common_msgs"
SPEAK_DEADLINE_S = 120.0
"""After how long a TTS server's end is no longer waited for."""

Speak = Callable[[str, str, Callable[[BaseException | None], None]], threading.Event | None]
"""speak(text, language, ended), as of ``SpeechOutNode.speak``."""


def tts_action() -> Any:
    """The action's type, or None where its package is not there."""
    try:
        return importlib.import_module(f"{ACTION_PACKAGE}.action").TTS
    except (ImportError, AttributeError):
        return None


class TtsServer:
    """Serves the action by ``speak``; texts are said one after the other."""

    def __init__(self, node: GoodNode, action: Any, name: str, speak: Speak) -> None:
        self._node = node
        self._action = action
        self._speak = speak
        self._cuts: dict[bytes, threading.Event] = {}
        self._waiting: list[Future] = []
        self._server = ActionServer(
            node,
            action,
            name,
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=self._on_cancel,
        )

    def close(self) -> None:
        self.abandon()
        self._server.destroy()

    def abandon(self) -> None:
        """End every goal: the node ceases to speak."""
        for done in self._waiting:
            if not done.done():
                done.set_result(SpeechError("speech_out was stopped"))

    def _on_goal(self, request: Any) -> GoalResponse:
        return GoalResponse.ACCEPT if self._node.active else GoalResponse.REJECT

    def _on_cancel(self, goal: Any) -> CancelResponse:
        if cut := self._cuts.get(bytes(goal.goal_id.uuid)):
            cut.set()
        return CancelResponse.ACCEPT

    async def _execute(self, goal: Any) -> Any:
        done = Future()

        def ended(error: BaseException | None) -> None:
            if not done.done():
                done.set_result(error)

        result = self._action.Result()
        cut = self._speak(goal.request.text, goal.request.language, ended)
        if cut is None:
            goal.abort()
            return result
        key = bytes(goal.goal_id.uuid)
        self._cuts[key] = cut
        self._waiting.append(done)
        if goal.is_cancel_requested:
            cut.set()
        try:
            await until_done(done)
        finally:
            del self._cuts[key]
            self._waiting.remove(done)
        if cut.is_set() and goal.is_cancel_requested:
            goal.canceled()
        elif done.result() is None:
            goal.succeed()
        else:
            goal.abort()
        return result


class TtsClient:
    """Has another node speak; ``say`` is called in the worker."""

    def __init__(self, node: GoodNode, action: Any, name: str) -> None:
        self._node = node
        self._action = action
        self._name = name
        self._ends: Desk[str] = Desk()
        self._client = ActionClient(node, action, name)

    def close(self) -> None:
        self._client.destroy()

    def say(self, text: str, language: str, stop: Stop, began: Callable[[], None]) -> None:
        """Have it spoken, and wait until it was, or ``stop``. Raises SpeechError."""
        key = object()
        handles: list[Any] = []
        over = threading.Event()
        self._ends.expect(key)

        def send() -> None:
            if not self._client.server_is_ready():
                self._ends.hand_in(key, "there is no server")
                return
            goal = self._action.Goal(text=text, language=language)
            self._client.send_goal_async(goal).add_done_callback(accepted)

        def accepted(future: Any) -> None:
            handle = future.result()
            if handle is None or not handle.accepted:
                self._ends.hand_in(key, "its server refused")
                return
            if over.is_set():
                # It was cut off while the server thought about it.
                handle.cancel_goal_async()
                return
            handles.append(handle)
            began()
            handle.get_result_async().add_done_callback(ended)

        def ended(future: Any) -> None:
            succeeded = (
                future.result() is not None
                and future.result().status == GoalStatus.STATUS_SUCCEEDED
            )
            self._ends.hand_in(key, "" if succeeded else "its server could not")

        self._node.worker.post(send)
        reason = self._ends.wait(key, SPEAK_DEADLINE_S, stop)
        if reason is None:

            def cancel() -> None:
                over.set()
                for handle in handles:
                    handle.cancel_goal_async()

            self._node.worker.post(cancel)
            if stop.is_set():
                return
            reason = f"its end was waited for {SPEAK_DEADLINE_S:g} s"
        if reason:
            raise SpeechError(f"action {self._name} could not speak: {reason}")
