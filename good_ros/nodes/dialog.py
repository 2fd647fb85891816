"""The dialog node: asks the person, hears the answer, keeps the transcript (GOOD, III-B).

What is said and done next is decided in ``turns.conversation``; this node publishes it, has
questions made in its worker, and calls ``approve_plan``.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace

from rclpy.clock import Clock, ClockType
from rclpy.task import Future
from rclpy.timer import Timer
from std_msgs.msg import String

from good_ros.core.belief import Belief
from good_ros.core.errors import InputError
from good_ros.inference.question_choice import ChosenQuestion, Situation, plainly_asked
from good_ros.language import conversation
from good_ros.language.backends import make_generator
from good_ros.msg import GoalBelief, Question, TaskStatus, Utterance
from good_ros.nodes import journal
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import (
    belief_from_msg,
    status_from_msg,
    time_from_msg,
)
from good_ros.nodes.journal import Journal
from good_ros.nodes.kept import private_file
from good_ros.nodes.parameters import (
    DEADLINE,
    MODEL,
    SEED,
    SERVED_MODEL,
    SESSIONS_FOLDER,
    TASK,
    WORLD,
    Parameter,
    sessions_folder,
)
from good_ros.nodes.qos import LATCHED, LATCHED_STREAM, SPEECH_IN
from good_ros.nodes.question_choice import PARAMETERS as CHOICE
from good_ros.nodes.question_choice import make_chooser
from good_ros.nodes.transcripts import TranscriptPublisher
from good_ros.nodes.waiting import until_done
from good_ros.srv import ApprovePlan, AskPerson, ResetSession
from good_ros.turns.conversation import (
    Approve,
    Conversation,
    DropQuestion,
    Effect,
    Heard,
    MakeQuestion,
    Say,
    Tell,
)
from good_ros.turns.dialog import DialogFlow, Phase

RESUME_WAIT_S = 8.0
"""For so long a dialog that was killed waits to hear of its session from the other nodes: to find
them took up to two seconds on busy cores."""


class DialogNode(GoodNode):
    """Asks, hears, and owns the transcript; one session at a time."""

    NAME = "dialog"
    talk: Conversation | None = None
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        TASK,
        WORLD,
        SESSIONS_FOLDER,
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
        Parameter(
            "min_confidence",
            0.3,
            "Confidence of an utterance under which the person is asked to say it again; 0 takes "
            "every one.",
            0.0,
            1.0,
        ),
        *CHOICE,
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.talk = None
        self.generator = self.keep(make_generator(values.model, values.served_model))
        self.chooser = make_chooser(self, self.generator, values)
        self.question = self.publisher(Question, "question", LATCHED)
        self.transcript = TranscriptPublisher(self)
        self.listen(Utterance, "utterance", self.on_utterance, SPEECH_IN)
        self.listen(String, "speech_text", self.on_speech_text, SPEECH_IN)
        self.listen(TaskStatus, "task_status", self.on_status, LATCHED_STREAM)
        self.listen(GoalBelief, "goal_belief", self.on_belief, LATCHED_STREAM)
        self.serve(ResetSession, "reset_session", self.on_reset)
        self.serve(AskPerson, "ask_person", self.on_ask_person)
        self.approve = self.create_client(ApprovePlan, "approve_plan")
        self.at_cleanup(lambda: self.destroy_client(self.approve))
        self.belief: Belief | None = None
        """The last settled one."""
        self.aside: Future | None = None
        """What a question in the middle of a turn waits for: its answer, None for none."""
        folder = sessions_folder(values.sessions_folder)
        self.journal = Journal(private_file(self, folder, ".jsonl"))
        self.journal_works = True
        self.cut_off: DialogFlow | None = None
        self.resume_timer: Timer | None = None
        self.sessions_heard: set[str] = set()
        """Which sessions other nodes spoke of before there was one here."""
        self.missed: TaskStatus | None = None
        """The executor's last word while the node was not active."""

    @property
    def flow(self) -> DialogFlow | None:
        return self.talk.flow if self.talk else None

    def start(self) -> None:
        if self.talk is None:
            self.cut_off = journal.load(self.journal.path, self.values.max_turns)
            if self.cut_off is None:
                self.begin_session()
            else:
                self.resume_timer = self.create_timer(
                    RESUME_WAIT_S,
                    self.give_up_session,
                    clock=Clock(clock_type=ClockType.STEADY_TIME),
                )
                for session_id in self.sessions_heard:
                    self.resume(session_id)
            self.sessions_heard = set()
        elif self.talk.flow.phase is Phase.QUESTION:
            self.do(self.talk.go_on(self.seconds()))
        missed, self.missed = self.missed, None
        if missed is not None:
            self.on_status(missed)

    def facts(self) -> Mapping[str, str]:
        return {"model": self.generator.model_name, "questions": self.values.question_choice}

    def stop(self) -> None:
        self.end_aside()
        self.end_resume()

    def teardown(self) -> None:
        if self.talk is not None:
            self.journal.remove()

    # A session that was cut off.

    def end_resume(self) -> None:
        self.cut_off = None
        if self.resume_timer is not None:
            self.destroy_timer(self.resume_timer)
            self.resume_timer = None

    def give_up_session(self) -> None:
        """No other node knows of the session that was cut off: another stack's, long ago."""
        self.end_resume()
        self.begin_session()

    def resume(self, session_id: str) -> None:
        """Go on with the session that was cut off, where another node is still in it."""
        if self.talk is None and not self.active:
            self.sessions_heard.add(session_id)
        flow = self.cut_off
        if flow is None or not self.active or session_id != flow.transcript.session_id:
            return
        self.end_resume()
        self.talk = self.conversation(flow)
        self.get_logger().warning(
            f"session {session_id} goes on after turn {flow.transcript.turn}: dialog was cut off"
        )
        self.begin_journal(flow)
        self.do(self.talk.resume())

    def begin_session(self) -> None:
        self.end_aside()
        self.end_resume()
        flow = DialogFlow(uuid.uuid4().hex[:12], self.values.max_turns)
        self.talk = self.conversation(flow)
        self.begin_journal(flow)
        self.get_logger().info(f"session {flow.transcript.session_id} begins")
        self.do(self.talk.begin())

    def conversation(self, flow: DialogFlow) -> Conversation:
        return Conversation(
            flow,
            opening=self.values.opening,
            completion_phrase=self.values.completion_phrase,
            min_confidence=self.values.min_confidence,
            stop_words_of=self.values.world,
        )

    def begin_journal(self, flow: DialogFlow) -> None:
        self.journal_works = True
        self.write_journal(lambda: self.journal.begin(flow))

    def keep_journal(self) -> None:
        if flow := self.flow:
            self.write_journal(lambda: self.journal.keep(flow))

    def write_journal(self, write: Callable[[], None]) -> None:
        """A session without a journal is better than none."""
        if not self.journal_works:
            return
        try:
            write()
        except OSError as error:
            self.journal_works = False
            self.get_logger().error(
                f"this session will not go on after a crash ({error}): set sessions_folder"
            )

    def do(self, effects: Iterable[Effect]) -> None:
        """Carry out what the conversation decides, in its order; what others will know of is in
        the journal before they do."""
        for effect in effects:
            self.keep_journal()
            if isinstance(effect, Say):
                self.publish_question(effect)
            elif isinstance(effect, Tell):
                self.publish_transcript()
            elif isinstance(effect, MakeQuestion):
                self.make_question()
            elif isinstance(effect, DropQuestion):
                self.worker.cancel_all()
            elif isinstance(effect, Approve):
                self.send_approval(effect)
            elif effect.warns:
                self.get_logger().warning(effect.text)
            else:
                self.get_logger().info(effect.text)
        self.keep_journal()

    # Asking.

    def make_question(self) -> None:
        """Have the next question made in the worker, and say it."""
        talk = self.talk
        assert talk is not None
        flow = talk.flow
        transcript = flow.transcript
        status = conversation.status_text(flow.history)
        seed = self.values.seed + transcript.turn
        situation = Situation(
            self.belief_of(flow),
            transcript,
            self.values.task,
            status,
            tuple(flow.all_asked),
            seed,
        )

        def job(cancel: threading.Event) -> ChosenQuestion:
            def plain() -> str:
                return conversation.ask(
                    self.generator,
                    self.values.task,
                    transcript,
                    status,
                    world=self.values.world,
                    also_asked=situation.also_asked,
                    seed=seed,
                    deadline_s=self.values.deadline_s,
                    cancel=cancel,
                )

            if self.chooser is None:
                return plainly_asked(plain())
            return self.chooser.choose(situation, plain, cancel)

        def then(chosen: ChosenQuestion | None, error: BaseException | None) -> None:
            if talk is not self.talk:
                return
            if error is not None or chosen is None:
                self.get_logger().error(f"no question could be made: {error}; asking plainly")
                chosen = ChosenQuestion(self.values.opening)
            if chosen.considered:
                self.get_logger().info(
                    f"{len(chosen.considered)} questions weighed: {chosen.tokens_scored} tokens "
                    f"read, {chosen.tokens_written} written"
                )
            self.do(talk.asked(chosen.text, self.seconds(), chosen.expects_reply, chosen.gain))

        self.worker.submit(job, then)

    def belief_of(self, flow: DialogFlow) -> Belief | None:
        """The settled belief on the transcript as it stands; None where it is of another turn."""
        belief, transcript = self.belief, flow.transcript
        if belief is None or belief.session_id != transcript.session_id:
            return None
        return belief if belief.turn == transcript.turn else None

    def on_belief(self, message: GoalBelief) -> None:
        self.resume(message.session_id)
        if message.settled:
            self.belief = belief_from_msg(message)

    # Hearing.

    def on_speech_text(self, message: String) -> None:
        self.hear(Utterance(text=message.data, confidence=Utterance.CONFIDENCE_UNKNOWN))

    def on_utterance(self, message: Utterance) -> None:
        if message.is_final:
            self.hear(message)

    def hear(self, message: Utterance) -> None:
        """An utterance, whichever topic it came on."""
        if not self.active or self.talk is None:
            return
        talk = self.talk
        try:
            heard = Heard(
                conversation.check_utterance(message.text),
                message.utterance_id,
                message.speaker_id,
                message.confidence,
                time_from_msg(message.header.stamp),
            )
            if self.aside is not None and talk.is_answer_aside(heard):
                talk.flow.check_new(heard.text, heard.utterance_id)
                talk.flow.hear_aside(heard.utterance_id)
                self.keep_journal()
                self.end_aside(heard.text)
                return
            self.do(talk.hear(heard, self.seconds()))
        except InputError as error:
            self.get_logger().warning(str(error))
            return
        if talk.flow.phase is Phase.ENDED:
            self.end_aside()

    # A question in the middle of a turn.

    async def on_ask_person(
        self, request: AskPerson.Request, response: AskPerson.Response
    ) -> AskPerson.Response:
        """Answers ``ask_person``: a question of the executor in the middle of a turn."""
        flow = self.flow
        if not self.active or flow is None or flow.transcript.session_id != request.session_id:
            response.message = f"session {request.session_id!r} is not the one that runs"
        elif flow.phase is not Phase.STATUS or self.aside is not None:
            response.message = "a question stands already: ask while a turn is acted on, once"
        else:
            self.aside = aside = Future()
            timer = self.create_timer(max(request.deadline_s, 0.0), self.end_aside)
            self.publish_question(Say(request.text, True, flow.transcript.turn))
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
        self.resume(message.session_id)
        if not self.active:
            self.missed = message
            return
        if self.talk is None:
            return
        status = status_from_msg(message)
        flow = self.talk.flow
        if flow.is_foreign(status):
            self.get_logger().warning(
                f"task_status ignored: it is of turn {status.turn} of session "
                f"{status.session_id}, not of turn {flow.transcript.turn} of "
                f"{flow.transcript.session_id}"
            )
        self.do(self.talk.report(status, self.seconds()))

    def send_approval(self, approval: Approve) -> None:
        """The person's yes or no by voice, handed to the executor."""

        def done(future: Future) -> None:
            reply = future.result()
            if reply is None or not reply.success:
                reason = reply.message if reply else "the executor is gone"
                self.get_logger().warning(f"the person's word came too late: {reason}")

        request = ApprovePlan.Request(
            session_id=approval.session_id, turn=approval.turn, approve=approval.approve
        )
        self.approve.call_async(request).add_done_callback(done)

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
        self.transcript.publish(self.flow.transcript)

    def publish_question(self, say: Say) -> None:
        assert self.flow is not None
        self.question.publish(
            Question(
                header=self.header(),
                session_id=self.flow.transcript.session_id,
                turn=say.turn,
                text=say.text,
                expects_reply=say.expects_reply,
                expected_information_gain=say.gain,
            )
        )


def main() -> int:
    return run(DialogNode)


if __name__ == "__main__":
    raise SystemExit(main())
