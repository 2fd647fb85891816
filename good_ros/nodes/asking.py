"""Asking the person through dialog, for a worker that waits for the answer."""

from __future__ import annotations

from typing import Any

from good_ros.nodes.base import GoodNode
from good_ros.planning.desk import Desk, Stop
from good_ros.srv import AskPerson

MARGIN_S = 2.0
"""How much longer than dialog's own deadline its answer is waited for."""


class PersonAsker:
    """A client of ``ask_person`` on ``node``; one question at a time."""

    def __init__(self, node: GoodNode, deadline_s: float) -> None:
        self._node = node
        self._deadline_s = deadline_s
        self._answers: Desk[str] = Desk()
        self._client = node.create_client(AskPerson, "ask_person")

    def close(self) -> None:
        self._node.destroy_client(self._client)

    def ask(self, session_id: str, text: str, stop: Stop | None = None) -> str | None:
        """The answer; None where none came in time, or there is no dialog. In the worker."""
        question = object()
        self._answers.expect(question)

        def send() -> None:
            if not self._client.service_is_ready():
                self._node.get_logger().warning(f"not asked, for want of dialog: {text}")
                self._answers.hand_in(question, "")
                return
            request = AskPerson.Request(
                session_id=session_id, text=text, deadline_s=self._deadline_s
            )
            self._client.call_async(request).add_done_callback(take)

        def take(future: Any) -> None:
            reply = future.result()
            if reply is None or not reply.success:
                reason = reply.message if reply else "dialog is gone"
                self._node.get_logger().warning(f"no answer to '{text}': {reason}")
            self._answers.hand_in(question, reply.answer if reply and reply.success else "")

        self._node.worker.post(send)
        return self._answers.wait(question, self._deadline_s + MARGIN_S, stop) or None
