"""One session of an experiment on a ROS graph: the same records as without one.

The nodes run composed in this process and share the models that the experiment holds. They make
their own generators, as on any graph; what is counted here goes between.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import ModelError
from good_ros.core.goals import GoalSet
from good_ros.core.plan import StepResult, TaskStatus
from good_ros.experiments.play import SessionModels, Write, cost_record
from good_ros.experiments.profiles import Profile, load_profile
from good_ros.experiments.records import Outcome, end_record, outcome_of, turn_record
from good_ros.experiments.session import TurnTrace
from good_ros.experiments.spec import SessionKey, Spec
from good_ros.experiments.usage import CountingGenerator
from good_ros.experiments.variants import VARIANTS
from good_ros.msg import GoalBelief as BeliefMsg
from good_ros.msg import GoalSet as GoalSetMsg
from good_ros.msg import TaskStatus as StatusMsg
from good_ros.nodes.convert import (
    belief_from_msg,
    goal_set_from_msg,
    status_from_msg,
)
from good_ros.nodes.qos import LATCHED_STREAM
from good_ros.nodes.stack import Stack, StackOptions
from good_ros.nodes.transcripts import TranscriptReader
from good_ros.planning.execution import replay
from good_ros.planning.turn import PlanRecord
from good_ros.worlds.registry import make_world

NODES = ("dialog", "goal_belief", "goal_manager", "executor", "simulated_human")
CALLS_A_TURN = 12
"""Model calls that a turn may take, each up to the experiment's deadline, before it counts as
hung."""
START_S = 60.0


class Listener(Node):
    """Hears what the nodes say of one session."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__("experiment", **node_arguments)
        self.transcript = Transcript()
        self.beliefs: dict[int, dict[bool, Belief]] = {}
        self.goals: dict[int, GoalSet] = {}
        self.statuses: dict[int, TaskStatus] = {}
        self.heard = time.monotonic()
        for topic, kind, hear in (
            ("goal_belief", BeliefMsg, self.on_belief),
            ("goals", GoalSetMsg, self.on_goals),
            ("task_status", StatusMsg, self.on_status),
        ):
            self.create_subscription(kind, topic, hear, LATCHED_STREAM)
        TranscriptReader(self.create_subscription, self.on_transcript)

    def on_transcript(self, transcript: Transcript) -> None:
        self.heard = time.monotonic()
        self.transcript = transcript

    def on_belief(self, message: Any) -> None:
        self.heard = time.monotonic()
        belief = belief_from_msg(message)
        self.beliefs.setdefault(belief.turn, {})[belief.settled] = belief

    def on_goals(self, message: Any) -> None:
        goals = goal_set_from_msg(message)
        self.goals[goals.turn] = goals

    def on_status(self, message: Any) -> None:
        self.heard = time.monotonic()
        status = status_from_msg(message)
        if status.state.ends_turn:
            self.statuses[status.turn] = status

    def is_over(self, turn: int) -> bool:
        """Whether all of a turn has been heard: it was acted on, or ended the session."""
        turns = self.transcript.turns
        if turn > len(turns):
            return False
        if not turns[turn - 1].outcome:
            return self.transcript.ended
        return turn in self.statuses

    @property
    def has_ended(self) -> bool:
        return self.transcript.ended and self.is_over(len(self.transcript.turns))

    def trace(self, turn: Turn) -> TurnTrace:
        """As ``session.TurnTrace``: what the nodes compute after a session's end counts for
        nothing, and is left out."""
        if not turn.outcome:
            return TurnTrace(turn)
        beliefs = self.beliefs.get(turn.turn, {})
        return TurnTrace(
            turn,
            tuple(beliefs[settled] for settled in (False, True) if settled in beliefs),
            self.goals.get(turn.turn),
            self.statuses.get(turn.turn),
        )

    @property
    def history(self) -> tuple[StepResult, ...]:
        return tuple(result for turn in self.transcript.turns for result in turn.actions)


def play_on_graph(spec: Spec, key: SessionKey, models: SessionModels, write: Write) -> Outcome:
    """As ``play.play``, on nodes. ``models`` keeps the weights loaded for them.

    Raises ModelError where a node cannot be configured, or nothing is heard for as long as the
    model calls of a turn may take.
    """
    began = time.monotonic()
    profile = load_profile(key.profile)
    world = make_world(profile.world, store_search=spec.store_search)
    world.reset(profile.scene)
    at_start = outcome_of(profile, world).machine_score
    options = _options(spec, key, profile)
    stack = Stack(options)
    try:
        listener = Listener(context=stack.context, namespace=options.namespace)
        stack.add(listener)
        roles, plans = _start(stack)
        seconds = _follow(stack, listener, CALLS_A_TURN * spec.deadline_s + START_S, write)
    finally:
        stack.close()
    # The history tells all that was done; the executor's own world went with it.
    replay(world, listener.history)
    outcome = outcome_of(profile, world)
    write(end_record(listener.transcript, listener.history, outcome, at_start, world, plans))
    beliefs = [b for t in listener.transcript.turns for b in listener.trace(t).beliefs]
    scoring = {
        "tokens_scored": sum(b.tokens_scored for b in beliefs),
        "tokens_reused": sum(b.tokens_reused for b in beliefs),
        "seconds": sum(b.seconds for b in beliefs),
    }
    write(cost_record(spec, roles, scoring, seconds, time.monotonic() - began))
    return outcome


def _follow(stack: Stack, listener: Listener, patience_s: float, write: Write) -> list[float]:
    """Run the graph until the session has ended, writing each turn; the seconds of each."""
    seconds: list[float] = []
    turn_began = time.monotonic()
    while not seconds or not (
        listener.has_ended and len(seconds) == len(listener.transcript.turns)
    ):
        turn = len(seconds) + 1

        def is_due(turn: int = turn) -> bool:
            return listener.is_over(turn) or time.monotonic() - listener.heard > patience_s

        stack.spin(is_due)
        if not listener.is_over(turn):
            raise ModelError(f"the nodes said nothing for {patience_s:.0f} s in turn {turn}")
        now = time.monotonic()
        seconds.append(round(now - turn_began, 3))
        turn_began = now
        write(turn_record(listener.trace(listener.transcript.turns[turn - 1])))
    return seconds


def _options(spec: Spec, key: SessionKey, profile: Profile) -> StackOptions:
    variant = VARIANTS[key.variant]
    assert variant.layout is not None, f"there are no nodes for {key.variant}"
    common = {
        "model": spec.model,
        "served_model": spec.served_model,
        "seed": spec.seed_of(key),
        "deadline_s": spec.deadline_s,
        "max_turns": spec.rounds,
        "world": profile.world,
        "scene": profile.scene,
        "store_search": spec.store_search,
        "profile": key.profile,
        "task": profile.task,
        "completion_phrase": profile.completion_phrase,
        "diagnostics_period_s": 0.0,
    }
    belief = {
        "model": spec.scorer,
        "served_model": spec.served_scoring_model,
        "layout": variant.layout.value,
        "evidence": variant.evidence,
    }
    return StackOptions(
        nodes=NODES,
        # Sessions beside one another, or another stack on this machine, are not heard.
        namespace=f"/experiment_{uuid.uuid4().hex[:12]}",
        parameters={"*": common, "goal_belief": belief},
        ros_arguments=["--disable-stdout-logs", "--log-level", "error"],
    )


def _start(stack: Stack) -> tuple[dict[str, CountingGenerator], list[PlanRecord]]:
    """Start the nodes with counted generators; the counts by role, and the plans as they come."""
    nodes: dict[str, Any] = dict(stack.nodes)
    for name, node in nodes.items():
        if node.trigger_configure() != TransitionCallbackReturn.SUCCESS:
            raise ModelError(f"{name}: {node.failure or 'could not be configured'}")
    dialog = CountingGenerator(nodes["dialog"].generator)
    roles = {
        "dialog": dialog,
        "planner": CountingGenerator(nodes["executor"].generator),
        "human": CountingGenerator(nodes["simulated_human"].generator),
    }
    nodes["dialog"].generator = dialog
    # Without a graph one generator serves both, and their calls are counted together.
    nodes["goal_manager"].generator = CountingGenerator(
        nodes["goal_manager"].generator, dialog.usage
    )
    nodes["executor"].actor.planner.generator = roles["planner"]
    nodes["simulated_human"].human.generator = roles["human"]
    plans: list[PlanRecord] = []
    nodes["executor"].actor.on_plan = plans.append
    for name, node in reversed(nodes.items()):
        if node.trigger_activate() != TransitionCallbackReturn.SUCCESS:
            raise ModelError(f"{name}: could not be activated")
    return roles, plans
