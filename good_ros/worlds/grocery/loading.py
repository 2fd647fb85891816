"""Reading an inventory from a CSV file, ours or anybody's (docs/worlds.md has the format)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import WorldError
from good_ros.worlds.grocery.inventory import Inventory, Item, cents, contains, unique

OURS = "store"
FOLDER = Path(__file__).parent
MAX_NAME_CHARS = 160
MAX_TAG_CHARS = 40
MAX_ROWS = 100_000
MAX_STOCK = 1_000_000

HEADINGS: dict[str, tuple[str, ...]] = {
    "id": ("id", "sku", "item_id", "product_id"),
    "name": ("name", "item", "product", "title", "product_name", "item_name"),
    "kind": ("kind", "type", "sub_category", "subcategory"),
    "category": ("category", "department", "aisle", "section"),
    "price": ("price", "price_usd", "unit_price", "cost", "price_per_unit"),
    "price_cents": ("price_cents", "cents"),
    "unit": ("unit", "size", "quantity_unit", "package"),
    "stock": ("stock", "in_stock", "inventory", "units_in_stock", "stock_quantity"),
    "diets": ("diets", "diet", "dietary", "labels"),
    "allergens": ("allergens", "allergen", "contains"),
    "tags": ("tags", "features", "keywords"),
}
"""By column of ours, the headings under which it is looked for where no mapping is given."""

TOLD_BY_NAME = {
    "organic": r"\borganic\b",
    "vegan": r"\bvegan\b",
    "vegetarian": r"\b(vegan|vegetarian)\b",
    "halal": r"\bhalal\b",
    "kosher": r"\bkosher\b",
    "gluten-free": r"\bgluten[ -]free\b",
    "dairy-free": r"\b(dairy[ -]free|vegan)\b",
    "egg-free": r"\b(egg[ -]free|vegan)\b",
    "nuts-free": r"\bnut[ -]free\b",
}
"""Tags that an item's own name states, for inventories without diets and allergens."""


@dataclass(frozen=True)
class Source:
    """A CSV file, and by column of ours the heading that it has there."""

    path: Path
    columns: Mapping[str, str] = field(default_factory=dict)


def load_inventory(scene: str) -> Inventory:
    """The inventory ``store`` that comes with the package, that of a ``.csv`` file, or of a
    ``.yaml`` file with ``file`` and ``columns``.

    Rows that cannot be used are passed over and told in ``problems`` by their line. Raises
    WorldError where there is no such file, it has no name or price column, or no row is left.
    """
    if scene == OURS:
        return _ours()
    path = Path(scene).expanduser()
    if path.suffix.lower() in (".yaml", ".yml"):
        return _read(_described(path), scene)
    if path.suffix.lower() == ".csv":
        return _read(Source(path), scene)
    raise WorldError(
        f"there is no inventory {scene!r}; there is {OURS!r}, or name a .csv file, or a .yaml "
        "file that says how its columns are called"
    )


@cache
def _ours() -> Inventory:
    return _read(Source(FOLDER / "store.csv"), OURS)


def _described(path: Path) -> Source:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WorldError(f"the inventory {path} cannot be read: {error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise WorldError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, Mapping) or not {"file"} <= set(data) <= {"file", "columns"}:
        raise WorldError(f"{path} must have file, and may have columns")
    file, columns = data["file"], data.get("columns") or {}
    if not isinstance(file, str) or not file:
        raise WorldError(f"{path}: file must be the CSV file's path")
    if not isinstance(columns, Mapping) or not all(
        name in HEADINGS and isinstance(heading, str) for name, heading in columns.items()
    ):
        raise WorldError(
            f"{path}: columns says for some of {', '.join(HEADINGS)} what its heading is"
        )
    return Source(path.parent / Path(file).expanduser(), columns)


def _read(source: Source, name: str) -> Inventory:
    try:
        with source.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            columns = _columns(next(reader, []), source)
            items, problems = _rows(reader, columns)
    except OSError as error:
        raise WorldError(f"the inventory {source.path} cannot be read: {error}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise WorldError(f"{source.path} is not CSV in UTF-8: {error}") from error
    if not items:
        reason = f"; {problems[0]}" if problems else ""
        raise WorldError(f"{source.path} has no row that can be used{reason}")
    return Inventory(name, unique(items), tuple(problems))


def _columns(headings: list[str], source: Source) -> dict[str, int]:
    """By column of ours, its place in the file. Raises WorldError."""
    places = {_heading(text): number for number, text in reversed(list(enumerate(headings)))}
    found: dict[str, int] = {}
    for column, known in HEADINGS.items():
        if column in source.columns:
            heading = _heading(source.columns[column])
            if heading not in places:
                raise WorldError(
                    f"{source.path} has no column {source.columns[column]!r}; it has "
                    f"{', '.join(headings)}"
                )
            found[column] = places[heading]
        else:
            there = [places[heading] for heading in known if heading in places]
            found |= {column: there[0]} if there else {}
    missing = [] if "name" in found else ["name"]
    missing += [] if {"price", "price_cents"} & set(found) else ["price"]
    if missing:
        raise WorldError(
            f"{source.path} has no column for {' and '.join(missing)}; it has "
            f"{', '.join(headings) or 'no headings'}: say in a .yaml file what they are called"
        )
    return found


def _heading(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")


def _rows(reader: Any, columns: Mapping[str, int]) -> tuple[list[Item], list[str]]:
    items: list[Item] = []
    problems: list[str] = []
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if len(items) >= MAX_ROWS:
            problems.append(f"line {reader.line_num} and after: more than {MAX_ROWS} items")
            break
        cells = {name: row[place].strip() for name, place in columns.items() if place < len(row)}
        try:
            items.append(_item(cells))
        except ValueError as error:
            problems.append(f"line {reader.line_num}: {error}")
    return items, problems


def _item(cells: Mapping[str, str]) -> Item:
    """The item of a row. Raises ValueError with what is wrong."""
    name = _text(cells.get("name", ""), "name", MAX_NAME_CHARS)
    if not re.search(r"\w", name):
        raise ValueError("it has no name")
    if (whole := cells.get("price_cents")) is not None:
        if not re.fullmatch(r"\d{1,7}", whole):
            raise ValueError(f"the price {whole!r} is no whole number of cents")
        price = cents(f"{whole[:-2] or 0}.{whole[-2:]:0>2}")
    else:
        price = cents(cells.get("price", ""))
    category = _text(cells.get("category", ""), "category", MAX_TAG_CHARS)
    diets, allergens = list(_tags(cells, "diets")), list(_tags(cells, "allergens"))
    known = "allergens" in cells
    tags = {*diets, *_tags(cells, "tags"), *map(contains, allergens)}
    tags |= {tag for tag, words in TOLD_BY_NAME.items() if re.search(words, name.casefold())}
    return Item(
        id=_text(cells.get("id", ""), "id", MAX_NAME_CHARS) or _slug(name),
        name=name,
        kind=_text(cells.get("kind", ""), "kind", MAX_TAG_CHARS).lower() or name.lower(),
        category=category,
        price_cents=price,
        unit=_text(cells.get("unit", ""), "unit", MAX_TAG_CHARS),
        stock=_stock(cells.get("stock", "")),
        tags=frozenset(tags),
        allergens_known=known,
    )


def _text(text: str, what: str, most: int) -> str:
    """Names go into prompts and onto screens: one line of printable characters."""
    folded = " ".join(text.split())
    if not folded.isprintable():
        raise ValueError(f"its {what} has a control character")
    if len(folded) > most:
        raise ValueError(f"its {what} has {len(folded)} characters, the limit is {most}")
    return folded


def _tags(cells: Mapping[str, str], column: str) -> Iterator[str]:
    for text in re.split(r"[;|/]", cells.get(column, "")):
        if tag := _text(text, column, MAX_TAG_CHARS).lower():
            yield tag


def _stock(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"\d{1,7}(\.0+)?", text) or float(text) > MAX_STOCK:
        raise ValueError(f"the stock {text!r} is no whole number from 0 to {MAX_STOCK}")
    return int(float(text))


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or "item"
