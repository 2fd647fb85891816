"""The predicate ``basket``: what is in a person's cart or bought, by kind, category and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from good_ros.core.errors import InputError
from good_ros.worlds.base import ObjectView

TEXTS = ("kind", "category", "name")
LISTS = ("tags", "without")
FIELDS = (*TEXTS, *LISTS, "at_least", "paid")


def check_basket(value: Any) -> None:
    """Raises InputError where it is not of the form of a basket predicate.

    ``kind``, ``category`` and ``name`` are texts or lists of which one has to fit; an item has
    all of ``tags`` and none of ``without``; ``at_least`` is how many there are in all (1);
    ``paid`` counts only what was bought.
    """
    if not isinstance(value, Mapping) or not set(value) <= set(FIELDS):
        raise InputError(f"a basket has {', '.join(FIELDS)}; this: {value!r}")
    for field in (*TEXTS, *LISTS):
        given = value.get(field, [])
        texts = [given] if isinstance(given, str) and field in TEXTS else given
        if not isinstance(texts, list) or not all(isinstance(t, str) and t for t in texts):
            raise InputError(f"a basket's {field} is a text or a list of them, not {given!r}")
    at_least = value.get("at_least", 1)
    if isinstance(at_least, bool) or not isinstance(at_least, int) or at_least < 1:
        raise InputError(f"a basket's at_least is a whole number from 1 on, not {at_least!r}")
    if not isinstance(value.get("paid", False), bool):
        raise InputError(f"a basket's paid is true or false, not {value['paid']!r}")


def holds_basket(value: Mapping[str, Any], objects: Sequence[ObjectView]) -> bool:
    """Whether so many of such items are in the cart or bought."""
    count = 0
    for item in objects:
        quantity = int(item.state.get("bought", 0))
        if not value.get("paid"):
            quantity += int(item.state.get("quantity", 0))
        if quantity and fits_basket(value, item):
            count += quantity
    return count >= value.get("at_least", 1)


def fits_basket(value: Mapping[str, Any], item: ObjectView) -> bool:
    """Whether an item is one that the predicate is about, wherever it is."""
    tags = item.state.get("tags", ())
    of_item = {"kind": item.type, "category": item.state.get("category"), "name": item.name}
    return (
        all(of_item[field] in _listed(value[field]) for field in TEXTS if field in value)
        and all(tag in tags for tag in value.get("tags", ()))
        and not any(tag in tags for tag in value.get("without", ()))
    )


def explain_basket(value: Mapping[str, Any]) -> str:
    """The predicate in words."""
    what = " or ".join(text for field in TEXTS for text in _listed(value.get(field, [])))
    words = [what or "something"]
    if tags := value.get("tags"):
        words.append(f"({', '.join(tags)})")
    if without := value.get("without"):
        words.append(f"without '{' or '.join(without)}'")
    at_least = value.get("at_least", 1)
    number = f"at least {at_least} of " if at_least > 1 else ""
    return f"{number}{' '.join(words)} is {'bought' if value.get('paid') else 'in the basket'}"


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
