"""Reading a model's reply as JSON of a given schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jsonschema

from good_ros.core.errors import MalformedReply

MAX_REPLY_CHARS = 100_000
FENCE = re.compile(r"\A```[a-zA-Z]*\s*\n(.*?)\n?```\Z", re.DOTALL)


def parse(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON document that ``text`` is, bare or in one code fence.

    Raises MalformedReply, with one line of what is wrong, for anything else: nothing, prose
    around it, a document cut short, one that does not match ``schema``, or a reply of more
    than MAX_REPLY_CHARS characters.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise MalformedReply(
            f"the reply has {len(text)} characters, the limit is {MAX_REPLY_CHARS}"
        )
    document = text.strip()
    if fenced := FENCE.match(document):
        document = fenced[1].strip()
    if not document:
        raise MalformedReply("the reply is empty; expected JSON")
    try:
        value = json.loads(document)
    except json.JSONDecodeError as error:
        where = "is cut short" if error.pos >= len(document) - 1 else "is not JSON"
        raise MalformedReply(f"the reply {where} at character {error.pos}: {error.msg}") from error
    except RecursionError as error:
        raise MalformedReply("the reply is nested too deep") from error
    problem = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(schema).iter_errors(value)
    )
    if problem is not None:
        where = "/".join(str(part) for part in problem.absolute_path) or "the document"
        raise MalformedReply(f"the reply does not fit at {where}: {problem.message[:200]}")
    return value
