"""The goal manager node: answers each pass-1 belief with the goals to go on with (GOOD, III-D)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace

from good_ros.core.errors import InputError
from good_ros.core.goals import Goal, GoalOrigin, GoalSet, unspecified_goal
from good_ros.inference.goal_management import GoalManager
from good_ros.language.backends import make_generator
from good_ros.msg import GoalBelief, TaskStatus, Transcript
from good_ros.msg import GoalSet as GoalSetMsg
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import (
    belief_from_msg,
    goal_set_to_msg,
    transcript_from_msg,
)
from good_ros.nodes.parameters import (
    DEADLINE,
    MODEL,
    PEOPLE_FOLDER,
    PERSON,
    SEED,
    SERVED_MODEL,
    TASK,
    WORLD,
    Parameter,
)
from good_ros.nodes.qos import LATCHED
from good_ros.srv import EditGoals
from good_ros.teaching.profile import TAUGHT_WEIGHT, ProfileStore
from good_ros.turns.goals import GoalOrder


class GoalManagerNode(GoodNode):
    NAME = "goal_manager"
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        TASK,
        WORLD,
        Parameter("initial_goals", [""], "Goals that stand before the first turn."),
        Parameter("unspecified_prior", 1.0, "Weight of 'Unspecified' among the goals.", 1e-6, 1e6),
        Parameter(
            "least_likely_rounds",
            3,
            "A goal that was least likely for more rounds than this is removed.",
            1,
            1000,
        ),
        PERSON,
        PEOPLE_FOLDER,
        Parameter(
            "taught_weight",
            TAUGHT_WEIGHT,
            "Weight of the goal that `person` taught, where each other goal has 1: a strong prior, "
            "not a certainty.",
            1e-6,
            1e6,
        ),
        Parameter("max_goals", 8, "Most goals in the set, 'Unspecified' not counted.", 1, 200),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.generator = self.keep(make_generator(values.model, values.served_model))
        self.manager = GoalManager(
            n_least_likely=values.least_likely_rounds,
            max_goals=values.max_goals,
            world=values.world,
        )
        self.scene_text = ""
        self.order = GoalOrder()
        self.busy = False
        self.goals = self.publisher(GoalSetMsg, "goals", LATCHED)
        self.listen(Transcript, "transcript", self.on_transcript, LATCHED)
        self.listen(GoalBelief, "goal_belief", self.on_belief, LATCHED)
        self.listen(TaskStatus, "task_status", self.on_status, LATCHED)
        self.serve(EditGoals, "edit_goals", self.on_edit)

    def start(self) -> None:
        self.busy = False
        if self.order.goals is not None:
            self.publish()
        self.answer()

    def facts(self) -> Mapping[str, str]:
        return {
            "model": self.generator.model_name,
            "goals": str(len(self.order.goals.goals)) if self.order.goals else "0",
        }

    def on_transcript(self, message: Transcript) -> None:
        transcript = transcript_from_msg(message)
        if self.order.hear_transcript(transcript):
            self.manager.reset()
            self.order.begin(self.first_goals(transcript.session_id))
            self.publish()
        self.answer()

    def on_belief(self, message: GoalBelief) -> None:
        if self.order.hear_belief(belief_from_msg(message)):
            self.get_logger().info("the goals were recovered from the belief")
            self.publish()
        self.answer()

    def on_status(self, message: TaskStatus) -> None:
        self.scene_text = message.scene

    def first_goals(self, session_id: str) -> GoalSet:
        texts = [text for text in self.values.initial_goals if text.strip()]
        goals = [unspecified_goal(self.values.unspecified_prior)]
        goals += [Goal(f"g{i}", text, GoalOrigin.CONFIG) for i, text in enumerate(texts, start=1)]
        goals += self.taught_goal()
        return GoalSet(session_id, 0, 1, tuple(goals), added=tuple(goals))

    def taught_goal(self) -> list[Goal]:
        """What ``person`` taught the robot that they want, where they did."""
        if not self.values.person:
            return []
        try:
            goal = ProfileStore(self.values.people_folder).load(self.values.person).goal
        except InputError as error:
            self.get_logger().error(f"the taught goal is left out: {error}")
            return []
        return [goal.hypothesis(self.values.taught_weight)] if goal else []

    def answer(self) -> None:
        due = self.order.due()
        if due is None or self.busy or not self.active:
            return
        belief, transcript = due
        if transcript.ended:
            self.order.answer(self.order.unchanged(belief))
            self.publish()
            return
        self.busy = True
        scene = self.scene_text

        def job(cancel: threading.Event) -> GoalSet:
            return self.manager.edit(
                belief,
                transcript,
                self.generator,
                self.values.task,
                scene=scene,
                seed=self.values.seed + belief.turn,
                deadline_s=self.values.deadline_s,
                cancel=cancel,
            )

        def then(edited: GoalSet | None, error: BaseException | None) -> None:
            self.busy = False
            if edited is None:
                self.get_logger().error(f"the goals are unchanged: {error}")
                edited = self.order.unchanged(belief)
            if self.order.answer(edited):
                self.publish()
            self.answer()

        self.worker.submit(job, then)

    def on_edit(
        self, request: EditGoals.Request, response: EditGoals.Response
    ) -> EditGoals.Response:
        goals = self.order.goals
        if goals is None or not self.active:
            response.message = "no session is running: start dialog, then edit its goals"
            return response
        try:
            edited = self.manager.edit_by_person(
                goals,
                add=list(request.add),
                remove=list(request.remove),
                pin=list(request.pin),
                unpin=list(request.unpin),
            )
        except InputError as error:
            response.message = str(error)
            return response
        self.order.answer(edited)
        self.publish()
        response.success = True
        response.goals = goal_set_to_msg(edited, self.header())
        return response

    def publish(self) -> None:
        assert self.order.goals is not None
        self.goals.publish(goal_set_to_msg(self.order.goals, self.header()))


def main() -> int:
    return run(GoalManagerNode)


if __name__ == "__main__":
    raise SystemExit(main())
