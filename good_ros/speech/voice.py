"""A voice: espeak-ng, driven as a program."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from good_ros.core.errors import InputError, SpeechError

LONGEST = 2000
"""Characters of one text at most."""
POLL_S = 0.05
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")


class Stop(Protocol):
    """What is looked at to see whether to cease; a threading.Event is one."""

    def is_set(self) -> bool: ...


def speakable(text: str) -> str:
    """``text`` in one line, without control characters.

    Raises InputError where nothing is left or it is longer than LONGEST.
    """
    text = " ".join(_CONTROL.sub(" ", text).split())
    if not text:
        raise InputError("nothing is said: the text is empty")
    if len(text) > LONGEST:
        raise InputError(f"nothing is said: the text has {len(text)} characters, over {LONGEST}")
    return text


@dataclass(frozen=True)
class EspeakVoice:
    """espeak-ng's voice, speed in words a minute and pause between words in 10 ms."""

    program: str = "espeak-ng"
    voice: str = "en-gb-x-rp"
    words_per_minute: int = 150
    gap: int = 0

    def find(self) -> str:
        """The program's path. Raises SpeechError where it is not there."""
        found = shutil.which(self.program)
        if found is None:
            raise SpeechError(
                f"{self.program} is not there: on Debian or Ubuntu "
                "sudo apt-get install -y espeak-ng"
            )
        return found

    def say(self, text: str, cancel: Stop, language: str = "") -> None:
        """Speak on the default sound device until done or ``cancel``.

        ``language`` (a BCP 47 tag) is taken where the voice is of another one.
        Raises InputError (text or language) and SpeechError (program).
        """
        self._run([], speakable(text), cancel, language)

    def write(self, text: str, path: Path) -> None:
        """Speak into a WAV file; errors as of ``say``."""
        self._run(["-w", str(path)], speakable(text), threading.Event())

    def voice_for(self, language: str) -> str:
        """The voice for a language: ours where it speaks it, else espeak-ng's own."""
        if not language:
            return self.voice
        if not _LANGUAGE.fullmatch(language):
            raise InputError(
                f"nothing is said: {language!r} is no language tag such as en or de-AT"
            )
        tag = language.lower().replace("_", "-")
        return self.voice if self.voice == tag or self.voice.startswith(f"{tag}-") else tag

    def _run(self, options: Sequence[str], text: str, cancel: Stop, language: str = "") -> None:
        command = [self.find(), "-v", self.voice_for(language), "-s", str(self.words_per_minute)]
        # The text goes through standard input: as an argument one that begins with '-' would
        # be taken for an option.
        command += ["-g", str(self.gap), *options, "--stdin"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            try:
                self._follow(process, text, cancel)
            finally:
                if process.poll() is None:
                    process.kill()

    def _follow(self, process: subprocess.Popen[bytes], text: str, cancel: Stop) -> None:
        sent: bytes | None = text.encode()
        while not cancel.is_set():
            try:
                _, complaint = process.communicate(sent, timeout=POLL_S)
            except subprocess.TimeoutExpired:
                sent = None
                continue
            # Without a sound device it ends with 0 and says so on standard error alone.
            lines = complaint.decode(errors="replace").strip().splitlines()
            if process.returncode or any(line.lower().startswith("error") for line in lines):
                reason = lines[-1] if lines else f"it ended with {process.returncode}"
                raise SpeechError(f"{self.program} could not speak: {reason}")
            return
