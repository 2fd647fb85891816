"""Spoken and typed sentences over a real graph: speech_in, dialog and goal_belief.

The goals are given, and each sentence is the first of a session of its own, so that typed and
spoken ones meet the same question, the same goals and nothing said before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rclpy.node import Node

from good_ros.core.errors import GoodError
from good_ros.core.goals import Goal, GoalSet
from good_ros.experiments.spoken import Answer, Sentence
from good_ros.msg import GoalBelief, Question, Transcript, Utterance
from good_ros.msg import GoalSet as GoalSetMsg
from good_ros.nodes.convert import goal_set_to_msg
from good_ros.nodes.qos import LATCHED, LATCHED_STREAM, SPEECH_OUT
from good_ros.nodes.speaker import Speaker
from good_ros.nodes.stack import Stack, StackOptions
from good_ros.speech.voice import EspeakVoice
from good_ros.srv import ResetSession

NODES = ("speech_in", "dialog", "goal_belief")


class Examiner(Node):
    """Puts sentences to the stack; it stands in for goal_manager, whose goals are given here."""

    def __init__(self, **node_arguments: Any) -> None:
        super().__init__("examiner", **node_arguments)
        self.asked: set[str] = set()
        """Sessions whose first question stands."""
        self.words: dict[str, str] = {}
        """By session, what was said in turn 1."""
        self.likeliest: dict[str, str] = {}
        """By session, the most likely goal after turn 1."""
        self.session_id = ""
        self.goals = self.create_publisher(GoalSetMsg, "goals", LATCHED)
        self.utterance = self.create_publisher(Utterance, "utterance", SPEECH_OUT)
        self.speaker = Speaker(self, self.utterance, "examiner")
        self.reset = self.create_client(ResetSession, "reset_session")
        self.create_subscription(Question, "question", self.on_question, LATCHED_STREAM)
        self.create_subscription(Transcript, "transcript", self.on_transcript, LATCHED_STREAM)
        self.create_subscription(GoalBelief, "goal_belief", self.on_belief, LATCHED_STREAM)

    def on_question(self, message: Question) -> None:
        if message.expects_reply and message.turn == 1:
            self.asked.add(message.session_id)

    def on_transcript(self, message: Transcript) -> None:
        self.session_id = message.session_id
        if message.turns:
            self.words[message.session_id] = message.turns[0].utterance

    def on_belief(self, message: GoalBelief) -> None:
        if message.turn == 1 and message.hypotheses:
            self.likeliest[message.session_id] = message.hypotheses[0].goal.id


class SpokenTest:
    """The stack with its examiner; raises GoodError where a node cannot be configured.

    ``folder`` is where the sentences are put as sound; one that has no belief after
    ``deadline_s`` seconds is passed over.
    """

    def __init__(
        self,
        model: str,
        speech_model: str,
        goals: Sequence[Goal],
        folder: Path,
        deadline_s: float = 120.0,
    ) -> None:
        self._goals = tuple(goals)
        self._deadline_s = deadline_s
        self._heard = folder / "heard"
        self._heard.mkdir(parents=True)
        self._made = folder / "made"
        self._made.mkdir()
        parameters: dict[str, dict[str, Any]] = {
            "*": {"model": model},
            "speech_in": {
                "speech_model": speech_model,
                "sound_folder": str(self._heard),
                "partial_every_s": 0.0,
            },
        }
        self.stack = Stack(
            StackOptions(
                nodes=NODES, parameters=parameters, ros_arguments=["--disable-stdout-logs"]
            )
        )
        try:
            self._examiner = Examiner(context=self.stack.context)
            self.stack.add(self._examiner)
            self.stack.start()
            self._wait(lambda: bool(self._examiner.session_id), "a session")
        except BaseException:
            self.stack.close()
            raise

    def close(self) -> None:
        self.stack.close()

    def spoken(self, sentences: Iterable[Sentence], voice: EspeakVoice) -> list[Answer]:
        """Each sentence spoken into a sound file that speech_in hears."""

        def speak(number: int, text: str) -> None:
            path = self._made / f"{number:02}.wav"
            voice.write(text, path)
            # It appears whole.
            path.rename(self._heard / path.name)

        return [self._put(n, s.text, speak) for n, s in enumerate(sentences, 1)]

    def typed(self, sentences: Iterable[Sentence]) -> list[Answer]:
        """Each sentence as an utterance of its very words."""

        def write(number: int, text: str) -> None:
            self._examiner.speaker.say(text)

        return [self._put(n, s.text, write) for n, s in enumerate(sentences, 1)]

    def _put(self, number: int, text: str, put: Callable[[int, str], None]) -> Answer:
        examiner = self._examiner
        session = self._new_session()
        goals = GoalSet(session, 0, 1, self._goals)
        examiner.goals.publish(goal_set_to_msg(goals, self.stack.nodes["dialog"].header()))
        self._wait(lambda: session in examiner.asked, "the question")
        put(number, text)
        if not self.stack.spin(lambda: session in examiner.likeliest, self._deadline_s):
            return Answer(examiner.words.get(session, ""))
        return Answer(examiner.words[session], examiner.likeliest[session])

    def _new_session(self) -> str:
        answer = self._examiner.reset.call_async(ResetSession.Request())
        self._wait(answer.done, "a new session")
        return str(answer.result().session_id)

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        if not self.stack.spin(condition, self._deadline_s):
            raise GoodError(f"{what} did not come within {self._deadline_s:g} s")
