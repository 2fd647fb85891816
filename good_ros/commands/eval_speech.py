"""``good eval speech``: whether spoken sentences lead to the goals that typed ones do."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any


def add_to(measures: Any) -> None:
    """Add the subcommand to those of ``good eval``."""
    speech = measures.add_parser(
        "speech", help="spoken sentences against typed ones, through the real nodes"
    )
    speech.add_argument("--model", default="default", help="the model of dialog and the belief")
    speech.add_argument("--speech-model", default="speech", help="the model that hears")
    speech.add_argument("--limit", type=int, default=0, help="only the first so many sentences")
    speech.add_argument("--json", action="store_true", help="one JSON object as the last line")
    speech.set_defaults(command=_speech)


def _speech(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import track

    from good_ros.experiments.spoken import (
        VOICE,
        WORD_GAP,
        WORDS_PER_MINUTE,
        SpokenReport,
        load_sentences,
    )
    from good_ros.nodes.spoken_test import SpokenTest
    from good_ros.speech.voice import EspeakVoice

    goals, sentences = load_sentences()
    sentences = sentences[: options.limit] if options.limit else sentences
    voice = EspeakVoice(voice=VOICE, words_per_minute=WORDS_PER_MINUTE, gap=WORD_GAP)
    voice.find()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder:
        test = SpokenTest(options.model, options.speech_model, goals, Path(folder))
        try:
            spoken = test.spoken(track(sentences, "spoken", console=console), voice)
            typed = test.typed(track(sentences, "typed", console=console))
        finally:
            test.close()
    report = SpokenReport(sentences, tuple(typed), tuple(spoken))
    for sentence, t, s in zip(sentences, typed, spoken, strict=True):
        same = "same" if t.goal_id and t.goal_id == s.goal_id else "differs"
        print(
            f"{same}: {sentence.text!r} heard as {s.words!r}; meant {sentence.goal_id}, "
            f"typed {t.goal_id or 'none'}, spoken {s.goal_id or 'none'}",
            file=sys.stderr,
        )
    print(
        f"word error rate {report.word_error_rate:.3f}; the same most likely goal in "
        f"{report.same_goal} of {len(sentences)}",
        file=sys.stderr,
    )
    if options.json:
        print(json.dumps(report.as_json()))
    return 0
