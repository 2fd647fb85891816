"""The speech_out node: speaks the robot's questions, and what others want said.

``speaking`` (latched) is true while it does, so that front ends do not take the robot's voice
for the person's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import SimpleNamespace

from std_msgs.msg import Bool, String

from good_ros.core.cache import cache_folder
from good_ros.core.errors import InputError, ModelCancelled, SpeechError
from good_ros.msg import Question
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.parameters import Parameter
from good_ros.nodes.qos import LATCHED, LATCHED_STREAM, SPEECH_IN, SPEECH_OUT
from good_ros.nodes.speech_action import ACTION_PACKAGE, TtsClient, TtsServer, tts_action
from good_ros.planning.desk import AnyStop
from good_ros.speech.spoken import SpokenLog
from good_ros.speech.voice import EspeakVoice, speakable

ESPEAK, ACTION, TOPIC = "espeak", "tts_action", "topic"
Ended = Callable[[BaseException | None], None]


class SpeechOutNode(GoodNode):
    """Says one text after the other, by one of three engines."""

    NAME = "speech_out"
    PARAMETERS = (
        Parameter(
            "engine",
            ESPEAK,
            "What speaks: the espeak-ng program, a server of the audio_common_msgs TTS action, or "
            "whoever listens to the topic say.",
            choices=(ESPEAK, ACTION, TOPIC),
        ),
        Parameter("program", "espeak-ng", "The program, by its name on PATH or its path."),
        Parameter("voice", "en-gb-x-rp", "A voice that `espeak-ng --voices` lists."),
        Parameter("words_per_minute", 150, "How fast espeak-ng speaks.", 80, 450),
        Parameter("word_gap", 0, "Pause between words in units of 10 ms.", 0, 100),
        Parameter("language", "en", "Language of what is said, for the TTS action."),
        Parameter(
            "tts_action",
            "say",
            "Name of the TTS action: the server's that speaks, where that is the engine, else of "
            "the one that this node serves where audio_common_msgs is there.",
        ),
        Parameter(
            "speak_questions", True, "Whether questions are spoken; false for the topic say alone."
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.pending = 0
        self.trouble = ""
        name = self.get_fully_qualified_name().strip("/").replace("/", ".")
        self.spoken = SpokenLog(cache_folder() / "spoken" / f"{name}.json")
        self.speaking = self.publisher(Bool, "speaking", LATCHED)
        self.voice = EspeakVoice(
            values.program, values.voice, values.words_per_minute, values.word_gap
        )
        self.server: TtsServer | None = None
        action = tts_action()
        if values.engine == ACTION:
            if action is None:
                raise SpeechError(
                    f"{ACTION_PACKAGE} is not there: install it, or set engine to {ESPEAK}"
                )
            self.client = self.keep(TtsClient(self, action, values.tts_action))
        elif values.engine == TOPIC:
            self.say = self.publisher(String, "say", SPEECH_OUT)
        else:
            self.look_for_program()
        if values.engine != TOPIC:
            self.listen(String, "say", self.on_say, SPEECH_IN)
        if values.engine == ESPEAK and action is not None:
            self.server = self.keep(TtsServer(self, action, values.tts_action, self.speak))
        if values.speak_questions:
            self.listen(Question, "question", self.on_question, LATCHED_STREAM)
        self.queued: set[str] = set()
        self.standing: Question | None = None
        """A question that came while the node was not active."""

    def start(self) -> None:
        if self.values.engine != TOPIC:
            self.speaking.publish(Bool(data=False))
        question, self.standing = self.standing, None
        if question is not None:
            self.on_question(question)

    def stop(self) -> None:
        if self.server is not None:
            self.server.abandon()
        if self.pending:
            self.pending = 0
            self.speaking.publish(Bool(data=False))

    def facts(self) -> Mapping[str, str]:
        return {"engine": self.values.engine}

    def problem(self) -> str:
        return self.trouble

    def look_for_program(self) -> None:
        """Tell once where the program is missing; each later text looks again."""
        try:
            self.voice.find()
        except SpeechError as error:
            self.complain(error)

    def complain(self, error: BaseException) -> None:
        if str(error) != self.trouble:
            self.trouble = str(error)
            self.get_logger().error(f"nothing is spoken: {error}")

    # What is to be said.

    def on_question(self, message: Question) -> None:
        if not self.active:
            self.standing = message
            return
        # The stamp: a question that is put again in its turn is spoken again.
        stamp = message.header.stamp
        asked = f"{stamp.sec}.{stamp.nanosec:09}"
        key = f"{message.session_id}/{message.turn}/{asked}/{message.text}"
        if key in self.queued or key in self.spoken:
            return
        self.queued.add(key)
        # Noted before it sounds: one that is cut off is not begun again.
        self.speak(message.text, began=lambda: self.spoken.add(key))

    def on_say(self, message: String) -> None:
        if self.active:
            self.speak(message.data)

    def speak(
        self,
        text: str,
        language: str = "",
        ended: Ended = lambda error: None,
        began: Callable[[], None] = lambda: None,
    ) -> threading.Event | None:
        """Say ``text`` after what is being said; None where it is no text that can be said.

        ``began`` is called just before it sounds, in the worker, and ``ended`` after, with what
        went wrong or None. Setting the event that is returned cuts it off.
        """
        try:
            text = speakable(text)
        except InputError as error:
            self.get_logger().warning(str(error))
            return None
        if self.values.engine == TOPIC:
            began()
            self.say.publish(String(data=text))
            ended(None)
            return threading.Event()
        self.pending += 1
        if self.pending == 1:
            self.speaking.publish(Bool(data=True))
        cut = threading.Event()

        def job(cancel: threading.Event) -> None:
            either = AnyStop(cancel, cut)
            if self.values.engine == ACTION:
                self.client.say(text, language or self.values.language, either, began)
                return
            self.voice.find()
            began()
            self.voice.say(text, either, language)

        def then(result: None, error: BaseException | None) -> None:
            self.pending -= 1
            if self.pending == 0:
                self.speaking.publish(Bool(data=False))
            if error is None:
                self.trouble = ""
            elif not isinstance(error, ModelCancelled):
                self.complain(error)
            ended(error)

        self.worker.submit(job, then)
        return cut


def main() -> int:
    return run(SpeechOutNode)


if __name__ == "__main__":
    raise SystemExit(main())
