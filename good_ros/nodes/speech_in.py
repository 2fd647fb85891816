"""The speech_in node: hears a microphone or sound files and publishes what was said.

A front end of the stack's own; any other that publishes ``utterance`` takes its place.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from std_msgs.msg import Bool

from good_ros.core.errors import ModelCancelled, SpeechError
from good_ros.msg import Question, Utterance
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.parameters import Parameter
from good_ros.nodes.qos import LATCHED_STREAM, SPEECH_OUT
from good_ros.speech.heard import Heard
from good_ros.speech.listener import Listener
from good_ros.speech.own_voice import OwnVoice
from good_ros.speech.recogniser import Recogniser, WhisperRecogniser
from good_ros.speech.segmenter import Segment, Segmenter, SileroDetector, VoiceDetector
from good_ros.speech.sources import AudioSource, Microphone, SoundFolder

REOPEN_S = 5.0
"""After how long a source that was lost is opened again."""
WATCH_S = 1.0
"""How often it is looked whether the robot's voice is still there."""
AT_ONCE, QUESTION = "at_once", "question"


def make_recogniser(model: str, locale: str, device: str, threads: int) -> Recogniser:
    """The speech model of the parameters. Raises SpeechError."""
    return WhisperRecogniser(model, locale, device, threads)


def make_detector() -> VoiceDetector:
    """The voice detector. Raises SpeechError."""
    return SileroDetector()


class SpeechInNode(GoodNode):
    """Publishes what a microphone, or sound files, were heard to say."""

    NAME = "speech_in"
    PARAMETERS = (
        Parameter(
            "speech_model",
            "speech",
            "Speech model: a name that `good model list` prints, or the folder of a Whisper model "
            "in CTranslate2's form.",
        ),
        Parameter(
            "locale",
            "en",
            "Language that is spoken, as a BCP 47 tag such as en or en_GB; auto tells it apart, "
            "with a model of several languages.",
        ),
        Parameter("device", "cpu", "Device that the speech model runs on, such as cpu or cuda."),
        Parameter("threads", 0, "Threads of the speech model; 0 leaves it the choice.", 0, 64),
        Parameter(
            "microphone",
            "",
            "Name or number of the microphone as `python -m sounddevice` lists it; empty for the "
            "default one.",
        ),
        Parameter(
            "sound_folder",
            "",
            "Folder of sound files (WAV and others) that are heard in place of a microphone, in "
            "the order of their names, with those that are put there later.",
        ),
        Parameter(
            "sound_pace",
            AT_ONCE,
            "When the next file of sound_folder is heard: at once, or one for each question that "
            "expects a reply.",
            choices=(AT_ONCE, QUESTION),
        ),
        Parameter("speaker_id", "", "Who speaks into this front end, where that is known."),
        Parameter(
            "voice_threshold",
            0.5,
            "Probability of voice from which an utterance begins.",
            0.05,
            0.95,
        ),
        Parameter(
            "silence_s", 0.7, "Seconds without voice after which an utterance is over.", 0.1, 5.0
        ),
        Parameter(
            "shortest_s", 0.2, "Seconds of voice under which a sound is no utterance.", 0.0, 5.0
        ),
        Parameter("longest_s", 28.0, "Seconds after which an utterance is cut.", 1.0, 29.0),
        Parameter(
            "partial_every_s",
            1.0,
            "Seconds between two partial results of an utterance that goes on; 0 for none.",
            0.0,
            10.0,
        ),
        Parameter(
            "own_voice_tail_s",
            0.4,
            "Seconds for which the robot's voice is taken to sound after `speaking` turns false.",
            0.0,
            5.0,
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.recogniser = make_recogniser(
            values.speech_model, values.locale, values.device, values.threads
        )
        self.detector = make_detector()
        self.source = self.open_source()
        self.own_voice = OwnVoice(values.own_voice_tail_s)
        self.listener: Listener | None = None
        self.trouble = ""
        self.heard = 0
        self.partial: threading.Event | None = None
        """Set to drop the partial result that is being made."""
        self.run_id = uuid.uuid4().hex[:8]
        self.utterance = self.publisher(Utterance, "utterance", SPEECH_OUT)
        self.listen(Bool, "speaking", self.on_speaking, LATCHED_STREAM)
        self.asked: Question | None = None
        """The last question that a file was let through for."""
        self.listen(Question, "question", self.on_question, LATCHED_STREAM)
        self.reopening = self.create_timer(REOPEN_S, self.reopen)
        self.reopening.cancel()
        watching = self.create_timer(WATCH_S, self.watch_speaking)
        for timer in (self.reopening, watching):
            self.at_cleanup(partial(self.destroy_timer, timer))

    def open_source(self) -> AudioSource:
        """Raises SpeechError."""
        if not self.values.sound_folder:
            return Microphone(self.values.microphone)
        return SoundFolder(
            Path(self.values.sound_folder).expanduser(),
            warn=self.get_logger().warning,
            waits=self.values.sound_pace == QUESTION,
        )

    def start(self) -> None:
        self.listen_to_source()

    def stop(self) -> None:
        self.reopening.cancel()
        self.partial = None
        if self.listener is not None:
            self.listener.close()
            self.listener = None

    def facts(self) -> Mapping[str, str]:
        return {"model": self.recogniser.model_name, "utterances": str(self.heard)}

    def problem(self) -> str:
        return self.trouble

    # The source.

    def listen_to_source(self) -> None:
        # A run of its own, so that ids stay unique when the node is activated again.
        self.run_id = uuid.uuid4().hex[:8]
        values = self.values
        segmenter = Segmenter(
            self.detector,
            threshold=values.voice_threshold,
            silence_s=values.silence_s,
            minimum_s=values.shortest_s,
            maximum_s=values.longest_s,
            partial_every_s=values.partial_every_s,
        )
        self.listener = Listener(
            self.source,
            segmenter,
            deaf=lambda: self.own_voice.sounds(time.monotonic()),
            take=lambda segment, label: self.worker.post(
                partial(self.on_segment, segment, label, self.run_id)
            ),
            lost=lambda error: self.worker.post(partial(self.on_lost, error)),
        )

    def on_lost(self, error: SpeechError) -> None:
        if not self.active:
            return
        if str(error) != self.trouble:
            self.trouble = str(error)
            self.get_logger().error(f"nothing is heard: {error}; trying again every {REOPEN_S:g} s")
        self.reopening.reset()

    def reopen(self) -> None:
        self.reopening.cancel()
        if self.listener is not None:
            self.listener.close()
        try:
            # The same source: a folder knows which of its files were heard.
            self.source.check()
        except SpeechError as error:
            self.on_lost(error)
            return
        self.trouble = ""
        self.listen_to_source()

    # The robot's own voice, and its questions.

    def on_speaking(self, message: Bool) -> None:
        self.own_voice.tell(message.data, time.monotonic())

    def watch_speaking(self) -> None:
        """A voice that is gone has ceased to speak, whatever it said last."""
        if not self.count_publishers("speaking"):
            self.own_voice.tell(False, time.monotonic())

    def on_question(self, message: Question) -> None:
        if not message.expects_reply or message == self.asked:
            return
        self.asked = message
        if isinstance(self.source, SoundFolder):
            self.source.permit()

    # What is said.

    def on_segment(self, segment: Segment, label: str, run_id: str) -> None:
        """Have a segment read in the worker, and publish its words."""
        if not self.active or run_id != self.run_id:
            return
        # A partial result that is not out yet is out of date: another segment is there.
        busy = self.partial is not None
        if segment.is_final and self.partial is not None:
            self.partial.set()
            self.partial = None
        elif busy or (not segment.is_final and self.worker.busy):
            return
        utterance_id = "-".join(filter(None, (run_id, str(segment.number), label)))

        def job(cancel: threading.Event) -> Heard:
            return self.recogniser.transcribe(segment.samples, segment.is_final)

        def then(heard: Heard | None, error: BaseException | None) -> None:
            if not segment.is_final:
                self.partial = None
            if heard is not None:
                self.publish(heard, utterance_id, segment.is_final)
            elif not isinstance(error, ModelCancelled):
                self.get_logger().error(f"an utterance is lost: {error}")

        cancel = self.worker.submit(job, then)
        if not segment.is_final:
            self.partial = cancel

    def publish(self, heard: Heard, utterance_id: str, is_final: bool) -> None:
        if not heard.text:
            return
        self.heard += is_final
        self.utterance.publish(
            Utterance(
                header=self.header(),
                utterance_id=utterance_id,
                speaker_id=self.values.speaker_id,
                text=heard.text,
                confidence=heard.confidence,
                locale=heard.locale,
                is_final=is_final,
            )
        )


def main() -> int:
    return run(SpeechInNode)


if __name__ == "__main__":
    raise SystemExit(main())
