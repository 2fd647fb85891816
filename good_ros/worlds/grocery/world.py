"""The grocery world: search an inventory, fill a cart, buy it (GOOD, IV-B3)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from types import MappingProxyType

from good_ros.core.errors import WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds.base import ActionOutcome, ObjectView
from good_ros.worlds.grocery.inventory import Inventory, Item, contains, dollars
from good_ros.worlds.grocery.loading import OURS, load_inventory
from good_ros.worlds.grocery.search import AUTO, Search, best, make_search
from good_ros.worlds.grocery.state import (
    ACTIONS,
    ADD,
    BAGS,
    BUY,
    CART,
    REMOVE,
    RULES,
    SEARCH,
    TASK_COMPLETED,
    ActionFailed,
    StoreState,
    amount,
    listed,
    quantity_of,
)

QUANTITIES = range(1, 13)
FOUND_SHOWN = 5
OUT_OF_STOCK_SHARE = 0.2
"""Of the items that have another like them, the share that another seed than 0 sells out."""
CATEGORIES_SHOWN = 40


class GroceryWorld:
    """Implements ``worlds.base.World`` and ``worlds.base.Searchable``; ``reset`` comes first.

    A scene is the name of an inventory: ``store``, or a ``.csv`` or ``.yaml`` file
    (``grocery.loading``). ``search`` is one of ``grocery.search.SEARCHES``.

    Every item is seen all the time as an object whose type is its kind; what is in the cart is
    inside ``cart``, and what is paid inside ``bags``, which are in it. Snapshots are references
    to immutable states.
    """

    name = "grocery"

    def __init__(self, search: str = AUTO) -> None:
        self.search_kind = search
        self.scene = ""
        self._state = StoreState(Inventory(""))
        self._index: Search | None = None
        self._views: dict[str, ObjectView] = {}

    @property
    def state(self) -> StoreState:
        return self._state

    def reset(self, scene: str, seed: int = 0) -> None:
        """A full store and an empty cart; another seed than 0 sells some items out, none that
        is the only one of its kind and labels.

        Raises WorldError where the inventory cannot be read.
        """
        inventory = load_inventory(scene or OURS)
        if inventory is not self._state.inventory:
            self._index = None
            self._views = {}
        self.scene = inventory.name
        self._state = StoreState(inventory, missing=_sold_out(inventory, seed))

    def search(self, term: str, count: int = 1, without: Collection[str] = ()) -> list[str]:
        """Ids of the items that fit a term best, best first, none of ``without`` among them and
        none that is sold out; empty where the store has nothing like it."""
        state = self._state
        if self._index is None:
            self._index = make_search(self.search_kind, state.inventory)

        def fits(item: Item) -> bool:
            return item.id not in without and state.left(item) != 0

        return [item.id for item in best(state.inventory, self._index, term, count, fits)]

    def observe(self) -> list[ObjectView]:
        """The cart, the bags, and every item of the store."""
        places = [
            ObjectView(CART, "Cart", "Cart", frozenset({"receptacle"})),
            ObjectView(BAGS, "Bags", "Bags", frozenset({"receptacle"}), inside=(CART,)),
        ]
        return [*places, *map(self._view, self._state.inventory.items.values())]

    def _view(self, item: Item) -> ObjectView:
        state = self._state
        held, bought, left = state.cart.get(item.id, 0), state.sold.get(item.id, 0), 0
        left = state.left(item) or 0
        known = self._views.get(item.id)
        if known and (known.state["quantity"], known.state["bought"], known.state["left"]) == (
            held,
            bought,
            left,
        ):
            return known
        view = self._views[item.id] = ObjectView(
            id=item.id,
            name=item.name,
            type=item.kind,
            affordances=frozenset({"purchasable"}),
            state={
                "quantity": held,
                "bought": bought,
                "left": left,
                "price_cents": item.price_cents,
                "price": dollars(item.price_cents),
                "unit": item.unit,
                "category": item.category,
                "tags": item.tags,
                "allergens_known": item.allergens_known,
            },
            inside=(CART,) if held else (BAGS, CART) if bought else (),
        )
        return view

    def possible_actions(self, relevant: Sequence[str]) -> list[Step]:
        """Adding each relevant item, in any quantity that the cart does not hold yet; taking out
        what is in the cart, searching for each kind, buying."""
        items, cart = self._state.inventory.items, self._state.cart
        chosen = [items[i] for i in dict.fromkeys(relevant) if i in items]
        steps = [
            _adding(item, count)
            for count in QUANTITIES
            for item in chosen
            if count > cart.get(item.id, 0)
        ]
        for item_id in cart:
            label = f"take {items[item_id].name} out of the cart"
            steps.append(Step(REMOVE, item_id, label=label))
        for kind in dict.fromkeys(item.kind for item in chosen):
            steps.append(Step(SEARCH, label=f"search the store for {kind}", argument=kind))
        steps.append(self.closing_step())
        steps.append(Step(TASK_COMPLETED, label="task completed"))
        return steps

    def closing_step(self) -> Step:
        """The step with which a person's task ends here."""
        return Step(BUY, label="buy the basket")

    def act(self, step: Step) -> ActionOutcome:
        if step.action not in ACTIONS:
            return ActionOutcome(
                False,
                error_code=ErrorCode.INVALID_ACTION,
                error_msg=f"there is no action {step.action!r}; there are {', '.join(ACTIONS)}",
            )
        try:
            if step.action == SEARCH:
                self._state, effect = self._found(step)
            else:
                self._state, effect = RULES[step.action](self._state, step)
        except ActionFailed as failure:
            return ActionOutcome(
                False, error_code=failure.code, error_msg=failure.message, detail=failure.message
            )
        return ActionOutcome(True, effect)

    def _found(self, step: Step) -> tuple[StoreState, str]:
        """The state after a search, and what it found. Raises ActionFailed NOT_FOUND."""
        found = self.search(step.argument, FOUND_SHOWN)
        if not found:
            raise ActionFailed(ErrorCode.NOT_FOUND, f"the store has nothing like {step.argument!r}")
        items = [self._state.inventory.items[item_id] for item_id in found]
        words = ", ".join(f"{item.name} {dollars(item.price_cents)}" for item in items)
        return replace(self._state, found=tuple(found)), f"found {words}"

    def snapshot(self) -> object:
        return (self.scene, self._state)

    def restore(self, snapshot: object) -> None:
        match snapshot:
            case (str(scene), StoreState() as state):
                if state.inventory is not self._state.inventory:
                    self._index = None
                    self._views = {}
                self.scene, self._state = scene, state
            case _:
                raise WorldError("restore takes what snapshot of a grocery world gave")

    def verify(self, step: Step) -> str | None:
        state = self._state
        if step.action not in ACTIONS:
            return f"there is no action {step.action!r}"
        if step.action in (ADD, REMOVE) and step.object_id not in state.inventory.items:
            return f"the store has no item {step.object_id!r}"
        try:
            so = {
                ADD: lambda: state.cart.get(step.object_id, 0) >= quantity_of(step),
                REMOVE: lambda: step.object_id not in state.cart,
                BUY: lambda: bool(state.sold) and not state.cart,
                SEARCH: lambda: bool(state.found),
                TASK_COMPLETED: lambda: True,
            }[step.action]()
        except ActionFailed as failure:
            return failure.message
        return None if so else f"after '{step.label or step.action}' it is not so"

    def describe(self) -> str:
        """The cart with prices and its total, what was bought, and what the store sells."""
        state = self._state
        items = state.inventory.items
        total = f" ({dollars(state.total_cents)} in all)" if state.cart else ""
        parts = [f"in the cart: {listed(state) or 'nothing'}{total}"]
        if state.sold:
            bought = ", ".join(amount(items[i], count) for i, count in state.sold.items())
            parts.append(f"bought: {bought} for {dollars(state.paid_cents)}")
        categories = state.inventory.categories[:CATEGORIES_SHOWN]
        if categories:
            parts.append(f"the store sells {', '.join(categories)}")
        return "; ".join(parts)

    def close(self) -> None:
        """Nothing is held outside of this process."""


def _adding(item: Item, count: int) -> Step:
    label = f"add {item.name}" if count == 1 else f"add {count} of {item.name}"
    return Step(ADD, item.id, CART, label, str(count) if count > 1 else "")


def _sold_out(inventory: Inventory, seed: int) -> MappingProxyType[str, int]:
    """What is missing from the stock at the start: nothing for seed 0."""
    if not seed:
        return MappingProxyType({})
    generator = random.Random(seed)
    alike: dict[str, list[Item]] = defaultdict(list)
    for item in inventory.items.values():
        alike[item.kind].append(item)
    missing: dict[str, int] = {}
    for item in inventory.items.values():
        others = [o for o in alike[item.kind] if o is not item and o.id not in missing]
        replaceable = any(_can_replace(o, item) for o in others)
        if item.stock and replaceable and generator.random() < OUT_OF_STOCK_SHARE:
            missing[item.id] = item.stock
    return MappingProxyType(missing)


def _can_replace(other: Item, item: Item) -> bool:
    """Whether it suits everybody whom the item suits."""
    carried = {tag for tag in other.tags if tag.startswith(contains(""))}
    return other.tags >= {t for t in item.tags if not t.startswith(contains(""))} and (
        carried <= item.tags
    )
