"""Suggestions on the graph: offers one helpful action after a turn, and does it on a yes (ProVox).

Topic ``suggestion`` (latched), service ``answer_suggestion``; a plain yes or no that is said as the
next utterance counts as well. Everything but the making of an offer is in the graph's thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

from rclpy.task import Future

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import ModelError
from good_ros.core.plan import StepResult
from good_ros.language.generator import Generator
from good_ros.msg import Suggestion as SuggestionMsg
from good_ros.nodes.base import GoodNode
from good_ros.nodes.convert import step_to_msg
from good_ros.nodes.kept import Kept
from good_ros.nodes.parameters import SESSIONS_FOLDER, Parameter, sessions_folder
from good_ros.nodes.plan_server import GivenPlan
from good_ros.nodes.qos import LATCHED
from good_ros.planning.commands import Command, is_no, is_yes
from good_ros.planning.conditions import Conditions
from good_ros.planning.proactive import (
    Memory,
    Offer,
    Suggestion,
    SuggestionState,
    propose,
    propose_by_model,
)
from good_ros.planning.relevance import named_objects
from good_ros.srv import AnswerSuggestion
from good_ros.teaching.offers import all_offers, offers
from good_ros.teaching.planner import People
from good_ros.teaching.profile import PersonProfile
from good_ros.worlds.base import World

PARAMETERS = (
    SESSIONS_FOLDER,
    Parameter(
        "proactive",
        False,
        "Offer one helpful next action after a turn; nothing of it is done before a yes.",
    ),
    Parameter(
        "suggestion_pause_s",
        2.0,
        "Seconds after a turn, or after a step that was accepted, before the next offer.",
        0.0,
        3600.0,
    ),
    Parameter(
        "suggestion_deadline_s",
        60.0,
        "Seconds after which an offer that nobody answers counts as ignored.",
        0.1,
        86400.0,
    ),
    Parameter(
        "suggestion_from",
        0.5,
        "Probability of the likeliest goal from which on something is offered for it.",
        0.0,
        1.0,
    ),
)


class Owner(Protocol):
    """What the suggester needs of the executor."""

    world: World
    generator: Generator
    history: tuple[StepResult, ...]
    values: SimpleNamespace

    @property
    def conditions(self) -> Conditions: ...

    @property
    def settled(self) -> tuple[Belief, Transcript] | None:
        """The belief that was acted on last, with its transcript; None while a turn is due or
        acted on, or the session has ended."""

    def submit_plan(self, plan: GivenPlan) -> None: ...


class Suggester:
    """Makes offers for ``owner`` on ``node``, which are the same executor."""

    def __init__(self, node: GoodNode, owner: Owner, people: People) -> None:
        self._node = node
        self._owner = owner
        self._people = people
        self.memory = Memory()
        self._session_id = ""
        self._turn = 0
        self._said: dict[int, Suggestion | None] = {}
        self._timer: Any = None
        self._kept = Kept(node, sessions_folder(owner.values.sessions_folder))
        self._topic = node.publisher(SuggestionMsg, "suggestion", LATCHED)
        node.serve(AnswerSuggestion, "answer_suggestion", self._on_answer)

    def close(self) -> None:
        self._stop_timer()

    def begin(self, transcript: Transcript) -> None:
        """A new session, or one that goes on after the executor was killed: what was offered in
        it is known, and what stood still stands."""
        self._settle(SuggestionState.IGNORED)
        self._session_id, self._said = transcript.session_id, {}
        try:
            self.memory = Memory.from_json(self._kept.of(self._session_id))
        except ValueError:
            self.memory = Memory()
        self._turn = transcript.turn
        if standing := self.memory.standing:
            self._turn = standing.turn
            self._stand()
            self.hear(transcript)

    def hear(self, transcript: Transcript) -> None:
        """The person went on: with a yes or a no to what is offered, or past it."""
        if transcript.ended:
            self._settle(SuggestionState.IGNORED)
        if transcript.turn <= self._turn:
            return
        self._turn = transcript.turn
        self._stop_timer()
        utterance = transcript.turns[-1].utterance
        if self.memory.standing is None:
            return
        if is_yes(utterance):
            self._said[self._turn] = self._settle(SuggestionState.ACCEPTED)
        elif is_no(utterance):
            self._said[self._turn] = self._settle(SuggestionState.REFUSED)
        else:
            self._settle(SuggestionState.IGNORED)

    def command(self, transcript: Transcript) -> Command | None:
        """What a yes or a no in the last utterance comes to; None where it was no answer."""
        suggestion = self._said.get(transcript.turn)
        if suggestion is None:
            return None
        accepted = suggestion.state is SuggestionState.ACCEPTED
        return Command(suggestion.steps if accepted else (), suggestion.label)

    def consider(self) -> None:
        """A turn, or an accepted action, has ended: offer something after a pause."""
        if not self._owner.values.proactive or self.memory.standing is not None:
            return
        self._after(self._owner.values.suggestion_pause_s, self._offer)

    def _offer(self) -> None:
        settled = self._owner.settled
        if settled is None or not self._node.active:
            return
        belief, transcript = settled

        def job(cancel: threading.Event) -> Offer | None:
            return self._find(belief, transcript, cancel)

        def then(offer: Offer | None, error: BaseException | None) -> None:
            if error is not None:
                self._node.get_logger().warning(f"nothing is offered: {error}")
            now = self._owner.settled
            if offer is None or now is None or now[0] is not belief:
                # The person has gone on meanwhile.
                return
            self.memory.offer(offer, belief.turn, belief.top)
            self._stand()

        self._node.worker.submit(job, then)

    def _stand(self) -> None:
        """An offer waits for its answer, until its time is over."""
        self._publish()
        self._after(
            self._owner.values.suggestion_deadline_s,
            lambda: self._settle(SuggestionState.IGNORED),
        )

    def _find(
        self, belief: Belief, transcript: Transcript, cancel: threading.Event
    ) -> Offer | None:
        """In the worker."""
        owner, top = self._owner, belief.top
        profile = self._people.profile(transcript) or PersonProfile("nobody")
        offered_from = owner.values.suggestion_from
        if owner.conditions.of(top.goal):
            groups = offers(owner.world, profile, belief, owner.conditions)
            return propose(owner.world, belief, owner.conditions, groups, self.memory, offered_from)
        names = [o.name for o in named_objects([top.goal.text], owner.world.observe())]
        try:
            return propose_by_model(
                owner.world,
                belief,
                all_offers(owner.world, profile, names),
                self.memory,
                owner.history,
                owner.generator,
                offered_from=offered_from,
                seed=owner.values.seed,
                deadline_s=owner.values.deadline_s,
                cancel=cancel,
            )
        except ModelError as error:
            self._node.get_logger().warning(f"nothing is offered: {error}")
            return None

    def _on_answer(
        self, request: AnswerSuggestion.Request, response: AnswerSuggestion.Response
    ) -> AnswerSuggestion.Response:
        standing = self.memory.standing
        if (
            not self._node.active
            or standing is None
            or standing.id != request.suggestion_id
            or self._session_id != request.session_id
        ):
            response.message = (
                f"suggestion {request.suggestion_id} of session {request.session_id!r} does not "
                "wait for an answer: suggestion says which one does"
            )
            return response
        response.success = True
        if not request.accept:
            self._settle(SuggestionState.REFUSED)
            return response
        self._settle(SuggestionState.ACCEPTED)
        # What is done in it is published by the executor, which asks for the next offer then.
        self._owner.submit_plan(GivenPlan(standing.steps, Future()))
        return response

    def _settle(self, state: SuggestionState) -> Suggestion | None:
        self._stop_timer()
        settled = self.memory.settle(state)
        if settled is not None:
            self._publish()
        return settled

    def _publish(self) -> None:
        self._kept.keep(self._session_id, self.memory.as_json())
        last = self.memory.suggestions[-1]
        self._topic.publish(
            SuggestionMsg(
                header=self._node.header(),
                session_id=self._session_id,
                turn=last.turn,
                suggestion_id=last.id,
                steps=[step_to_msg(step) for step in last.steps],
                text=last.text,
                goal=last.goal,
                probability=last.probability,
                state=int(last.state),
            )
        )

    def _after(self, seconds: float, action: Callable[[], Any]) -> None:
        """Do it once, unless something else comes first."""
        self._stop_timer()

        def due() -> None:
            self._stop_timer()
            action()

        self._timer = self._node.create_timer(max(seconds, 0.001), due)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._node.destroy_timer(self._timer)
            self._timer = None
