"""Teaching in explicit forms, read by rule: 'pack X means pick up X and put it in the bag'.

Whatever is in no such form is the language model's to read (``teaching.reading``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from good_ros.core.errors import InputError
from good_ros.language.wording import plain
from good_ros.teaching.behaviours import (
    ITEM,
    OBJECT,
    PLACE,
    Argument,
    Behaviour,
    Call,
    Vocabulary,
)
from good_ros.teaching.commands import PREPOSITIONS, PRONOUNS, match_phrase
from good_ros.teaching.room import ARTICLES, Room

VARIABLES = {"x": OBJECT, "y": PLACE, "z": ITEM}
SOMETHING = frozenset({"something", "anything", "thing", "object", "things"})
SOMEWHERE = frozenset({"somewhere", "anywhere", "place"})
_BODY = r"\s*(?:that you |to |you )*(?P<body>.+)$"
DEFINITION = re.compile(
    r"^(?:when i say |if i say |to )?(?P<head>.+?)[\"'”’]?"
    rf"(?:\s+(?:means|is to mean|should mean|shall mean|i mean)\b:?|\s*[:=]){_BODY}",
    re.IGNORECASE,
)
WHEN_SAID = re.compile(
    r"^(?:when i say |if i say |to )(?P<head>[^,]+?)[\"'”’]?"
    rf"(?:\s*,|\s+(?:you should|do|then)\b){_BODY}",
    re.IGNORECASE,
)
GOAL = re.compile(
    r"^(?:(?:my|the|our) goal (?:is|:)|goal:|today (?:i|we) (?:want|are going)|i want|i would like"
    r"|i'd like|we want|let's|we will|we are going)\s*(?:you |us )?(?:to |that )*(?P<goal>.+)$",
    re.IGNORECASE,
)
EXAMPLE = re.compile(
    r"^(?:for )?(?:example|instance)[:,]?\s*(?P<phrase>.+?)[\"'”’]?\s+(?:means|is)\s+(?P<call>.+)$",
    re.IGNORECASE,
)
FORGET = re.compile(
    r"^(?:please )?forget (?:about )?(?:the behaviour |how to )?(?P<name>.+)$", re.I
)
UNDO = re.compile(
    r"^(?:no,? )?(?:undo|undo (?:that|it)|that (?:is|was) (?:wrong|not right)"
    r"|take (?:that|it) back)$"
)
ASKS = re.compile(r"^(?:what (?:do|can) you (?:know|do)|what did i teach you|list|show)\b", re.I)
SPLIT = re.compile(r"\s*(?:,|;)?\s*\b(?:and then|then|and|after that)\b\s*|\s*[,;.]\s*")


@dataclass(frozen=True)
class Draft:
    """What a sentence teaches: a goal's words, or a behaviour."""

    goal: str = ""
    behaviour: Behaviour | None = None
    example_of: Call | None = None


def read(text: str, vocabulary: Vocabulary, room: Room) -> Draft | None:
    """What a sentence in an explicit form teaches; None where it is in none.

    Raises InputError where it is in one, but cannot be understood, with the reason.
    """
    said = text.strip().strip(".!").replace("“", '"').replace("”", '"')
    if match := EXAMPLE.match(said):
        return _example(match["phrase"], match["call"], vocabulary, room)
    if match := GOAL.match(said):
        return Draft(goal=match["goal"].strip())
    if match := DEFINITION.match(said) or WHEN_SAID.match(said):
        head, body = match["head"].strip(" \"'"), match["body"]
        if plain(head):
            return Draft(behaviour=define(head, body, vocabulary, room))
    return None


def define(head: str, body: str, vocabulary: Vocabulary, room: Room) -> Behaviour:
    """The behaviour that ``head`` ('pack X', 'pack the carrots', 'put it in the bag') names,
    made of the known ones in ``body``. Raises InputError where a part is not understood."""
    words, told = _head(head, room)
    verb = [w for w in words if not w.startswith("{") and w not in PRONOUNS]
    # 'put it in the bag' is called put, 'reach for X' reach_for: what stands before what is told.
    first = next((n for n, w in enumerate(words) if w.startswith("{") or w in PRONOUNS), len(words))
    named = [w for w in words[:first] if w not in ARTICLES] or verb
    if not named:
        raise InputError(f"'{head}' has no word that names a behaviour")
    name = "_".join(re.sub(r"[^a-z0-9]", "", plain(w)) for w in named[:4])
    arguments = tuple(Argument(n, t.type) for n, t in told.items())
    steps: list[Call] = []
    last = next((n for n, t in told.items() if t.type != PLACE), "")
    for part in SPLIT.split(body):
        if plain(part):
            call = _step(part, told, vocabulary, room, last, name)
            steps.append(call)
            objects = [
                a for a in call.args if (told[a].type if a in told else room.types[a]) != PLACE
            ]
            last = objects[0] if objects else last
    return Behaviour(name, arguments, tuple(steps), (" ".join(words),))


@dataclass(frozen=True)
class _Told:
    """An argument of what is being taught: by which words its definition refers to it."""

    type: str
    words: tuple[str, ...]


def _head(head: str, room: Room) -> tuple[list[str], Mapping[str, _Told]]:
    """The phrase with its arguments in braces, and the arguments.

    What is told is a letter (X), 'something', 'somewhere', a name in braces or angle brackets,
    or a thing of the room, in whose place any other one may stand.
    """
    told: dict[str, _Told] = {}
    words: list[str] = []
    for word in re.findall(r"[<{]\w+[>}]|[\w']+", head):
        bare = word.strip("<>{}").lower()
        kind = VARIABLES.get(bare) or (OBJECT if bare in SOMETHING else "")
        kind = PLACE if bare in SOMEWHERE else kind
        if word[0] in "<{" and not kind:
            kind = PLACE if words and words[-1] in PREPOSITIONS else OBJECT
        if kind:
            # A letter or 'something' after 'in' is a place, whatever the letter.
            if words and words[-1] in PREPOSITIONS and kind == OBJECT and told:
                kind = PLACE
            name = _free("place" if kind == PLACE else "thing", told)
            told[name] = _Told(kind, (bare,))
            words.append(f"{{{name}}}")
        else:
            words.append(plain(word) or word)
    words = [w for w in words if w not in ARTICLES or w in PRONOUNS]
    return _generalised(words, told, room)


def _generalised(
    words: list[str], told: dict[str, _Told], room: Room
) -> tuple[list[str], Mapping[str, _Told]]:
    """With every thing of the room that the phrase names made an argument."""
    result: list[str] = []
    rest = list(words)
    while rest:
        for length in range(min(4, len(rest)), 0, -1):
            phrase = rest[:length]
            if any(w.startswith("{") or w in PRONOUNS for w in phrase) or not result:
                continue
            found = room.find(" ".join(phrase))
            if found.alike == 1.0 and len(found.names) == 1:
                kind = room.types[found.names[0]]
                name = _free("place" if kind == PLACE else "thing", told)
                told[name] = _Told(kind, (" ".join(phrase), room.spoken(found.names[0])))
                result.append(f"{{{name}}}")
                rest = rest[length:]
                break
        else:
            result.append(rest.pop(0))
    return result, told


def _step(
    part: str,
    told: Mapping[str, _Told],
    vocabulary: Vocabulary,
    room: Room,
    last: str,
    defined: str,
) -> Call:
    """One step of a definition."""
    said = plain(re.sub(r"[<>{}]", " ", part))
    matches = match_phrase(said, vocabulary)
    problems = []
    for behaviour, phrases in matches:
        args = []
        for argument in behaviour.arguments:
            value = _value(phrases[argument.name], argument.type, told, room, last)
            if not value:
                problems.append(f"'{phrases[argument.name]}' in '{part.strip()}' is nothing I know")
                break
            args.append(value)
        else:
            return Call(behaviour.name, tuple(args))
    if problems:
        raise InputError(problems[0])
    first = said.split()[0]
    if first == defined.split("_")[0]:
        raise InputError(f"{defined} would run for ever: it is made of itself")
    raise InputError(
        f"I do not know how to '{part.strip()}'; I know " + ", ".join(vocabulary.names)
    )


def _value(phrase: str, kind: str, told: Mapping[str, _Told], room: Room, last: str) -> str:
    """The argument or the thing that a phrase within a definition stands for; empty for none."""
    bare = " ".join(w for w in phrase.split() if w not in ARTICLES or w in PRONOUNS)
    for name, what in told.items():
        if bare == name or bare in what.words:
            return name
    if bare in PRONOUNS or bare in SOMETHING:
        return last
    found = room.find(phrase, kind)
    if not found.is_sure:
        found = room.find(phrase)
    return found.names[0] if found.is_sure else ""


def _example(phrase: str, call: str, vocabulary: Vocabulary, room: Room) -> Draft:
    """'for example pop the milk in means pack the milk': another phrase for a taught behaviour."""
    for behaviour, phrases in match_phrase(plain(call), vocabulary):
        found = [room.find(phrases[a.name], a.type) for a in behaviour.arguments]
        if not all(f.is_sure for f in found):
            continue
        if not behaviour.is_taught:
            raise InputError(f"{behaviour.name} is my own: teach a behaviour, then its examples")
        words = f" {_bare(phrase)} "
        for argument, what in zip(behaviour.arguments, found, strict=True):
            forms = [_bare(phrases[argument.name]), room.spoken(what.names[0])]
            form = next((f for f in forms if f" {f} " in words), "")
            if not form:
                raise InputError(f"the example '{phrase}' does not name {what.names[0]}")
            words = words.replace(f" {form} ", f" {{{argument.name}}} ")
        more = replace(behaviour, examples=(*behaviour.examples, words.strip()))
        return Draft(behaviour=more, example_of=Call(behaviour.name))
    raise InputError(f"'{call}' is nothing that you taught me")


def _bare(text: str) -> str:
    return " ".join(w for w in plain(text).split() if w not in ARTICLES or w in PRONOUNS)


def _free(name: str, taken: Mapping[str, _Told] | Sequence[str]) -> str:
    number = 1
    while (free := name if number == 1 else f"{name}{number}") in taken:
        number += 1
    return free
