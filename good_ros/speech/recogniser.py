"""Speech to text: faster-whisper on a model in CTranslate2's form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from good_ros.core.errors import SpeechError
from good_ros.speech.audio import INSTALL, RATE, Samples
from good_ros.speech.heard import Heard, words_of
from good_ros.speech.models import resolve

REPEATS = 2.4
"""Whisper's own bound (2.4 in its paper, 4.5): a text that can be compressed more goes round in
circles, which Whisper does on sounds that are no speech."""


class Recogniser(Protocol):
    """Turns a segment into words."""

    model_name: str

    def transcribe(self, samples: Samples, is_final: bool = True) -> Heard:
        """The words in ``samples``; text is empty where there are none.

        A partial reading may be cheaper and worse. Raises SpeechError.
        """


@dataclass(frozen=True)
class Piece:
    """What the model says of one stretch of sound; ``logprob`` is the mean over its tokens."""

    text: str
    logprob: float
    tokens: int
    compression: float = 1.0


def confidence_of(pieces: Sequence[Piece]) -> float:
    """exp of the tokens' mean log-probability, 0 to 1; 0 where a piece goes round in circles."""
    tokens = sum(piece.tokens for piece in pieces)
    if not tokens or any(piece.compression > REPEATS for piece in pieces):
        return 0.0
    mean = sum(piece.logprob * piece.tokens for piece in pieces) / tokens
    return min(1.0, math.exp(mean))


class WhisperRecogniser:
    """faster-whisper. ``locale`` is a BCP 47 tag, or 'auto' to have the language told apart.

    ``model`` is a name that ``good model list`` prints, or a folder. The decoder takes the most
    likely words and draws nothing, so that the same sound gives the same words.
    Raises SpeechError where the package or the model is missing or does not fit.
    """

    def __init__(
        self, model: str = "speech", locale: str = "en", device: str = "cpu", threads: int = 0
    ) -> None:
        folder = resolve(model)
        try:
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise SpeechError(f"faster-whisper is not there ({error}): {INSTALL}") from error
        try:
            self._model: Any = WhisperModel(
                str(folder),
                device=device,
                compute_type="int8" if device == "cpu" else "int8_float16",
                cpu_threads=threads,
                local_files_only=True,
            )
        except (RuntimeError, ValueError, OSError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise SpeechError(f"{folder} cannot be loaded on {device}: {reason}") from error
        self.model_name = folder.name
        language = locale.replace("_", "-").partition("-")[0].lower()
        self._language = None if language == "auto" else language
        if self._language is not None and self._language not in self._model.supported_languages:
            known = ", ".join(sorted(self._model.supported_languages))
            raise SpeechError(
                f"{self.model_name} does not know locale {locale!r}; it knows {known}"
            )
        self._locale = "" if self._language is None else locale

    def transcribe(self, samples: Samples, is_final: bool = True) -> Heard:
        try:
            found, info = self._model.transcribe(
                samples,
                language=self._language,
                beam_size=5 if is_final else 1,
                temperature=0.0,
                condition_on_previous_text=False,
                without_timestamps=True,
            )
            pieces = [
                Piece(s.text, s.avg_logprob, len(s.tokens), s.compression_ratio) for s in found
            ]
        except (RuntimeError, ValueError) as error:
            seconds = len(samples) / RATE
            raise SpeechError(f"{seconds:.1f} s of speech could not be read: {error}") from error
        return Heard(
            text=words_of(" ".join(piece.text for piece in pieces)),
            confidence=confidence_of(pieces),
            locale=self._locale or info.language,
            is_final=is_final,
        )
