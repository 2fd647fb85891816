"""The executor node: acts once on each settled belief, and reports (GOOD, III-E)."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, StepResult, TaskState
from good_ros.core.plan import TaskStatus as Status
from good_ros.language.backends import make_generator
from good_ros.msg import GoalBelief, TaskStatus, Transcript
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import belief_from_msg, status_to_msg, transcript_from_msg
from good_ros.nodes.parameters import (
    DEADLINE,
    MODEL,
    SEED,
    SERVED_MODEL,
    TASK,
    WORLD_SEED,
    Parameter,
)
from good_ros.nodes.qos import LATCHED
from good_ros.planning.execution import replay
from good_ros.planning.planner import Planner
from good_ros.planning.turn import TurnActor
from good_ros.turns.executor import ExecutorOrder
from good_ros.worlds.ai2thor.options import PLAYERS, SERVERS, Ai2thorOptions
from good_ros.worlds.registry import WORLDS, make_world

STANDARD = Ai2thorOptions()
AI2THOR = (
    Parameter(
        "ai2thor_build",
        STANDARD.build,
        "World ai2thor: the Unity player's executable; empty takes the newest one that ai2thor "
        "has downloaded.",
    ),
    Parameter(
        "ai2thor_player",
        STANDARD.player,
        "World ai2thor: what is started; stand-in is a program of ours without physics and "
        "pictures, to try things out.",
        choices=PLAYERS,
    ),
    Parameter(
        "ai2thor_headless",
        STANDARD.headless,
        "World ai2thor: draw nothing; false needs an X display with GLX, or Vulkan.",
    ),
    Parameter(
        "ai2thor_display",
        STANDARD.display,
        "World ai2thor: X display of the player, such as :0; empty takes that of the environment.",
    ),
    Parameter(
        "ai2thor_server",
        STANDARD.server,
        "World ai2thor: protocol between the client and the player.",
        choices=SERVERS,
    ),
    Parameter(
        "ai2thor_start_timeout_s",
        STANDARD.start_timeout_s,
        "World ai2thor: seconds that the player may take to start or to load a scene.",
        1.0,
        3600.0,
    ),
    Parameter(
        "ai2thor_step_timeout_s",
        STANDARD.step_timeout_s,
        "World ai2thor: seconds that the player may take for one action; then it is started "
        "again and the room rebuilt.",
        0.1,
        3600.0,
    ),
)


class ExecutorNode(GoodNode):
    NAME = "executor"
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        TASK,
        Parameter("world", "household", "World to act on.", choices=WORLDS),
        Parameter(
            "scene",
            "FloorPlan1",
            "Scene of the world, such as FloorPlan1, or a procedural house's JSON file.",
        ),
        WORLD_SEED,
        Parameter("top_k", 3, "Goals that the planner is shown, most likely first.", 1, 20),
        Parameter("max_replans", 2, "New plans after one that cannot be carried out.", 0, 20),
        Parameter("max_steps", 12, "Longest plan, in steps.", 1, 100),
        *AI2THOR,
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.world = self.keep(make_world(values.world, ai2thor_options(values)))
        self.world.reset(values.scene, values.world_seed)
        self.generator = self.keep(make_generator(values.model, values.served_model))
        self.actor = TurnActor(
            self.world,
            Planner(
                self.generator,
                task=values.task,
                top_k=values.top_k,
                max_steps=values.max_steps,
                seed=values.seed,
                deadline_s=values.deadline_s,
            ),
            max_replans=values.max_replans,
        )
        self.order = ExecutorOrder()
        self.world_problem = ""
        self.world_lost = False
        self.model_problem = ""
        self.status = self.publisher(TaskStatus, "task_status", LATCHED)
        self.listen(Transcript, "transcript", self.on_transcript, LATCHED)
        self.listen(GoalBelief, "goal_belief", self.on_belief, LATCHED)

    def start(self) -> None:
        if self.order.transcript is None:
            self.publish(Status("", 0, TaskState.IDLE, scene=self.world.describe()))
        else:
            # A plan may have been cut off in the middle; history alone says what counts.
            self.set_up_world()

    def stop(self) -> None:
        # A turn that was cut off is due again after the next activation.
        self.order.abandon()

    def facts(self) -> Mapping[str, str]:
        return {
            "model": self.generator.model_name,
            "world": f"{self.values.world}, {self.values.scene}",
            "world state": self.world_problem or "ready",
            "steps done": str(len(self.order.history)),
        }

    def problem(self) -> str:
        return self.world_problem or self.model_problem

    def on_transcript(self, message: Transcript) -> None:
        if self.order.hear_transcript(transcript_from_msg(message)):
            self.set_up_world()
        else:
            self.act()

    def set_up_world(self) -> None:
        """The world as the session left it, or as at the start for a new one.

        It is done by the worker, so that it never overlaps with a plan that is carried out.
        """
        assert self.order.transcript is not None
        session_id = self.order.transcript.session_id
        history = self.order.history
        self.worker.cancel_all()

        def job(cancel: threading.Event) -> str:
            self.world_problem = "the world is being rebuilt"
            self.rebuild(history)
            self.world_problem = ""
            return self.world.describe()

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
        self.world_lost = False

    def on_belief(self, message: GoalBelief) -> None:
        self.order.hear_belief(belief_from_msg(message))
        self.act()

    def act(self) -> None:
        due = self.order.due() if self.active else None
        if due is None:
            return
        belief, transcript = due
        self.order.begin(belief.turn)
        history = self.order.history

        def failure(code: ErrorCode, message: str) -> Status:
            return Status(
                belief.session_id, belief.turn, TaskState.FAILED, code, message, history=history
            )

        def job(cancel: threading.Event) -> Status:
            if self.world_problem:
                return failure(ErrorCode.WORLD_LOST, self.world_problem)
            try:
                if self.world_lost:
                    self.rebuild(history)
                status = carry_out(cancel)
            except WorldError as error:
                status = failure(ErrorCode.WORLD_LOST, str(error))
            # The next turn begins with a room as the history says that it is.
            self.world_lost = status.error_code is ErrorCode.WORLD_LOST
            return self.with_scene(status)

        def carry_out(cancel: threading.Event) -> Status:

            def on_status(status: Status) -> None:
                shown = self.with_scene(status)
                self.worker.post(lambda: None if cancel.is_set() else self.publish(shown))

            if transcript.ended:
                return Status(belief.session_id, belief.turn, TaskState.NO_ACTION, history=history)
            return self.actor.act(belief, transcript, history, cancel=cancel, on_status=on_status)

        def then(status: Status | None, error: BaseException | None) -> None:
            if status is None:
                self.get_logger().error(f"the turn failed: {error}")
                status = failure(ErrorCode.NO_PLAN, str(error))
            self.order.finish(status.history)
            self.publish(status)
            self.act()

        self.worker.submit(job, then)

    def with_scene(self, status: Status) -> Status:
        return replace(status, scene=self.world.describe())

    def publish(self, status: Status) -> None:
        if status.state.ends_turn:
            # The planner's model may be down while the job as such ends well.
            down = status.error_code >= ErrorCode.MODEL_UNAVAILABLE
            self.model_problem = status.error_msg if down else ""
        self.status.publish(status_to_msg(status, self.header()))


def ai2thor_options(values: SimpleNamespace) -> Ai2thorOptions:
    """The parameters of the ai2thor world. Raises InputError where they cannot be."""
    return Ai2thorOptions(
        build=values.ai2thor_build,
        player=values.ai2thor_player,
        display=values.ai2thor_display,
        headless=values.ai2thor_headless,
        server=values.ai2thor_server,
        start_timeout_s=values.ai2thor_start_timeout_s,
        step_timeout_s=values.ai2thor_step_timeout_s,
    )


def main() -> int:
    return run(ExecutorNode)


if __name__ == "__main__":
    raise SystemExit(main())
