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
BEGUN = re.compile(r"-|\.|[eE][+-]?|t|tr|tru|f|fa|fal|fals|n|nu|nul|u[0-9a-fA-F]{0,3}")
"""What the end of a document that was cut in mid-number, -word or -escape looks like."""


def parse(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON document that ``text`` is, bare or in one code fence.

    Raises MalformedReply, with one line of what is wrong, for anything else: nothing, prose
    around it, a document cut short, numbers that JSON has not (NaN) or Python does not read,
    one that does not match ``schema``, or a reply of more than MAX_REPLY_CHARS characters.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise MalformedReply(
            f"the reply has {len(text)} characters, the limit is {MAX_REPLY_CHARS}"
        )
    document = text.strip()
    if fenced := FENCE.match(document):
        document = fenced[1].strip()
    elif document.startswith("```") and "```" not in document[3:]:
        raise MalformedReply("the reply is cut short: its code fence is not closed")
    if not document:
        raise MalformedReply("the reply is empty; expected JSON")
    try:
        value = json.loads(document, parse_constant=_refuse)
        problem = jsonschema.exceptions.best_match(
            jsonschema.Draft202012Validator(schema).iter_errors(value)
        )
    except json.JSONDecodeError as error:
        what = "is cut short" if _is_cut(document, error) else "is not JSON"
        raise MalformedReply(f"the reply {what} at character {error.pos}: {error.msg}") from error
    except RecursionError as error:
        raise MalformedReply("the reply is nested too deep") from error
    except ValueError as error:
        # Python refuses whole numbers of thousands of digits with a plain ValueError.
        raise MalformedReply(f"the reply has a number that cannot be read: {error}") from error
    if problem is not None:
        where = "/".join(str(part) for part in problem.absolute_path) or "the document"
        raise MalformedReply(
            f"the reply does not fit at {_one_line(where)}: {_one_line(problem.message)}"
        )
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _is_cut(document: str, error: json.JSONDecodeError) -> bool:
    rest = document[error.pos :]
    return not rest or error.msg.startswith("Unterminated string") or bool(BEGUN.fullmatch(rest))


def _one_line(text: str) -> str:
    # Keys and values are the model's own text, which may hold line ends.
    return " ".join(text.split())[:200]
