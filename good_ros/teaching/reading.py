"""Teaching in free words, read by a language model into a typed definition (constrained JSON)."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from good_ros.core.errors import InputError
from good_ros.language import prompts
from good_ros.language.generator import Generator, Sampling
from good_ros.language.json_reply import parse
from good_ros.teaching.behaviours import (
    MAX_ARGUMENTS,
    MAX_STEPS,
    OBJECT,
    PLACE,
    TYPES,
    Argument,
    Behaviour,
    Call,
    Vocabulary,
)
from good_ros.teaching.forms import Draft
from good_ros.teaching.room import Room

TOKENS = 300
GOAL, BEHAVIOUR, UNCLEAR = "goal", "behaviour", "unclear"


def schema(vocabulary: Vocabulary, room: Room) -> Mapping[str, Any]:
    """What the model's reply must be: known behaviours, and things and places of the room."""
    text = {"type": "string", "maxLength": 200}
    name = {"type": "string", "maxLength": 40}
    fields = {
        "kind": {"enum": [GOAL, BEHAVIOUR, UNCLEAR]},
        "goal": text,
        "name": name,
        "arguments": {
            "type": "array",
            "maxItems": MAX_ARGUMENTS,
            "items": _object({"name": name, "type": {"enum": list(TYPES)}}),
        },
        "steps": {
            "type": "array",
            "maxItems": MAX_STEPS,
            "items": _object(
                {
                    "do": {"enum": vocabulary.names},
                    "with": {"type": "array", "maxItems": MAX_ARGUMENTS, "items": name},
                }
            ),
        },
        "examples": {"type": "array", "maxItems": 3, "items": text},
    }
    return _object(fields)


def read(
    text: str,
    vocabulary: Vocabulary,
    room: Room,
    generator: Generator,
    *,
    seed: int = 0,
    deadline_s: float | None = None,
    cancel: threading.Event | None = None,
) -> Draft | None:
    """What a sentence teaches; None where it teaches nothing.

    What the model gives is checked as any definition is. Raises ModelError where the generator
    fails or its reply is not of the form.
    """
    form = schema(vocabulary, room)
    messages = prompts.load("teach").messages(
        behaviours="\n  ".join(
            b.signature + (f", made of {', '.join(map(str, b.steps))}" if b.steps else "")
            for b in vocabulary.behaviours
        ),
        things=", ".join(n for n, t in room.types.items() if t == OBJECT),
        places=", ".join(n for n, t in room.types.items() if t == PLACE),
        text=text,
    )
    reply = generator.generate(messages, Sampling(TOKENS, 0.0, seed), form, deadline_s, cancel)
    found = parse(reply.text, form)
    if found["kind"] == GOAL and found["goal"].strip():
        return Draft(goal=found["goal"])
    if found["kind"] == BEHAVIOUR and found["name"].strip():
        return Draft(behaviour=_behaviour(found, room))
    return None


def _behaviour(found: Mapping[str, Any], room: Room) -> Behaviour:
    arguments = tuple(Argument(_name(a["name"]), a["type"]) for a in found["arguments"])
    own = {a.name for a in arguments}

    def value(word: str) -> str:
        if _name(word) in own:
            return _name(word)
        known = room.find(word)
        return known.names[0] if known.is_sure else word

    steps = tuple(Call(s["do"], tuple(value(w) for w in s["with"])) for s in found["steps"])
    # An example that does not name each argument in braces would not be one; the name itself is.
    examples = [e.lower() for e in found["examples"]]
    kept = [e for e in examples if sorted(re.findall(r"\{(\w*)\}", e)) == sorted(own)]
    return Behaviour(_name(found["name"]), arguments, steps, tuple(dict.fromkeys(kept)))


def _name(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", text.strip(" {}<>").lower()).strip("_")
    if not name:
        raise InputError(f"{text!r} is no name")
    return name


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
