"""The environments by name, and the instances of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Environment, Layout, digest, generate
from good_ros.optimize.environments.boxlift import BoxLift
from good_ros.optimize.environments.boxnet import BoxNet1, BoxNet2
from good_ros.optimize.environments.gridworld import Gridworld1, Gridworld2
from good_ros.optimize.environments.strips import Blocksworld, Logistics, problem_layout
from good_ros.optimize.environments.warehouse import Warehouse

OWN: tuple[type[Environment], ...] = (
    BoxNet1,
    BoxNet2,
    BoxLift,
    Warehouse,
    Gridworld1,
    Gridworld2,
    Blocksworld,
    Logistics,
)
PER_SIZE = 4
"""Instances of each size in a run: 16 of four sizes, 12 of three (4.1)."""


def _scienceworld() -> type[Environment]:
    from good_ros.optimize.environments.scienceworld import ScienceWorld

    return ScienceWorld


def _alfworld() -> type[Environment]:
    from good_ros.optimize.environments.alfworld import Alfworld

    return Alfworld


def _webarena() -> type[Environment]:
    from good_ros.optimize.environments.webarena import WebArena

    return WebArena


_OTHERS: dict[str, Callable[[], type[Environment]]] = {
    "scienceworld": _scienceworld,
    "alfworld": _alfworld,
    "webarena": _webarena,
}


def environment_names() -> list[str]:
    """The environments that there are."""
    return [kind.name for kind in OWN] + list(_OTHERS)


def environment(name: str) -> type[Environment]:
    """The environment of a name. Raises InputError where there is none, or its package is not
    installed."""
    for kind in OWN:
        if kind.name == name:
            return kind
    if name in _OTHERS:
        return _OTHERS[name]()
    raise InputError(
        f"there is no environment {name!r}; there are {', '.join(environment_names())}"
    )


@dataclass(frozen=True)
class Instance:
    """One layout with a name of its own; ``id`` holds the size, the seed and the digest."""

    id: str
    layout: Layout

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, "layout": self.layout}


@cache
def _drawn(name: str, size: int, seed: int) -> Instance:
    kind = environment(name)
    layout = generate(kind, kind.sizes[size], seed)
    return Instance(f"{size}-{seed}-{digest(layout)}", layout)


def instances(
    name: str, per_size: int = PER_SIZE, first_seed: int = 0, sizes: Iterable[int] | None = None
) -> list[Instance]:
    """``per_size`` instances of each size, seeds from ``first_seed`` on; byte for byte the same
    wherever they are drawn. ``sizes`` are places in the environment's list, all unless given."""
    kind = environment(name)
    chosen = range(len(kind.sizes)) if sizes is None else list(sizes)
    if any(size not in range(len(kind.sizes)) for size in chosen):
        raise InputError(f"{name} has sizes 0 to {len(kind.sizes) - 1}")
    return [
        _drawn(name, size, seed)
        for size in chosen
        for seed in range(first_seed, first_seed + per_size)
    ]


def read_problems(folder: Path, name: str) -> list[Instance]:
    """The PDDL problems of a folder that are for the environment of a name, by file name.

    Raises InputError where there are none.
    """
    found = []
    for path in sorted(folder.expanduser().glob("*problem*.pddl")):
        domain, layout = problem_layout(path)
        if domain == name:
            found.append(Instance(f"{path.stem}-{digest(layout)}", layout))
    if not found:
        raise InputError(f"{folder} has no PDDL problems for {name}")
    return found
