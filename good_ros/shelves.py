"""A store and a cart as tables in a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from good_ros.core.errors import InputError
from good_ros.picture import recorded_steps
from good_ros.worlds.grocery.inventory import dollars
from good_ros.worlds.grocery.world import GroceryWorld


def follow(world: GroceryWorld, session: Path) -> None:
    """Do what a session did again. Raises InputError where it cannot be."""
    for step in recorded_steps(session):
        outcome = world.act(step)
        if not outcome.success:
            raise InputError(
                f"{session}: '{step.label}' cannot be done again in {world.scene}: "
                f"{outcome.error_msg} (was the session in another store?)"
            )


def shelves(world: GroceryWorld, console: Console) -> None:
    """Print what the store sells, and what is in the cart and bought."""
    state = world.state
    table = Table(title=escape(f"{world.scene}: {len(state.inventory.items)} items"))
    table.add_column("category")
    table.add_column("item")
    table.add_column("unit")
    table.add_column("price", justify="right")
    table.add_column("left", justify="right")
    table.add_column("labels")
    category = ""
    for item in state.inventory.items.values():
        left = state.left(item)
        table.add_row(
            escape(item.category) if item.category != category else "",
            escape(item.name),
            escape(item.unit),
            dollars(item.price_cents),
            "" if left is None else str(left),
            escape(", ".join(sorted(item.tags))),
        )
        category = item.category
    console.print(table)
    console.print(escape(world.describe().partition("; the store sells")[0]))
