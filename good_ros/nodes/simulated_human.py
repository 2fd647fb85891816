"""The simulated human node: answers the robot's questions from a profile (GOOD, III-B, IV-B1).

For experiments and demonstrations; a person or a speech front end takes its place.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace

from good_ros.core.plan import StepResult, TaskState
from good_ros.core.plan import TaskStatus as Status
from good_ros.experiments.human import POLICIES, SimulatedHuman
from good_ros.experiments.profiles import load_profile
from good_ros.experiments.temperament import (
    DEFAULT_TEMPERAMENT,
    load_temperament,
    temperament_names,
)
from good_ros.language.backends import make_generator
from good_ros.msg import Question, Suggestion, TaskStatus, Utterance
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import status_from_msg, step_from_msg
from good_ros.nodes.parameters import (
    DEADLINE,
    MODEL,
    SEED,
    SERVED_MODEL,
    TASK,
    WORLD_SEED,
    Parameter,
)
from good_ros.nodes.qos import LATCHED_STREAM, SPEECH_OUT
from good_ros.srv import AnswerSuggestion, ApprovePlan
from good_ros.turns.conversation import APPROVAL_START
from good_ros.turns.window import WholeHistory
from good_ros.worlds.registry import make_world


class SimulatedHumanNode(GoodNode):
    """Answers the robot as a person with a profile would."""

    NAME = "simulated_human"
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        TASK,
        Parameter(
            "profile",
            "put_away_food",
            "Who is played: a name in config/profiles, or a path to a profile's YAML file.",
        ),
        WORLD_SEED,
        Parameter(
            "temperature", 0.7, "How varied the answers are; 0 is always the same.", 0.0, 2.0
        ),
        Parameter(
            "temperament",
            DEFAULT_TEMPERAMENT,
            "How the person talks, of config/temperaments.yaml.",
            choices=tuple(temperament_names()),
        ),
        Parameter(
            "approves",
            POLICIES[0],
            "Which plans that wait for approval get a yes: those after which more of the "
            "profile's conditions are true, every one, or none.",
            choices=POLICIES,
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.profile = load_profile(values.profile)
        room = make_world(self.profile.world)
        room.reset(self.profile.scene, values.world_seed)
        self.generator = self.keep(make_generator(values.model, values.served_model))
        self.human = SimulatedHuman(
            self.profile,
            self.generator,
            room,
            task=values.task,
            world_seed=values.world_seed,
            temperature=values.temperature,
            seed=values.seed,
            approves=values.approves,
            temperament=load_temperament(values.temperament),
            deadline_s=values.deadline_s,
        )
        self.done = WholeHistory()
        self.answered: tuple[str, int, str] = ("", 0, "")
        self.judged: Status | None = None
        self.approve = self.create_client(ApprovePlan, "approve_plan")
        self.at_cleanup(lambda: self.destroy_client(self.approve))
        self.answer = self.create_client(AnswerSuggestion, "answer_suggestion")
        self.at_cleanup(lambda: self.destroy_client(self.answer))
        self.listen(Suggestion, "suggestion", self.on_suggestion, LATCHED_STREAM)
        self.utterance = self.publisher(Utterance, "utterance", SPEECH_OUT)
        self.listen(TaskStatus, "task_status", self.on_status, LATCHED_STREAM)
        self.listen(Question, "question", self.on_question, LATCHED_STREAM)

    def facts(self) -> Mapping[str, str]:
        return {"model": self.generator.model_name}

    def on_status(self, message: TaskStatus) -> None:
        status = status_from_msg(message)
        self.done.hear(status)
        waits = status.state is TaskState.WAITING_APPROVAL
        if self.active and waits and status != self.judged:
            self.judged = status
            self.judge(status)

    def judge(self, status: Status) -> None:
        """Say yes or no to a plan that waits for it."""

        history = self.done.steps

        def job(cancel: threading.Event) -> bool:
            return self.human.would_approve(status.plan, history)

        def then(approved: bool | None, error: BaseException | None) -> None:
            if approved is None:
                self.get_logger().error(f"the plan could not be judged: {error}")
            self.approve.call_async(
                ApprovePlan.Request(
                    session_id=status.session_id, turn=status.turn, approve=bool(approved)
                )
            )

        self.worker.submit(job, then)

    def on_suggestion(self, message: Suggestion) -> None:
        """Say yes or no to what is offered, as to a plan that waits for approval."""
        if not self.active or message.state != Suggestion.OFFERED:
            return
        steps, history = [step_from_msg(step) for step in message.steps], self.done.steps

        def job(cancel: threading.Event) -> bool:
            return self.human.would_approve(steps, history)

        def then(approved: bool | None, error: BaseException | None) -> None:
            self.answer.call_async(
                AnswerSuggestion.Request(
                    session_id=message.session_id,
                    suggestion_id=message.suggestion_id,
                    accept=bool(approved),
                )
            )

        self.worker.submit(job, then)

    def on_question(self, message: Question) -> None:
        """Answer a question that is meant for the person, once."""
        # A question in the middle of a turn has the turn's number and another text.
        key = (message.session_id, message.turn, message.text)
        if not self.active or key == self.answered:
            return
        # A plan that waits is judged by itself. A statement that is of a turn to come leaves the
        # word to the person; one of the last turn is the goodbye.
        is_word_to_us = message.expects_reply or key[:2] != self.answered[:2]
        if message.text.startswith(APPROVAL_START) or not is_word_to_us:
            return
        if message.session_id != self.answered[0] and message.turn == 1:
            self.done.resume(message.session_id, ())
        in_mid_turn = key[:2] == self.answered[:2]
        self.answered = key
        history = self.done.steps

        def job(cancel: threading.Event) -> str:
            return self.human.answer(message.text, message.turn, history, cancel)

        def then(text: str | None, error: BaseException | None) -> None:
            if text is None:
                self.get_logger().error(f"no answer could be made: {error}")
                return
            self.utterance.publish(
                Utterance(
                    header=self.header(),
                    utterance_id=f"{message.session_id}-{message.turn}"
                    + ("-aside" if in_mid_turn else ""),
                    speaker_id=self.profile.name,
                    text=text,
                    confidence=Utterance.CONFIDENCE_UNKNOWN,
                    locale="en",
                    is_final=True,
                )
            )

        self.worker.submit(job, then)

    def is_content(self, history: tuple[StepResult, ...]) -> bool:
        """Whether the room, as the person would see it, is as the profile wants it."""
        content = self.human.is_content(history)
        if self.human.problem:
            self.get_logger().warning(self.human.problem)
        return content


def main() -> int:
    return run(SimulatedHumanNode)


if __name__ == "__main__":
    raise SystemExit(main())
