"""What has become of a store and a cart, and what each action does to it; immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.grocery.inventory import Inventory, Item, dollars

ADD, REMOVE, SEARCH, BUY = "AddToCart", "RemoveFromCart", "SearchInventory", "BuyBasket"
TASK_COMPLETED = "TaskCompleted"
ACTIONS = (SEARCH, ADD, REMOVE, BUY, TASK_COMPLETED)
CART, BAGS = "cart", "bags"
"""Ids of where things are: the cart, and in it the bags of what is paid."""
MAX_QUANTITY = 99
NOTHING: Mapping[str, int] = MappingProxyType({})


class ActionFailed(Exception):
    """An action that the store does not carry out; the state is unchanged."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class StoreState:
    """Quantities by item id, in the order in which they came.

    ``sold`` is what this person has bought; ``missing`` what the store lacks of its inventory's
    stock. ``paid_cents`` is the sum of all purchases.
    """

    inventory: Inventory
    cart: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    sold: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    paid_cents: int = 0
    missing: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    found: tuple[str, ...] = ()
    """Ids of what the last search found, best first."""

    def left(self, item: Item) -> int | None:
        """How many of an item the store still has, those in the cart included; None where it
        does not count them."""
        if item.stock is None:
            return None
        gone = self.missing.get(item.id, 0) + self.sold.get(item.id, 0)
        return max(item.stock - gone, 0)

    @property
    def total_cents(self) -> int:
        """The price of the cart."""
        return price(self.inventory, self.cart)


def price(inventory: Inventory, quantities: Mapping[str, int]) -> int:
    """What so many of each item cost, in cents."""
    return sum(inventory.items[i].price_cents * count for i, count in quantities.items())


def quantity_of(step: Step) -> int:
    """How many a step is about; 1 where it does not say. Raises ActionFailed INVALID_ACTION."""
    if not step.argument:
        return 1
    if step.argument.isascii() and step.argument.isdigit():
        number = int(step.argument)
        if 1 <= number <= MAX_QUANTITY:
            return number
    raise ActionFailed(
        ErrorCode.INVALID_ACTION,
        f"{step.argument!r} is no quantity from 1 to {MAX_QUANTITY}",
    )


def add(state: StoreState, step: Step) -> tuple[StoreState, str]:
    """The cart then holds as many of the item as the step says, in all."""
    item = find(state, step)
    wanted = quantity_of(step)
    if (held := state.cart.get(item.id, 0)) >= wanted:
        raise ActionFailed(ErrorCode.WRONG_STATE, f"the cart holds {held} of {item.name} already")
    left = state.left(item)
    if left is not None and wanted > left:
        words = f"only {left} of {item.name} left" if left else f"{item.name} is out of stock"
        raise ActionFailed(ErrorCode.OUT_OF_STOCK, words)
    now = replace(state, cart=MappingProxyType({**state.cart, item.id: wanted}))
    return now, f"{amount(item, wanted)} in the cart"


def remove(state: StoreState, step: Step) -> tuple[StoreState, str]:
    """None of the item is in the cart any more."""
    item = find(state, step)
    if item.id not in state.cart:
        raise ActionFailed(ErrorCode.WRONG_STATE, f"{item.name} is not in the cart")
    cart = {i: count for i, count in state.cart.items() if i != item.id}
    return replace(state, cart=MappingProxyType(cart)), f"{item.name} is out of the cart"


def buy(state: StoreState, step: Step) -> tuple[StoreState, str]:
    """What is in the cart is paid and leaves the store's stock; the cart is empty then."""
    if not state.cart:
        raise ActionFailed(ErrorCode.WRONG_STATE, "the cart is empty")
    for item_id, count in state.cart.items():
        left = state.left(state.inventory.items[item_id])
        if left is not None and count > left:
            name = state.inventory.items[item_id].name
            raise ActionFailed(ErrorCode.OUT_OF_STOCK, f"only {left} of {name} left")
    sold = dict(state.sold)
    for item_id, count in state.cart.items():
        sold[item_id] = sold.get(item_id, 0) + count
    now = replace(
        state,
        cart=NOTHING,
        sold=MappingProxyType(sold),
        paid_cents=state.paid_cents + state.total_cents,
    )
    return now, f"the basket is bought: {listed(state)}, {dollars(state.total_cents)} in all"


def complete(state: StoreState, step: Step) -> tuple[StoreState, str]:
    return state, "the task is completed"


RULES: Mapping[str, Callable[[StoreState, Step], tuple[StoreState, str]]] = {
    ADD: add,
    REMOVE: remove,
    BUY: buy,
    TASK_COMPLETED: complete,
}
"""What each action does; a search is done by the world, which holds the index."""


def find(state: StoreState, step: Step) -> Item:
    """The item that a step is about. Raises ActionFailed NOT_FOUND."""
    item = state.inventory.items.get(step.object_id)
    if item is None:
        raise ActionFailed(ErrorCode.NOT_FOUND, f"the store has no item {step.object_id!r}")
    return item


def amount(item: Item, count: int) -> str:
    """An item with its number: ``2 × Plain Flour (1 kg)``."""
    unit = f" ({item.unit})" if item.unit else ""
    return f"{count} × {item.name}{unit}"


def listed(state: StoreState) -> str:
    """What is in the cart with prices, in words."""
    items = state.inventory.items
    return ", ".join(
        f"{amount(items[i], count)} {dollars(items[i].price_cents * count)}"
        for i, count in state.cart.items()
    )
