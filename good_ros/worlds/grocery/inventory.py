"""What a store sells: items with prices in whole cents, stock, diets and allergens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation

MAX_PRICE_CENTS = 10_000_00
NON_FOOD = "non-food"


def contains(allergen: str) -> str:
    """The tag of an item that carries an allergen."""
    return f"contains {allergen}"


@dataclass(frozen=True)
class Item:
    """One article.

    ``name`` is unique in its inventory and ``kind`` what sort of thing it is (``flour``), by
    which several articles are alike. ``stock`` is None where the store does not count it.
    ``tags`` are the diets that it suits (``vegan``, ``organic``), what it carries
    (``contains gluten``) and what else is known of it (``iron-rich``, ``non-food``).
    """

    id: str
    name: str
    kind: str
    category: str
    price_cents: int
    unit: str = ""
    stock: int | None = None
    tags: frozenset[str] = frozenset()
    allergens_known: bool = True
    """False where nothing is stated of allergens, so that no tag does not mean free of it."""


@dataclass(frozen=True)
class Inventory:
    """The items of a store by id, in the order of its file; ``problems`` are the rows that were
    passed over, one line each."""

    name: str
    items: Mapping[str, Item] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def categories(self) -> list[str]:
        return list(dict.fromkeys(item.category for item in self.items.values() if item.category))


def dollars(cents: int) -> str:
    """An amount in whole cents for people and prompts."""
    return f"${cents // 100}.{cents % 100:02d}"


def cents(text: str) -> int:
    """A price such as ``4.99``, ``$1,299.00`` or ``3`` in whole cents.

    Raises ValueError where it is none, negative, has parts of a cent, or is over
    MAX_PRICE_CENTS.
    """
    digits = re.sub(r"^[^\d.+-]+|[\s,_]", "", text.strip())
    try:
        amount = Decimal(digits) * 100
    except InvalidOperation as error:
        raise ValueError(f"the price {text!r} is no number") from error
    if not amount.is_finite() or amount != int(amount):
        raise ValueError(f"the price {text!r} is no amount in whole cents")
    if not 0 <= amount <= MAX_PRICE_CENTS:
        raise ValueError(f"the price {text!r} is not from 0 to {dollars(MAX_PRICE_CENTS)}")
    return int(amount)


def unique(items: Iterable[Item]) -> dict[str, Item]:
    """The items by id; ids and names that come again get a number."""
    found: dict[str, Item] = {}
    names: set[str] = set()
    for item in items:
        number, new = 1, item
        while new.id in found or new.name.casefold() in names:
            number += 1
            new = replace(item, id=f"{item.id}-{number}", name=f"{item.name} ({number})")
        found[new.id] = new
        names.add(new.name.casefold())
    return found
