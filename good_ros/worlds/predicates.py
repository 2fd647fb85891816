"""Conditions on a room that can be checked: small predicates over what a world shows.

A predicate is a mapping with one key: ``in: [things, receptacle]`` (``on`` is the same),
``open: thing``, ``closed: thing``, ``toggled: [thing, true]``, ``held: thing``, ``not:``,
``all:`` or ``any:`` of further predicates. A thing is a type (``Bread``: at least one of
them), ``each Bread`` (every one), or an object's short name (``Mug_2``). ``basket:`` is said of
what is bought or to be bought (``worlds.basket``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from good_ros.core.errors import InputError
from good_ros.worlds.base import ObjectView
from good_ros.worlds.basket import check_basket, explain_basket, holds_basket

Predicate = Mapping[str, Any]
KINDS = ("in", "on", "open", "closed", "toggled", "held", "basket", "not", "all", "any")


def holds(predicate: Predicate, objects: Sequence[ObjectView]) -> bool:
    """Whether the predicate is true of the room.

    A thing in pieces (sliced bread) counts as where, and as what, all of its pieces are.
    Raises InputError for an unknown kind of predicate, or a thing that the room has none of.
    """
    kind, value = _parts(predicate)
    if kind in ("in", "on"):
        thing, receptacle = value
        places = {o.id for whole in _find(receptacle, objects) for o in whole}
        return _test(thing, objects, lambda o: bool(places & set(o.inside)))
    if kind == "toggled":
        thing, wanted = value
        return _test(thing, objects, lambda o: bool(o.state.get("toggled")) == wanted)
    if kind in ("open", "closed"):
        wanted_open = kind == "open"
        return _test(value, objects, lambda o: bool(o.state.get("open")) == wanted_open)
    if kind == "held":
        return _test(value, objects, lambda o: bool(o.state.get("held")))
    if kind == "basket":
        return holds_basket(value, objects)
    if kind == "not":
        return not holds(value, objects)
    results = [holds(part, objects) for part in value]
    return all(results) if kind == "all" else any(results)


def explain(predicate: Predicate) -> str:
    """The predicate in words. Raises InputError where it is none."""
    kind, value = _parts(predicate)
    if kind in ("in", "on"):
        return f"{value[0]} is {kind} {value[1]}"
    if kind == "toggled":
        return f"{value[0]} is {'on' if value[1] else 'off'}"
    if kind in ("open", "closed", "held"):
        return f"{value} is {kind}"
    if kind == "basket":
        return explain_basket(value)
    if kind == "not":
        return f"not ({explain(value)})"
    return f" {'and' if kind == 'all' else 'or'} ".join(explain(part) for part in value)


def _parts(predicate: Predicate) -> tuple[str, Any]:
    """The kind and what it is said of, which has the form that the kind needs."""
    if not isinstance(predicate, Mapping) or len(predicate) != 1:
        raise InputError(f"a predicate is a mapping with one key; this is {predicate!r}")
    kind, value = next(iter(predicate.items()))
    # YAML 1.1 reads a bare `on` as true.
    kind = "on" if kind is True else kind
    if kind not in KINDS:
        raise InputError(f"there is no predicate {kind!r}; there are {', '.join(KINDS)}")
    if kind == "basket":
        check_basket(value)
    elif kind in ("all", "any"):
        if not isinstance(value, list | tuple) or not value:
            raise InputError(f"{predicate!r} needs a list of predicates")
    elif kind in ("in", "on", "toggled"):
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise InputError(f"{predicate!r} needs a list of two")
        if kind == "toggled" and not isinstance(value[1], bool):
            raise InputError(f"{predicate!r} needs true or false as its second")
    for name in _named(kind, value):
        if not isinstance(name, str) or not name:
            raise InputError(f"{predicate!r} needs the name or the type of a thing")
    return str(kind), value


def _named(kind: str, value: Any) -> Sequence[Any]:
    """What a predicate of a kind names as things."""
    if kind in ("in", "on"):
        return list(value)
    if kind == "toggled":
        return [value[0]]
    return [value] if kind in ("open", "closed", "held") else []


def _find(thing: str, objects: Sequence[ObjectView]) -> list[list[ObjectView]]:
    """The things of a name or type, each as the one object that it is, or as its pieces."""
    name = thing.removeprefix("each ")
    found = [[o] for o in objects if name in (o.name, o.type)]
    pieces: dict[str, list[ObjectView]] = {}
    for item in objects:
        whole = str(item.state.get("piece_of") or "")
        if whole and name in (whole, whole.rpartition("_")[0]):
            pieces.setdefault(whole, []).append(item)
    found += pieces.values()
    if not found:
        raise InputError(f"there is no {name!r} in the room")
    return found


def _test(
    thing: str, objects: Sequence[ObjectView], condition: Callable[[ObjectView], bool]
) -> bool:
    results = [all(map(condition, whole)) for whole in _find(thing, objects)]
    return all(results) if thing.startswith("each ") else any(results)
