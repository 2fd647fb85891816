"""The dialog node: asks the person, hears the answer, keeps the transcript (GOOD, III-B)."""

from __future__ import annotations

import math
import threading
import uuid
from collections.abc import Mapping
from types import SimpleNamespace

from rclpy.task import Future
from std_msgs.msg import String

from good_ros.core.errors import InputError
from good_ros.language import conversation
from good_ros.language.backends import make_generator
from good_ros.msg import Question, TaskStatus, Transcript, Utterance
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import status_from_msg, transcript_to_msg
from good_ros.nodes.parameters import DEADLINE, MODEL, SEED, SERVED_MODEL, TASK, WORLD, Parameter
from good_ros.nodes.qos import LATCHED, SPEECH_IN
from good_ros.nodes.waiting import until_done
from good_ros.srv import AskPerson, ResetSession
from good_ros.turns.dialog import DialogFlow, Phase


class DialogNode(GoodNode):
    NAME = "dialog"
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        TASK,
        WORLD,
        Parameter("max_turns", 20, "Turns after which the session ends.", 1, 1000),
        Parameter(
            "opening",
            "What would you like me to do?",
            "The question that stands where the person speaks before one was asked.",
        ),
        Parameter(
            "completion_phrase",
            "the task is completed",
            "Words by which the person says that everything is done.",
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.generator = self.keep(make_generator(values.model, values.served_model))
        self.question = self.publisher(Question, "question", LATCHED)
        self.transcript = self.publisher(Transcript, "transcript", LATCHED)
        self.listen(Utterance, "utterance", self.on_utterance, SPEECH_IN)
        self.listen(String, "speech_text", self.on_speech_text, SPEECH_IN)
        self.listen(TaskStatus, "task_status", self.on_status, LATCHED)
        self.serve(ResetSession, "reset_session", self.on_reset)
        self.serve(AskPerson, "ask_person", self.on_ask_person)
        self.flow: DialogFlow | None = None
        self.aside: Future | None = None
        """What a question in the middle of a turn waits for: its answer, None for none."""

    def start(self) -> None:
        if self.flow is None:
            self.begin_session()
        elif self.flow.phase is Phase.QUESTION:
            self.next_question()

    def facts(self) -> Mapping[str, str]:
        return {"model": self.generator.model_name}

    def stop(self) -> None:
        self.end_aside()

    def begin_session(self) -> None:
        self.end_aside()
        self.flow = DialogFlow(uuid.uuid4().hex[:12], self.values.max_turns)
        self.get_logger().info(f"session {self.flow.transcript.session_id} begins")
        self.publish_transcript()
        self.next_question()

    # Asking.

    def next_question(self) -> None:
        flow = self.flow
        assert flow is not None
        if held := flow.take_held():
            # The person spoke first: no question is worth making any more.
            self.ask(self.values.opening)
            self.take(held[0], held[1])
            return

        transcript, history = flow.transcript, flow.history

        def job(cancel: threading.Event) -> str:
            return conversation.ask(
                self.generator,
                self.values.task,
                transcript,
                conversation.status_text(history),
                world=self.values.world,
                seed=self.values.seed + transcript.turn,
                deadline_s=self.values.deadline_s,
                cancel=cancel,
            )

        def then(question: str | None, error: BaseException | None) -> None:
            if flow is not self.flow or flow.phase is not Phase.QUESTION:
                return
            if error is not None or not question:
                self.get_logger().error(f"no question could be made: {error}; asking plainly")
                question = self.values.opening
            self.ask(question)
            if held := flow.take_held():
                self.take(held[0], held[1])

        self.worker.submit(job, then)

    def ask(self, question: str) -> None:
        assert self.flow is not None
        self.flow.ask(question, self.seconds())
        self.publish_question(question, expects_reply=True)

    # Hearing.

    def on_speech_text(self, message: String) -> None:
        self.hear(Utterance(text=message.data, confidence=Utterance.CONFIDENCE_UNKNOWN))

    def on_utterance(self, message: Utterance) -> None:
        if message.is_final:
            self.hear(message)

    def hear(self, message: Utterance) -> None:
        if not self.active or self.flow is None:
            return
        try:
            text = conversation.check_utterance(message.text)
            self.flow.check_new(text, message.utterance_id)
        except InputError as error:
            self.get_logger().warning(str(error))
            return
        if self.flow.phase is Phase.STATUS and conversation.stops(text, self.values.world):
            # Said while the robot acts: it is not kept for the next turn.
            self.end_aside()
            self.flow.end("the person asked to stop")
            self.publish_transcript()
            self.say_goodbye()
        elif self.aside is not None:
            self.flow.hear_aside(message.utterance_id)
            self.end_aside(text)
        elif self.flow.phase is Phase.REPLY:
            self.take(text, message.speaker_id, message.utterance_id)
        else:
            self.flow.hear(text, self.seconds(), message.speaker_id, message.utterance_id)
            self.get_logger().info("heard before a question stood; kept for the next turn")
            if self.flow.phase is Phase.QUESTION:
                self.worker.cancel_all()
                self.next_question()

    def take(self, text: str, speaker_id: str, utterance_id: str = "") -> None:
        assert self.flow is not None
        self.flow.hear(text, self.seconds(), speaker_id, utterance_id)
        if conversation.says_done(text, self.values.completion_phrase):
            self.flow.end("the person said that the task is completed")
        elif conversation.stops(text, self.values.world):
            self.flow.end("the person asked to stop")
        self.publish_transcript()
        if self.flow.phase is Phase.ENDED:
            self.say_goodbye()

    # A question in the middle of a turn.

    async def on_ask_person(
        self, request: AskPerson.Request, response: AskPerson.Response
    ) -> AskPerson.Response:
        flow = self.flow
        if not self.active or flow is None or flow.transcript.session_id != request.session_id:
            response.message = f"session {request.session_id!r} is not the one that runs"
        elif flow.phase is not Phase.STATUS or self.aside is not None:
            response.message = "a question stands already: ask while a turn is acted on, once"
        else:
            self.aside = aside = Future()
            timer = self.create_timer(max(request.deadline_s, 0.0), self.end_aside)
            self.publish_question(request.text, expects_reply=True, turn=flow.transcript.turn)
            await until_done(aside)
            self.destroy_timer(timer)
            response.answer = aside.result() or ""
            response.success = bool(response.answer)
            response.message = "" if response.success else "nobody answered in time"
        return response

    def end_aside(self, answer: str | None = None) -> None:
        aside, self.aside = self.aside, None
        if aside is not None and not aside.done():
            aside.set_result(answer)

    # The executor's report.

    def on_status(self, message: TaskStatus) -> None:
        if not self.active or self.flow is None:
            return
        status = status_from_msg(message)
        if self.flow.is_foreign(status):
            self.get_logger().warning(
                f"task_status ignored: it is of turn {status.turn} of session "
                f"{status.session_id}, not of turn {self.flow.transcript.turn} of "
                f"{self.flow.transcript.session_id}"
            )
        if not self.flow.report(status):
            return
        self.publish_transcript()
        if self.flow.phase is Phase.ENDED:
            self.say_goodbye()
        else:
            self.next_question()

    def on_reset(
        self, request: ResetSession.Request, response: ResetSession.Response
    ) -> ResetSession.Response:
        if not self.active:
            response.message = "dialog is not active: activate it before a reset"
            return response
        self.worker.cancel_all()
        self.begin_session()
        assert self.flow is not None
        response.success = True
        response.session_id = self.flow.transcript.session_id
        return response

    # Publishing.

    def publish_transcript(self) -> None:
        assert self.flow is not None
        self.transcript.publish(transcript_to_msg(self.flow.transcript, self.header()))

    def say_goodbye(self) -> None:
        assert self.flow is not None
        reason = self.flow.transcript.end_reason
        self.get_logger().info(f"session {self.flow.transcript.session_id} ends: {reason}")
        self.publish_question("Thank you. Goodbye.", expects_reply=False)

    def publish_question(self, text: str, expects_reply: bool, turn: int | None = None) -> None:
        assert self.flow is not None
        transcript = self.flow.transcript
        self.question.publish(
            Question(
                header=self.header(),
                session_id=transcript.session_id,
                turn=turn or (self.flow.next_turn if expects_reply else transcript.turn),
                text=text,
                expects_reply=expects_reply,
                expected_information_gain=math.nan,
            )
        )


def main() -> int:
    return run(DialogNode)


if __name__ == "__main__":
    raise SystemExit(main())
