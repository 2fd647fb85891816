"""Conditions on a room that can be checked: small predicates over what a world shows.

A predicate is a mapping with one key: ``in: [things, receptacle]`` (``on`` is the same),
``open: thing``, ``closed: thing``, ``toggled: [thing, true]``, ``held: thing``, ``not:``,
``all:`` or ``any:`` of further predicates. A thing is a type (``Bread``: at least one of
them), ``each Bread`` (every one), or an object's short name (``Mug_2``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from good_ros.core.errors import InputError
from good_ros.worlds.base import ObjectView

Predicate = Mapping[str, Any]
KINDS = ("in", "on", "open", "closed", "toggled", "held", "not", "all", "any")


def holds(predicate: Predicate, objects: Sequence[ObjectView]) -> bool:
    """Whether the predicate is true of the room.

    Raises InputError for an unknown kind of predicate, or a thing that the room has none of.
    """
    kind, value = _parts(predicate)
    if kind in ("in", "on"):
        thing, receptacle = _pair(predicate, value)
        places = {o.id for o in _find(receptacle, objects)}
        return _test(thing, objects, lambda o: bool(places & set(o.inside)))
    if kind == "toggled":
        thing, wanted = _pair(predicate, value)
        return _test(thing, objects, lambda o: bool(o.state.get("toggled")) == bool(wanted))
    if kind in ("open", "closed"):
        wanted_open = kind == "open"
        return _test(value, objects, lambda o: bool(o.state.get("open")) == wanted_open)
    if kind == "held":
        return _test(value, objects, lambda o: bool(o.state.get("held")))
    if kind == "not":
        return not holds(value, objects)
    results = [holds(part, objects) for part in value]
    return all(results) if kind == "all" else any(results)


def explain(predicate: Predicate) -> str:
    """The predicate in words."""
    kind, value = _parts(predicate)
    if kind in ("in", "on"):
        thing, receptacle = _pair(predicate, value)
        return f"{thing} is {kind} {receptacle}"
    if kind == "toggled":
        thing, wanted = _pair(predicate, value)
        return f"{thing} is {'on' if wanted else 'off'}"
    if kind in ("open", "closed", "held"):
        return f"{value} is {kind}"
    if kind == "not":
        return f"not ({explain(value)})"
    return f" {'and' if kind == 'all' else 'or'} ".join(explain(part) for part in value)


def _parts(predicate: Predicate) -> tuple[str, Any]:
    if not isinstance(predicate, Mapping) or len(predicate) != 1:
        raise InputError(f"a predicate is a mapping with one key; this is {predicate!r}")
    kind, value = next(iter(predicate.items()))
    # YAML 1.1 reads a bare `on` as true.
    kind = "on" if kind is True else kind
    if kind not in KINDS:
        raise InputError(f"there is no predicate {kind!r}; there are {', '.join(KINDS)}")
    return str(kind), value


def _pair(predicate: Predicate, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise InputError(f"{dict(predicate)!r} needs a list of two")
    return value[0], value[1]


def _find(thing: Any, objects: Sequence[ObjectView]) -> list[ObjectView]:
    name = str(thing).removeprefix("each ")
    found = [o for o in objects if name in (o.name, o.type)]
    if not found:
        raise InputError(f"there is no {name!r} in the room")
    return found


def _test(
    thing: Any, objects: Sequence[ObjectView], condition: Callable[[ObjectView], bool]
) -> bool:
    results = [condition(o) for o in _find(thing, objects)]
    return all(results) if str(thing).startswith("each ") else any(results)
