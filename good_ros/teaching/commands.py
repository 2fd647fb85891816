"""Hearing a command: which behaviour a person asks for, with what, in spite of speech errors.

ProVox: 'note that the speech-to-text engine is not perfect … If an object is not in the API, you
should not fail.' Here every word of a command must be accounted for: what is nearly a known word
is taken for it only where it can hardly be another, else it is asked about, and what is like
nothing that is known is reported as new. Words that are no command at all are left to the
planner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from good_ros.core.errors import InputError
from good_ros.core.plan import StepResult
from good_ros.language.wording import plain
from good_ros.planning.commands import Command, Heard, Unclear, Unknown
from good_ros.teaching.behaviours import ITEM, OBJECT, PLACE, Behaviour, Call, Vocabulary
from good_ros.teaching.expansion import steps_of
from good_ros.teaching.room import ARTICLES, Found, Room
from good_ros.teaching.sounds import likeness
from good_ros.worlds.base import World

NEAR_WORD = 0.6
"""A word so alike to one of a behaviour's phrase is asked about; never taken without."""
MAX_OPTIONS = 3
"""Commands that a question offers; of 'it' every thing is one, and none is offered."""
PREPOSITIONS = ("in", "into", "inside", "on", "onto", "to", "at")
PRONOUNS = frozenset({"it", "them", "this", "that", "one"})
LEADING = re.compile(
    r"^(?:(?:ok|okay|hey|hi|so|now|then|and|robot|please|just|also|next|well|um|uh"
    r"|(?:can|could|would|will) you|i want you to|i would like you to|i d like you to|let s"
    r"|go ahead and|you can|you should)\s+)+"
)
TRAILING = re.compile(r"(?:\s+(?:please|now|for me|robot|thanks|thank you|next|too|also|then))+$")
NO_COMMAND = re.compile(
    r"\b(?:not|never|\w*n t|without|instead|unless|until|before|after|if|when|except|but|or"
    r"|stop|wait|later|no|everything|all|both|each|every|rest|anything|something|else|more|other"
    r"|another)\b"
)
"""Words that turn a sentence into something else than a plain command."""
QUESTION = re.compile(
    r"^(?:do|does|did|is|are|was|were|have|has|had|what|where|which|who|why|when|how|should"
    r"|shall|may|might|i|we|he|she|they|you|there|my)\b"
)
NEXT = re.compile(r"\s+(?:and then|then|and)\s+")


@dataclass(frozen=True)
class Context:
    """What 'it' may stand for: the name of what is in hand, else of what was moved last."""

    held: str = ""
    last: str = ""


@dataclass(frozen=True)
class _Reading:
    """One way to read a clause: a behaviour with what was found for each argument."""

    behaviour: Behaviour
    found: tuple[Found, ...]
    phrases: tuple[str, ...]
    meant_words: bool = True
    """False where a word of the phrase itself is only near."""

    @property
    def is_sure(self) -> bool:
        return self.meant_words and all(f.is_sure for f in self.found)

    @property
    def new(self) -> list[str]:
        return [p for p, f in zip(self.phrases, self.found, strict=True) if f.is_new]

    @property
    def score(self) -> tuple[bool, bool, float]:
        alike = min((f.alike for f in self.found), default=1.0)
        return (not self.new, self.meant_words, alike)

    def calls(self) -> Iterator[Call]:
        """Every call that it may mean, at most a few."""
        sets: list[tuple[str, ...]] = [()]
        for found in self.found:
            sets = [(*names, name) for names in sets for name in found.names]
        for names in sets:
            yield Call(self.behaviour.name, names)


def hear(
    utterance: str,
    world: World,
    vocabulary: Vocabulary,
    history: Sequence[StepResult] = (),
) -> Heard | None:
    """The command in an utterance; None where it is none, which the planner then deals with."""
    if "?" in utterance and not re.match(r"\W*(can|could|would|will) you\b", utterance.lower()):
        return None
    said = plain(utterance)
    said = TRAILING.sub("", LEADING.sub("", said))
    if not said or NO_COMMAND.search(said) or QUESTION.match(said):
        return None
    room = Room(world.observe())
    context = Context(room.held, _last_moved(history, room))
    readings: list[_Reading] = []
    for clause in _clauses(said, vocabulary):
        found = _read_clause(clause, vocabulary, room, context, readings)
        if isinstance(found, Unclear):
            return _with_steps(found, world, room, vocabulary)
        if found is None:
            return None
        readings += found
        # What was named last is what 'it' stands for in the next clause.
        objects = [
            f.names[0]
            for r in readings
            for f, a in zip(r.found, r.behaviour.arguments, strict=True)
            if f.is_sure and room.suits(f.names[0], OBJECT) and a.type != PLACE
        ]
        context = Context(objects[-1] if objects else context.held, context.last)
    return _heard(readings, world, room, vocabulary)


def _heard(readings: Sequence[_Reading], world: World, room: Room, vocabulary: Vocabulary) -> Heard:
    new = list(dict.fromkeys(phrase for r in readings for phrase in r.new))
    if unfit := [phrase for phrase in new if room.find(phrase).is_sure]:
        return Unclear(f"That cannot be done with '{unfit[0]}'. What shall I do?")
    if new:
        words = " and ".join(f"'{phrase}'" for phrase in new)
        known = ", ".join(room.spoken(o) for o, t in room.types.items() if t == OBJECT)
        return Unknown(
            ", ".join(new), f"I do not know {words} yet. Which thing do you mean: {known}?"
        )
    if all(r.is_sure for r in readings):
        return _command([next(r.calls()) for r in readings], world, room, vocabulary)
    unsure = next(n for n, r in enumerate(readings) if not r.is_sure)
    options = []
    for call in readings[unsure].calls():
        calls = [next(r.calls()) for r in readings]
        calls[unsure] = call
        option = _command(calls, world, room, vocabulary)
        if isinstance(option, Command):
            names = tuple(n for arg in call.args for n in (arg, room.spoken(arg)))
            options.append(replace(option, names=names))
    return _ask(options, readings[unsure])


def _ask(options: Sequence[Command], reading: _Reading) -> Unclear:
    heard = " ".join(
        p for p, f in zip(reading.phrases, reading.found, strict=True) if not f.is_sure
    )
    begin = f"I am not sure about '{heard}'. " if heard else ""
    if not reading.meant_words:
        begin = "I may have misheard you. "
    if len(options) > MAX_OPTIONS:
        return Unclear(f"{begin}Which thing do you mean?", tuple(options))
    words = " or ".join(f"'{o.words}'" for o in options)
    question = f"{begin}Do you mean {words}?" if options else f"{begin}What shall I do?"
    return Unclear(question, tuple(options))


def _command(
    calls: Sequence[Call], world: World, room: Room, vocabulary: Vocabulary
) -> Command | Unclear:
    words = ", then ".join(vocabulary.words(call) for call in calls)
    try:
        return Command(steps_of(world, room, vocabulary, calls), words)
    except InputError as error:
        return Unclear(f"I cannot do '{words}': {error}. What shall I do?")


def _with_steps(unclear: Unclear, world: World, room: Room, vocabulary: Vocabulary) -> Unclear:
    """A bare 'carrots in the bag' is asked about as a put."""
    if not unclear.options or unclear.options[0].steps:
        return unclear
    thing, place = unclear.options[0].names
    option = _command([Call("put", (thing, place))], world, room, vocabulary)
    if isinstance(option, Unclear):
        return option
    return Unclear(unclear.question, (replace(option, names=(thing, room.spoken(thing))),))


# Clauses.


def _clauses(said: str, vocabulary: Vocabulary) -> list[str]:
    """What is said clause by clause. 'pack the carrots and the milk' is two of them: the second
    has the first one's words around another thing."""
    first_words = {t.split()[0] for b in vocabulary.behaviours for t in _templates(b)}
    clauses: list[str] = []
    for part in NEXT.split(said):
        part = LEADING.sub("", part)
        if clauses and part.split()[0] not in first_words:
            clauses.append(f"+ {part}")
        else:
            clauses.append(part)
    return clauses


def _read_clause(
    clause: str,
    vocabulary: Vocabulary,
    room: Room,
    context: Context,
    earlier: Sequence[_Reading],
) -> list[_Reading] | Unclear | None:
    said = _bare(clause.removeprefix("+ "))
    if not said:
        # 'pack the carrots and the …': it was cut off.
        return None
    if clause.startswith("+ "):
        return _another(said, room, context, earlier)
    readings = list(_readings(said, vocabulary, room, context))
    taught = [r for r in readings if r.behaviour.is_taught and r.is_sure]
    if sure := taught or [r for r in readings if r.is_sure]:
        return [max(sure, key=lambda r: r.score)]
    if readings:
        return [max(readings, key=lambda r: r.score)]
    near = list(_near_words(said, vocabulary, room, context))
    if near:
        return [max(near, key=lambda r: r.score)]
    return _without_verb(said, room) if _puts(vocabulary) else None


def _puts(vocabulary: Vocabulary) -> bool:
    """Whether 'put' is the robot's own here, and nothing that the person taught."""
    return "put" in vocabulary and not vocabulary["put"].is_taught


def _another(
    said: str, room: Room, context: Context, earlier: Sequence[_Reading]
) -> list[_Reading] | None:
    """'… and the milk': the last reading with another object."""
    if not earlier:
        return None
    last = earlier[-1]
    objects = [n for n, a in enumerate(last.behaviour.arguments) if a.type in (OBJECT, ITEM)]
    if len(objects) != 1:
        return None
    kind = last.behaviour.arguments[objects[0]].type
    found, phrases = list(last.found), list(last.phrases)
    found[objects[0]], phrases[objects[0]] = _ground(said, kind, room, context), said
    # 'put the carrots and the milk in the bag': the place stands with the second thing.
    places = [n for n, a in enumerate(last.behaviour.arguments) if a.type == PLACE]
    match = re.fullmatch(rf"(.+?) (?:{'|'.join(PREPOSITIONS)}) (.+)", said)
    if places and match:
        found[objects[0]] = _ground(match[1], kind, room, context)
        phrases[objects[0]] = match[1]
        found[places[0]], phrases[places[0]] = room.find(match[2], PLACE), match[2]
    return [replace(last, found=tuple(found), phrases=tuple(phrases))]


def _readings(
    said: str, vocabulary: Vocabulary, room: Room, context: Context
) -> Iterator[_Reading]:
    for behaviour, phrases in match_phrase(said, vocabulary):
        yield _reading(behaviour, phrases, room, context)


def _reading(
    behaviour: Behaviour, phrases: dict[str, str], room: Room, context: Context
) -> _Reading:
    told = [phrases[a.name] for a in behaviour.arguments]
    found = [
        _ground(phrase, a.type, room, context)
        for phrase, a in zip(told, behaviour.arguments, strict=True)
    ]
    return _Reading(behaviour, tuple(found), tuple(told))


def _near_words(
    said: str, vocabulary: Vocabulary, room: Room, context: Context
) -> Iterator[_Reading]:
    """Readings in which the first word, or the last one, is a behaviour's as a speech recogniser
    may mishear it."""
    for behaviour in vocabulary.behaviours:
        for template in _templates(behaviour):
            literal = _bare_template(template)
            for n in (0, -1):
                words = said.split()
                if literal[n].startswith("{") or likeness(words[n], literal[n]) < NEAR_WORD:
                    continue
                words[n] = literal[n]
                if match := _pattern(template).fullmatch(" ".join(words)):
                    reading = _reading(behaviour, match.groupdict(), room, context)
                    if not reading.new:
                        yield replace(reading, meant_words=False)


def _without_verb(said: str, room: Room) -> Unclear | None:
    """'carrots in the bag': a thing and a place, and no word for what to do."""
    match = re.fullmatch(rf"(.+?) (?:{'|'.join(PREPOSITIONS)}) (.+)", said)
    if match is None:
        return None
    thing, place = room.find(match[1], OBJECT), room.find(match[2], PLACE)
    if not (thing.is_sure and place.is_sure):
        return None
    names = (thing.names[0], place.names[0])
    question = f"Shall I put {names[0]} in {names[1]}?"
    return Unclear(question, (Command((), "", names),))


def _ground(phrase: str, kind: str, room: Room, context: Context) -> Found:
    if phrase in PRONOUNS:
        name = context.held or context.last
        if name and room.suits(name, kind):
            return Found((name,), 1.0)
        # Not new, and not known: which one is asked.
        able = tuple(n for n in room.types if room.suits(n, kind))
        return Found(able, 0.0) if able else Found()
    return room.find(phrase, kind)


def _last_moved(history: Sequence[StepResult], room: Room) -> str:
    done = [r.step.object_id for r in history if r.success and r.step.object_id]
    names = [room.names[i] for i in reversed(done) if i in room.names]
    return next((n for n in names if room.suits(n, OBJECT)), "")


# Templates.


def match_phrase(said: str, vocabulary: Vocabulary) -> list[tuple[Behaviour, dict[str, str]]]:
    """The behaviours that a phrase in plain words may stand for, with the words for each of
    their arguments; taught ones first."""
    bare = _bare(said)
    return [
        (behaviour, match.groupdict())
        for behaviour in vocabulary.behaviours
        for template in _templates(behaviour)
        if (match := _pattern(template).fullmatch(bare))
    ]


def _templates(behaviour: Behaviour) -> tuple[str, ...]:
    """The phrases for a behaviour: its examples, and its name with what it is told."""
    told = [f"in {{{a.name}}}" if a.type == PLACE else f"{{{a.name}}}" for a in behaviour.arguments]
    named = " ".join((behaviour.name.replace("_", " "), *told))
    return (*behaviour.examples, named)


@lru_cache(maxsize=2048)
def _pattern(template: str) -> re.Pattern[str]:
    """A regular expression for a template in bare words; any preposition stands for any other."""
    parts = []
    for word in _bare_template(template):
        if word.startswith("{"):
            parts.append(rf"(?P<{word[1:-1]}>.+?)")
        elif word in PREPOSITIONS:
            parts.append(f"(?:{'|'.join(PREPOSITIONS)})")
        else:
            parts.append(re.escape(word))
    return re.compile(" ".join(parts))


def _bare_template(template: str) -> list[str]:
    words: list[str] = []
    for part in re.findall(r"\{\w+\}|[^{}]+", template):
        words += [part] if part.startswith("{") else _bare(plain(part)).split()
    return words


def _bare(said: str) -> str:
    return " ".join(word for word in said.split() if word not in ARTICLES or word in PRONOUNS)
