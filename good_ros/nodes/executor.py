"""The executor node: acts once on each settled belief, and reports (GOOD, III-E).

It also serves ``execute_plan`` and ``approve_plan``. Every plan is carried out by the worker, so
that there is one at a time; ``history`` and ``done_turn`` are touched by the worker's jobs alone.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from std_msgs.msg import Bool

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript, TurnOutcome
from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, StepResult, TaskState
from good_ros.core.plan import TaskStatus as Status
from good_ros.language.backends import make_generator
from good_ros.msg import GoalBelief, TaskStatus
from good_ros.nodes.asking import PersonAsker
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import belief_from_msg, status_to_msg
from good_ros.nodes.executor_world import PARAMETERS as WORLD_PARAMETERS
from good_ros.nodes.executor_world import make
from good_ros.nodes.parameters import (
    DEADLINE,
    MODEL,
    PEOPLE_FOLDER,
    PERSON,
    SEED,
    SERVED_MODEL,
    TASK,
    WORLD_SEED,
    Parameter,
)
from good_ros.nodes.plan_server import QUEUE, REFUSE, GivenPlan, PlanServer
from good_ros.nodes.qos import COMMAND, LATCHED, LATCHED_STREAM
from good_ros.nodes.suggester import PARAMETERS as SUGGESTIONS
from good_ros.nodes.suggester import Suggester
from good_ros.nodes.topics import STOP_TOPIC
from good_ros.nodes.transcripts import TranscriptReader
from good_ros.planning.commands import Heard
from good_ros.planning.conditions import Conditions
from good_ros.planning.desk import AnyStop, Desk, Stop
from good_ros.planning.execution import PlanOutcome, replay
from good_ros.planning.safety import Safety, approve_all, load_rules
from good_ros.planning.turn import Patience, TurnActor
from good_ros.srv import ApprovePlan
from good_ros.teaching.planner import People, TaughtPlanner
from good_ros.teaching.profile import ProfileStore
from good_ros.turns.executor import ExecutorOrder
from good_ros.turns.window import steps_of_last_turns
from good_ros.worlds.arm.options import MOTIONS, ROS2_CONTROL
from good_ros.worlds.base import World
from good_ros.worlds.registry import WORLDS, is_world


class ExecutorNode(GoodNode):
    """Owns the world: acts once on each settled belief, and does plans that are given."""

    NAME = "executor"
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        TASK,
        Parameter(
            "world",
            "household",
            "World to act on; module:Class for your own (docs/your_world.md).",
            choices=WORLDS,
            accepts=is_world,
        ),
        Parameter(
            "scene",
            "FloorPlan1",
            "Scene of the world, such as FloorPlan1, or a procedural house's JSON file; for the "
            "grocery world store, or a .csv or .yaml file of an inventory.",
        ),
        WORLD_SEED,
        Parameter("top_k", 3, "Goals that the planner is shown, most likely first.", 1, 20),
        Parameter("max_replans", 2, "New plans after one that cannot be carried out.", 0, 20),
        Parameter("max_steps", 12, "Longest plan, in steps.", 1, 100),
        Parameter(
            "safety_file", "", "YAML file of the safety rules; empty for config/safety.yaml."
        ),
        Parameter(
            "people_near",
            True,
            "Whether people may be near; false only where nobody can be in reach of the robot.",
        ),
        Parameter(
            "approval_timeout_s",
            60.0,
            "Seconds after which a plan that waits for approve_plan is taken as refused.",
            0.0,
            86400.0,
        ),
        Parameter(
            "help_deadline_s",
            30.0,
            "Seconds after which a question in mid-plan is given up; 0 asks none.",
            0.0,
            3600.0,
        ),
        Parameter(
            "ask_conditions",
            True,
            "Ask the model when a likely goal is fulfilled, where its words do not say so.",
        ),
        Parameter(
            "model_retries", 3, "How often a planner whose model fails is asked again.", 0, 100
        ),
        Parameter(
            "retry_pause_s",
            1.0,
            "Seconds before it is asked again; twice as long each further time.",
            0.0,
            30.0,
        ),
        Parameter(
            "second_plan",
            QUEUE,
            "What becomes of a goal of execute_plan while another plan is under way.",
            choices=(QUEUE, REFUSE),
        ),
        PERSON,
        PEOPLE_FOLDER,
        *SUGGESTIONS,
        *WORLD_PARAMETERS,
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.world = self.keep(make(self, values))
        self.world.reset(values.scene, values.world_seed)
        rules = load_rules(values.safety_file)
        if (values.world, values.arm_path) == ("arm", ROS2_CONTROL) and values.arm_approval:
            rules = approve_all(rules, MOTIONS)
        safety = Safety(rules, values.people_near)
        if values.world == "arm":
            self.listen(Bool, STOP_TOPIC, self.on_stop, COMMAND)
        self.generator = self.keep(make_generator(values.model, values.served_model))
        if hasattr(self.generator, "on_trouble"):
            self.generator.on_trouble = self.on_model_trouble
        self.asker = self.keep(PersonAsker(self, values.help_deadline_s))
        self.approvals: Desk[bool] = Desk()
        self.people = People(ProfileStore(values.people_folder), values.person)
        self.actor = TurnActor(
            self.world,
            TaughtPlanner(
                self.generator,
                self.people,
                task=values.task,
                top_k=values.top_k,
                max_steps=values.max_steps,
                seed=values.seed,
                deadline_s=values.deadline_s,
                results=values.store_results,
            ),
            max_replans=values.max_replans,
            safety=safety,
            approve=self.wait_for_approval,
            ask_person=self.ask_person if values.help_deadline_s > 0 else None,
            ask_conditions=values.ask_conditions,
            patience=Patience(values.model_retries, values.retry_pause_s),
        )
        self.order = ExecutorOrder()
        self.history: tuple[StepResult, ...] = ()
        self.session_id, self.done_turn = "", 0
        self.turn_cancel = threading.Event()  # Cuts off the turn that is acted on.
        self.given: list[GivenPlan] = []  # Plans that are not over, accepted offers among them.
        self.last = Status("", 0, TaskState.IDLE)
        self.ended: Status | None = None
        self.model_problem = self.world_problem = ""
        self.world_lost = False
        self.status = self.publisher(TaskStatus, "task_status", LATCHED)
        TranscriptReader(self.listen, self.on_transcript)
        self.listen(GoalBelief, "goal_belief", self.on_belief, LATCHED_STREAM)
        self.serve(ApprovePlan, "approve_plan", self.on_approve)
        self.plans = self.keep(PlanServer(self, self, values.second_plan))
        self.suggester = self.keep(Suggester(self, self, self.people))
        self.actor.read_command = self.hear

    def on_stop(self, message: Bool) -> None:
        """Halt the arm, whatever is under way, or let it move again; from the graph's thread."""
        world: Any = self.world
        if message.data:
            self.get_logger().warning("the arm is halted; false on stop lets it go on")
            world.halt()
        else:
            world.go_on()

    def facts(self) -> Mapping[str, str]:
        return {
            "model": self.generator.model_name,
            "world": f"{self.values.world}, {self.values.scene}",
            "world state": self.world_problem or "ready",
            "steps done": str(len(self.order.history)),
        }

    def problem(self) -> str:
        """What is wrong now with the world or the language model; empty where nothing is."""
        return self.world_problem or self.model_problem

    def start(self) -> None:
        if self.order.transcript is None:
            self.publish(self.with_scene(Status("", 0, TaskState.IDLE)))
        else:
            # A plan may have been cut off in the middle; history alone says what counts.
            self.set_up_world()

    def stop(self) -> None:
        # A turn that was cut off is due again after the next activation.
        self.plans.abandon()
        self.given = []
        self.order.abandon()

    def on_transcript(self, transcript: Transcript) -> None:
        if self.order.hear_transcript(transcript):
            self.suggester.begin(transcript)
            self.set_up_world()
            return
        self.suggester.hear(transcript)
        if transcript.ended or self.order.is_withdrawn:
            # The person said stop, or never mind: a plan that is under way is undone. What sets
            # up the world is not cut off.
            self.abandon_plans()
            if self.order.is_acting:
                self.turn_cancel.set()
                self.order.abandon()
        self.act()

    def abandon_plans(self) -> None:
        """Have every plan that was given, or offered and accepted, undone and ended."""
        for plan in self.given:
            plan.stop.set()

    def set_up_world(self) -> None:
        """The world as the session left it, or as at the start for a new one.

        It is done by the worker, so that it never overlaps with a plan that is carried out.
        """
        assert self.order.transcript is not None
        session_id = self.order.transcript.session_id
        history, done_turn = self.order.history, self.order.acted_turn
        self.worker.cancel_all()
        self.plans.abandon()
        self.given = []

        def job(cancel: threading.Event) -> str:
            self.world_problem = "the world is being rebuilt"
            if session_id != self.session_id:
                self.session_id = session_id
                self.actor.reset()
            self.history, self.done_turn = history, done_turn
            self.world_lost = True
            self.rebuild(history)
            return self.scene()

        def then(scene: str | None, error: BaseException | None) -> None:
            if scene is None:
                self.world_problem = f"the world could not be rebuilt: {error}"
                self.get_logger().error(self.world_problem)
                self.act()
                return
            if history:
                self.get_logger().info(f"rebuilt the world from {len(history)} steps")
            status = self.order.resumed_status() or Status(session_id, 0, TaskState.IDLE)
            self.publish(replace(status, scene=scene))
            self.act()

        self.worker.submit(job, then)

    def rebuild(self, history: Sequence[StepResult]) -> None:
        """The world as the history says that it is. Raises WorldError."""
        self.world.reset(self.values.scene, self.values.world_seed)
        replay(self.world, history)
        self.world_lost, self.world_problem = False, ""

    def on_belief(self, message: GoalBelief) -> None:
        self.order.hear_belief(belief_from_msg(message))
        self.act()

    def act(self) -> None:
        """Act on the settled belief that is due, if one is."""
        due = self.order.due() if self.active else None
        if due is None:
            return
        belief, transcript = due
        self.order.begin(belief.turn)
        session_id, turn = belief.session_id, belief.turn

        def failure(code: ErrorCode, message: str) -> Status:
            return Status(session_id, turn, TaskState.FAILED, code, message, history=self.history)

        def job(cancel: threading.Event) -> Status:
            try:
                if self.world_lost:
                    self.rebuild(self.history)
                status = carry_out(cancel)
            except WorldError as error:
                status = failure(ErrorCode.WORLD_LOST, str(error))
            # The next turn begins with a room as the history says that it is.
            self.world_lost = status.error_code is ErrorCode.WORLD_LOST
            self.history, self.done_turn = status.history, turn
            return self.with_scene(status)

        def carry_out(cancel: threading.Event) -> Status:
            if transcript.ended or transcript.turns[-1].outcome is not TurnOutcome.PENDING:
                status = Status(session_id, turn, TaskState.NO_ACTION, history=self.history)
                return self.actor.with_conditions(status, belief)
            return self.actor.act(
                belief,
                transcript,
                self.history,
                cancel=cancel,
                on_status=lambda status: self.show(status, cancel),
            )

        def then(status: Status | None, error: BaseException | None) -> None:
            if status is None:
                self.get_logger().error(f"the turn failed: {error}")
                status = failure(ErrorCode.NO_PLAN, str(error))
            self.order.finish(status.history)
            self.publish(status)
            self.suggester.consider()
            self.act()

        self.turn_cancel = self.worker.submit(job, then)

    # Commands in a person's own words, and suggestions.

    def hear(
        self, transcript: Transcript, history: Sequence[StepResult], world: World
    ) -> Heard | None:
        """What the last utterance asks for in so many words; from the worker."""
        self.people.tell(transcript, self.actor.conditions)
        return self.suggester.command(transcript) or self.people.hear(transcript, history, world)

    @property
    def conditions(self) -> Conditions:
        return self.actor.conditions

    @property
    def settled(self) -> tuple[Belief, Transcript] | None:
        """The belief that was acted on last, with its transcript; None in between."""
        belief, transcript = self.order.belief, self.order.transcript
        if (
            belief is None
            or transcript is None
            or transcript.ended
            or self.order.is_acting
            or (belief.session_id, belief.turn) != (transcript.session_id, transcript.turn)
            or belief.turn != self.order.acted_turn
        ):
            return None
        return belief, transcript

    # Approval and help, waited for by the worker.

    def show(self, status: Status, stop: Stop) -> None:
        """Publish a status on the way, from the worker."""
        if status.state is TaskState.WAITING_APPROVAL:
            self.approvals.expect((status.session_id, status.turn))
        shown = self.with_scene(status)
        self.worker.post(lambda: None if stop.is_set() else self.publish(shown))

    def wait_for_approval(self, status: Status, stop: Stop | None) -> bool | None:
        key = (status.session_id, status.turn)
        return self.approvals.wait(key, self.values.approval_timeout_s, stop)

    def on_approve(
        self, request: ApprovePlan.Request, response: ApprovePlan.Response
    ) -> ApprovePlan.Response:
        key = (request.session_id, int(request.turn))
        response.success = self.active and self.approvals.hand_in(key, bool(request.approve))
        if not response.success:
            response.message = (
                f"no plan of turn {request.turn} of session {request.session_id!r} waits for "
                "approval: task_status says which one does"
            )
        return response

    def ask_person(self, text: str, stop: Stop | None) -> str | None:
        return self.asker.ask(self.session_id, text, stop)

    def on_model_trouble(self, reason: str) -> None:
        """The generator asks again, or has an answer ('' then); from the worker's thread."""

        def tell() -> None:
            self.model_problem = reason
            if self.last.state is TaskState.PLANNING:
                code = ErrorCode.MODEL_UNAVAILABLE if reason else ErrorCode.NONE
                self.publish(replace(self.last, error_code=code, error_msg=reason))

        self.worker.post(tell)

    @property
    def is_busy(self) -> bool:
        return self.order.is_acting

    def submit_plan(self, plan: GivenPlan) -> None:
        """Have the worker do a given plan after what it does now."""
        session_id = self.order.transcript.session_id if self.order.transcript else ""

        def job(cancel: threading.Event) -> tuple[PlanOutcome, str]:
            outcome = self.carry_out(plan, session_id, AnyStop(cancel, plan.stop))
            return outcome, self.scene()

        def then(done: tuple[PlanOutcome, str] | None, error: BaseException | None) -> None:
            self.given.remove(plan)
            if done is None:
                self.get_logger().error(f"the given plan failed: {error}")
                done = PlanOutcome((), ErrorCode.WORLD_LOST, str(error)), ""
            outcome, scene = done
            self.order.history = self.history
            standing = self.standing_status(session_id)
            self.publish(replace(standing, history=self.history, scene=scene))
            self.plans.end(plan, outcome)
            self.suggester.consider()

        self.given.append(plan)
        self.worker.submit(job, then)

    def carry_out(self, plan: GivenPlan, session_id: str, stop: Stop) -> PlanOutcome:
        """What becomes of a given plan; in the worker."""
        if stop.is_set():
            return PlanOutcome((), ErrorCode.CANCELLED, "the plan was cancelled")
        past, last_turn = self.history, self.order.last_turn
        if self.order.transcript:
            self.actor.hear(self.order.transcript)
        # Between two turns the steps belong to the next one, whose report tells dialog of
        # them; until it has an utterance, no status of it is dialog's to hear.
        turn = last_turn if last_turn > self.done_turn else last_turn + 1
        status = Status(session_id, last_turn, TaskState.EXECUTING, history=past)

        def on_step(result: StepResult) -> None:
            plan.results.append(result)
            done = (*past, *plan.results)
            self.show(replace(status, plan=plan.steps, history=done), stop)

        try:
            if self.world_lost:
                self.rebuild(past)
            outcome = self.actor.carry_out(
                plan.steps,
                status,
                turn,
                stop=stop,
                on_step=on_step,
                on_status=lambda shown: self.show(shown, stop),
            )
        except WorldError as error:
            outcome = PlanOutcome((), ErrorCode.WORLD_LOST, str(error))
        self.history = (*past, *outcome.results)
        self.world_lost = outcome.error_code is ErrorCode.WORLD_LOST
        return outcome

    def standing_status(self, session_id: str) -> Status:
        """What the last turn came to, again, since dialog may have missed it under the statuses
        of given plans; IDLE where that turn is not reported on yet."""
        ended = self.ended
        if ended and (ended.session_id, ended.turn) == (session_id, self.order.last_turn):
            return ended
        return Status(session_id, self.order.last_turn, TaskState.IDLE)

    def with_scene(self, status: Status) -> Status:
        return replace(status, scene=self.scene())

    def scene(self) -> str:
        """What the world looks like now; empty where it cannot be told."""
        try:
            return self.world.describe()
        except WorldError as error:
            self.get_logger().warning(f"the world cannot be described: {error}")
            return ""

    def publish(self, status: Status) -> None:
        self.last = status
        if status.state.ends_turn:
            self.ended = status
            # The model may be down while the turn as such ends well.
            down = status.error_code >= ErrorCode.MODEL_UNAVAILABLE
            self.model_problem = status.error_msg if down else ""
        shown = replace(status, history=steps_of_last_turns(status.history, status.turn))
        self.status.publish(status_to_msg(shown, self.header()))


def main() -> int:
    return run(ExecutorNode)


if __name__ == "__main__":
    raise SystemExit(main())
