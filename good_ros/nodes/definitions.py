"""The text of a message's definition, with those that it uses, from its Python class.

MCAP files carry it, so that a reader needs no built interfaces. The ``.msg`` files themselves are
not always found from Python (wheels in a virtual environment), the classes are.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

SEPARATOR = "=" * 80
IDL_NAMES = {"boolean": "bool", "octet": "byte", "float": "float32", "double": "float64"}
FIELD = re.compile(r"(?:sequence<(?P<items>[^,>]+(?:<\d+>)?)(?:, (?P<most>\d+))?>|(?P<one>[^\[]+))"
                   r"(?P<count>\[\d+\])?")  # fmt: skip


def type_name(message_type: Any) -> str:
    """A class's full name, such as ``good_ros/msg/GoalBelief``."""
    return f"{message_type.__module__.split('.')[0]}/msg/{message_type.__name__}"


def definition(message_type: Any) -> str:
    """The fields of ``message_type``, then those of every message within it."""
    parts = [_fields(message_type)]
    seen: set[Any] = set()
    todo = list(_within(message_type))
    while todo:
        inner = todo.pop(0)
        if inner not in seen:
            seen.add(inner)
            name = type_name(inner).replace("/msg/", "/")
            parts.append(f"{SEPARATOR}\nMSG: {name}\n{_fields(inner)}")
            todo += _within(inner)
    return "\n".join(parts)


def _parse(field: str) -> tuple[str, str]:
    """A field's type as (type of one, what makes it an array)."""
    match = FIELD.fullmatch(field)
    if match is None:
        raise ValueError(f"{field!r} is no field type that is known")
    name = (match["items"] or match["one"]).replace("string<", "string<=").replace(">", "")
    array = f"[<={match['most']}]" if match["most"] else "[]" if match["items"] else ""
    return IDL_NAMES.get(name, name), array or match["count"] or ""


def _fields(message_type: Any) -> str:
    return "\n".join(
        f"{''.join(_parse(kind))} {name}"
        for name, kind in message_type.get_fields_and_field_types().items()
    )


def _within(message_type: Any) -> Iterator[Any]:
    for kind in message_type.get_fields_and_field_types().values():
        package, slash, name = _parse(kind)[0].partition("/")
        if slash:
            yield getattr(importlib.import_module(f"{package}.msg"), name)
