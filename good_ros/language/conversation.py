"""What robot and person say to each other (GOOD, III-B)."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from good_ros.core.dialog import Transcript
from good_ros.core.errors import InputError
from good_ros.core.plan import StepResult
from good_ros.language import prompts
from good_ros.language.acts import REMEMBERED, asks, sentences_of
from good_ros.language.generator import Generator, Message, Sampling
from good_ros.language.wording import control_character, plain, without_controls

MAX_UTTERANCE_CHARS = 1000
MAX_QUESTION_TOKENS = 40
MAX_ANSWER_TOKENS = 48
EFFECTS_SHOWN = 6
SECOND_TRY_TEMPERATURE = 0.8
ANOTHER_QUESTION = "What else should I know?"
OTHER_QUESTIONS = (
    ANOTHER_QUESTION,
    "Is there something else that you would like me to do?",
    "Which other things matter to you?",
    "What have I left out so far?",
    "Would you describe how it should look in the end?",
)
"""What is asked where the model only repeats itself."""
LISTENING = "I am listening."
"""What is said where no question is left that was not asked; no answer is expected."""
NEW_FROM_WORDS = 3
"""Words from which on a question counts as asked before though it was put a little otherwise."""
FILLERS = frozenset(
    {"a", "an", "the", "now", "next", "then", "please", "also", "today", "so", "and", "too"}
)

STOP_WORDS = frozenset(
    {"stop", "goodbye", "bye", "that is all", "that's all", "we are done", "i am done", "quit"}
)
WORLD_STOP_WORDS = {"grocery": frozenset({"stop", "goodbye", "bye", "quit"})}
"""Where 'that is all' means that it is to be bought now."""
COURTESY = frozenset(
    {"thank", "thanks", "you", "very", "much", "now", "robot", "please", "and", "bye", "goodbye"}
)
AGAINST = re.compile(r"\b(not|\w*n t|never|doubt|whether|until|when|if|once|before|unless)\b")
"""What turns an agreed phrase round; 'isn t' is 'isn't' in plain words."""


def ask(
    generator: Generator,
    task: str,
    transcript: Transcript,
    status: str,
    *,
    world: str = "",
    also_asked: Sequence[str] = (),
    seed: int = 0,
    deadline_s: float | None = None,
    cancel: threading.Event | None = None,
) -> str:
    """The robot's next question, one that was not asked before.

    A question that repeats an earlier one of the transcript or of ``also_asked``, or was cut
    short, is made again with more variety; if that is no better, a plain one is asked, and where
    those are used up LISTENING is said. ``world`` says in whose words the prompt is. Raises
    ModelError where the generator fails.
    """
    messages = prompts.load("question", world).messages(
        task=task, transcript=transcript.as_text(), status=status
    )
    for temperature in (0.0, SECOND_TRY_TEMPERATURE):
        reply = generator.generate(
            messages,
            Sampling(MAX_QUESTION_TOKENS, temperature, seed, stop=("\n",)),
            deadline_s=deadline_s,
            cancel=cancel,
        )
        question = one_question(reply.text)
        is_whole = reply.finished or asks(question)
        if is_whole and is_new(question, transcript, also_asked):
            return question
    left = (q for q in OTHER_QUESTIONS if is_new(q, transcript, also_asked))
    return next(left, LISTENING)


def is_new(question: str, transcript: Transcript, also_asked: Sequence[str] = ()) -> bool:
    """Whether a question has words and was not asked before, in these words or nearly so."""
    key = _question_key(question)
    asked = [*(turn.question for turn in transcript.turns), *also_asked]
    return bool(key) and all(key != _question_key(earlier) for earlier in asked)


@lru_cache(maxsize=REMEMBERED)
def _question_key(question: str) -> str:
    """The words of a question without those that make no difference."""
    words = plain(question).split()
    kept = [word for word in words if word not in FILLERS]
    return " ".join(kept if len(kept) >= NEW_FROM_WORDS else words)


def answer(
    generator: Generator,
    profile: str,
    task: str,
    question: str,
    status: str,
    *,
    manner: str = "",
    world: str = "",
    temperature: float = 0.0,
    seed: int = 0,
    deadline_s: float | None = None,
    cancel: threading.Event | None = None,
) -> str:
    """What a person with ``profile`` answers (the simulated human of IV-B1); ``manner`` says how
    they talk.

    Raises ModelError where the generator fails or says nothing.
    """
    messages = prompts.load("human", world).messages(
        task=task,
        profile=profile.strip(),
        question=question,
        status=status,
    )
    if manner:
        messages[0] = Message("system", f"{messages[0].content}\n{manner.strip()}")
    reply = generator.generate(
        messages,
        Sampling(MAX_ANSWER_TOKENS, temperature, seed, stop=("\n",)),
        deadline_s=deadline_s,
        cancel=cancel,
    )
    text = re.sub(r"^(human|person|me)\s*:\s*", "", reply.text.strip(), flags=re.IGNORECASE)
    text = text.strip().strip('"').strip()
    return text or "I am not sure."


def status_text(history: Sequence[StepResult]) -> str:
    """What was done so far, for prompts: the last effects, or that nothing was done."""
    effects = [r.effect for r in history if r.success and r.effect]
    return "; ".join(effects[-EFFECTS_SHOWN:]) if effects else "nothing has been done yet"


def check_utterance(text: str) -> str:
    """The utterance with white space folded.

    Raises InputError where it is empty, longer than MAX_UTTERANCE_CHARS, or has control
    characters, which no front end sends on purpose.
    """
    folded = " ".join(text.split())
    if all(unicodedata.category(c) in ("Cf", "Zs") for c in folded):
        raise InputError("utterance ignored: it is empty")
    if len(folded) > MAX_UTTERANCE_CHARS:
        raise InputError(
            f"utterance ignored: it has {len(folded)} characters, "
            f"the limit is {MAX_UTTERANCE_CHARS}"
        )
    if found := control_character(folded):
        raise InputError(f"utterance ignored: it has the control character {found}")
    return folded


def says_done(utterance: str, completion_phrase: str) -> bool:
    """Whether the person says, in the agreed words and nothing against them, that all is done.

    The last sentence counts, thanks left aside; a question never says so.
    """
    phrase = plain(completion_phrase)
    sentences = sentences_of(utterance)
    while len(sentences) > 1 and set(plain(sentences[-1]).split()) <= COURTESY:
        sentences.pop()
    if not phrase or not sentences or asks(sentences[-1]):
        return False
    said = plain(sentences[-1])
    before, found, after = f" {said} ".rpartition(f" {phrase} ")
    return bool(found) and not AGAINST.search(before) and set(after.split()) <= COURTESY


def stops(utterance: str, world: str = "") -> bool:
    """Whether the person ends the conversation in so many words."""
    said = plain(utterance)
    return said in {plain(words) for words in WORLD_STOP_WORDS.get(world, STOP_WORDS)}


def one_question(text: str) -> str:
    """The first question of a reply, without quotes or a speaker's name."""
    text = " ".join(without_controls(text).split()).strip().strip('"').strip()
    text = re.sub(r"^(robot|question|assistant)\s*:\s*", "", text, flags=re.IGNORECASE)
    end = next((i + 1 for i, character in enumerate(text) if asks(character)), len(text))
    return text[:end].strip().strip('"').strip()
