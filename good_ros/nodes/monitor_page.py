"""The monitor's page: its server, and what its visitors do, done on the graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from rclpy.client import Client
from std_msgs.msg import String

from good_ros.core.errors import GoodError, InputError
from good_ros.language.conversation import check_utterance
from good_ros.msg import Utterance
from good_ros.nodes.base import GoodNode
from good_ros.nodes.parameters import Parameter
from good_ros.nodes.qos import LATCHED, SPEECH_OUT
from good_ros.nodes.speaker import Speaker
from good_ros.srv import AnswerSuggestion, ApprovePlan, EditGoals, Teach

if TYPE_CHECKING:
    from good_ros.monitor.web import Outcome, PageServer, Picture

PARAMETERS = (
    Parameter(
        "web_port",
        -1,
        "Port of the page that shows the session: -1 for no page, 0 for any free port. Its "
        "address is logged, and published on web_page.",
        -1,
        65535,
    ),
    Parameter(
        "web_host",
        "127.0.0.1",
        "Address that the page is served on. Another than this machine's own opens it to the "
        "network, and then a token is asked for.",
    ),
    Parameter(
        "web_token",
        "",
        "Token that a visitor of the page must have; empty for none on this machine alone, and "
        "for a random one, which is logged, elsewhere.",
    ),
)


class Page:
    """A running page server that belongs to ``node``; goes at the node's cleanup."""

    def __init__(self, node: GoodNode, values: Any, picture: Callable[[], Picture | None]) -> None:
        try:
            from good_ros.monitor.web import PageServer
        except ImportError as error:
            raise GoodError(
                f"the page needs a library that is missing ({error.name}): pip install "
                "starlette uvicorn, or set web_port to -1"
            ) from error
        # Its warnings are about single visitors, and would go to the terminal past ROS's log.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        actions = PageActions(node)
        self.server: PageServer = node.keep(
            PageServer(
                actions,
                host=values.web_host,
                port=values.web_port,
                token=values.web_token,
                picture=picture,
            )
        )
        self._address = node.publisher(String, "web_page", LATCHED)
        node.get_logger().info(f"the page is at {self.server.entry_url}")

    def announce(self) -> None:
        """Publish where the page is, without the token."""
        self._address.publish(String(data=self.server.url))


class PageActions:
    """Does on the graph's thread what the server's thread hands over."""

    def __init__(self, node: GoodNode) -> None:
        self._node = node
        publisher = node.publisher(Utterance, "utterance", SPEECH_OUT)
        self._speaker = node.keep(Speaker(node, publisher, "page"))
        self._approve = self._client(ApprovePlan, "approve_plan")
        self._edit = self._client(EditGoals, "edit_goals")
        self._suggestion = self._client(AnswerSuggestion, "answer_suggestion")
        self._teach = self._client(Teach, "teach")

    def say(self, text: str) -> Future[Outcome]:
        from good_ros.monitor.web import Outcome

        try:
            text = check_utterance(text)
        except InputError as error:
            return self._refused(str(error))
        if not self._node.active:
            return self._refused("the monitor is not active: activate it, then speak")
        future: Future[Outcome] = Future()
        self._speaker.say(text, lambda: _settle(future, Outcome(True)))
        return future

    def approve(self, session_id: str, turn: int, approve: bool) -> Future[Outcome]:
        if not 0 <= turn < 2**32:
            return self._refused("turn must be a turn's number")
        request = ApprovePlan.Request(session_id=session_id, turn=turn, approve=approve)
        return self._call(self._approve, request, "executor")

    def edit_goals(self, edit: Mapping[str, list[str]]) -> Future[Outcome]:
        return self._call(self._edit, EditGoals.Request(**edit), "goal_manager")

    def answer_suggestion(
        self, session_id: str, suggestion_id: int, accept: bool
    ) -> Future[Outcome]:
        if not 0 <= suggestion_id < 2**32:
            return self._refused("suggestion_id must be a suggestion's number")
        request = AnswerSuggestion.Request(
            session_id=session_id, suggestion_id=suggestion_id, accept=accept
        )
        return self._call(self._suggestion, request, "executor")

    def teach(self, person_id: str, text: str) -> Future[Outcome]:
        try:
            text = check_utterance(text)
            person_id = check_utterance(person_id)
        except InputError as error:
            return self._refused(str(error))
        return self._call(self._teach, Teach.Request(person_id=person_id, text=text), "teacher")

    def _refused(self, message: str) -> Future[Outcome]:
        from good_ros.monitor.web import Outcome

        future: Future[Outcome] = Future()
        future.set_result(Outcome(False, message))
        return future

    def _client(self, service_type: type, name: str) -> Client:
        client = self._node.create_client(service_type, name)
        self._node.at_cleanup(lambda: self._node.destroy_client(client))
        return client

    def _call(self, client: Client, request: Any, server: str) -> Future[Outcome]:
        from good_ros.monitor.web import Outcome

        future: Future[Outcome] = Future()

        def finish(answer: Any) -> None:
            if answer.exception() is not None:
                _settle(future, Outcome(False, f"{server} did not answer: {answer.exception()}"))
                return
            result = answer.result()
            message = result.reply if isinstance(result, Teach.Response) else result.message
            _settle(future, Outcome(result.success, message))

        def call() -> None:
            if not client.service_is_ready():
                _settle(
                    future,
                    Outcome(
                        False, f"{client.srv_name} is not served: start {server}, then try again"
                    ),
                )
                return
            client.call_async(request).add_done_callback(finish)

        self._node.worker.post(call)
        return future


def _settle(future: Future[Outcome], outcome: Outcome) -> None:
    """Set the result of a future that its waiter may have given up."""
    if future.set_running_or_notify_cancel():
        future.set_result(outcome)
