"""A room from above, with what is in it and the path of what was done (matplotlib)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from good_ros.core.errors import GoodError, InputError
from good_ros.core.plan import Step
from good_ros.recording import read
from good_ros.worlds.household.poses import CELL_M, box_of
from good_ros.worlds.household.state import ObjectState, SceneState
from good_ros.worlds.household.world import HouseholdWorld

INSTALL = "pip install matplotlib"
NOT_DRAWN = frozenset({"Floor", "Ceiling", "Wall"})
INCHES = 11.0
DOTS_PER_INCH = 110


@dataclass(frozen=True)
class Visit:
    """Where the robot stood for a step, and what the step is called."""

    x: float
    z: float
    label: str


def draw(world: HouseholdWorld, path: Path, session: Path | None = None) -> int:
    """Draw the room, and what a session did in it, to a file; the number of its steps.

    The room is drawn as it is after them. Raises InputError where the folder is no session or
    the picture cannot be written, GoodError where matplotlib is missing.
    """
    if path.suffix not in (".png", ".svg"):
        raise InputError(f"a picture is a .png or an .svg, not {path.name!r}")
    figure, steps = _figure(world, session)
    try:
        figure.savefig(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from error
    return steps


def as_svg(world: HouseholdWorld, session: Path | None = None) -> bytes:
    """The same picture as an SVG document. Raises as ``draw`` does."""
    figure, _ = _figure(world, session)
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def _figure(world: HouseholdWorld, session: Path | None) -> tuple[Any, int]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise GoodError(f"drawing needs matplotlib: {INSTALL}") from error
    start = world.state
    visits = list(_follow(world, session)) if session is not None else []
    assert start.grid is not None
    left, right, near, far = start.grid.bounds
    aspect = max(far - near, 0.1) / max(right - left, 0.1)
    figure = Figure(figsize=(INCHES, INCHES * min(max(aspect, 0.4), 1.6)), dpi=DOTS_PER_INCH)
    axes = figure.add_axes((0.06, 0.06, 0.9, 0.87))
    _draw_floor(axes, start)
    _draw_things(axes, world.state)
    _draw_visits(axes, visits)
    axes.set_xlim(left - 0.2, right + 0.2)
    axes.set_ylim(near - 0.2, far + 0.2)
    axes.set_aspect("equal")
    axes.set_xlabel("x in m")
    axes.set_ylabel("z in m")
    axes.set_title(world.scene + (f", {len(visits)} steps" if session is not None else ""))
    return figure, len(visits)


def _follow(world: HouseholdWorld, session: Path) -> Iterator[Visit]:
    """Do what a session did again; where the robot was for each step."""
    for step in recorded_steps(session):
        outcome = world.act(step)
        if not outcome.success:
            raise InputError(
                f"{session}: '{step.label}' cannot be done again in {world.scene}: "
                f"{outcome.error_msg} (was the session in another scene?)"
            )
        x, _, z = world.state.agent
        yield Visit(x, z, step.label or step.action)


def recorded_steps(session: Path) -> Iterator[Step]:
    """The steps that a session's record says were done, in order.

    Raises InputError where the folder is no session.
    """
    # A step is recorded again when more becomes known of it: the last line counts.
    steps = {int(line["number"]): line for line in read(session, "actions")}
    for _, line in sorted(steps.items()):
        if line.get("success"):
            yield _step(line)


def _step(line: dict[str, Any]) -> Step:
    fields = line.get("step", line)
    return Step(**{name: str(fields.get(name, "")) for name in Step.__dataclass_fields__})


def _draw_floor(axes: Any, state: SceneState) -> None:
    """The places where the robot can stand, as small dots."""
    assert state.grid is not None
    left, right, near, far = (round(edge / CELL_M) for edge in state.grid.bounds)
    cells = [
        (column * CELL_M, row * CELL_M)
        for column in range(left, right + 1)
        for row in range(near, far + 1)
        if state.grid.is_free(column, row)
    ]
    axes.scatter([x for x, _ in cells], [z for _, z in cells], s=3, c="#cccccc", zorder=1)


def _draw_things(axes: Any, state: SceneState) -> None:
    drawn = [o for o in state.objects.values() if o.is_usable and o.type not in NOT_DRAWN]
    # What is in one place (drawers above each other, what is in them) is told in rows.
    at: dict[tuple[float, float], int] = {}
    for item in drawn:
        if not item.can("pickupable"):
            left, right, near, far = box_of(item)
            row = _row(at, ((left + right) / 2, (near + far) / 2))
            _draw_furniture(axes, item, row)
    at = {}
    for item in drawn:
        if not item.can("pickupable"):
            continue
        x, _, z = item.position
        held = item.id == state.held
        axes.scatter([x], [z], s=18, c="#c44e52" if held else "#4c72b0", zorder=4)
        row = _row(at, (x, z))
        axes.annotate(
            item.name + (" (in hand)" if held else ""),
            (x, z),
            xytext=(4, 3 - 8 * row),
            textcoords="offset points",
            fontsize=6,
            color="#1f3b66",
            zorder=5,
        )


def _row(at: dict[tuple[float, float], int], place: tuple[float, float]) -> int:
    """In which row a name at a place is written, from 0."""
    key = (round(place[0], 1), round(place[1], 1))
    row = at[key] = at.get(key, -1) + 1
    return row


def _draw_furniture(axes: Any, item: ObjectState, row: int) -> None:
    from matplotlib.patches import Rectangle

    left, right, near, far = box_of(item)
    receptacle = item.can("receptacle")
    axes.add_patch(
        Rectangle(
            (left, near),
            right - left,
            far - near,
            facecolor="#e8dcc4" if receptacle else "#eeeeee",
            edgecolor="#8c7a55" if receptacle else "#bbbbbb",
            linestyle="-" if not item.is_open else "--",
            alpha=0.55,
            linewidth=0.8,
            zorder=2,
        )
    )
    if receptacle:
        axes.annotate(
            item.name + (" (open)" if item.is_open else ""),
            ((left + right) / 2, (near + far) / 2),
            xytext=(0, -8 * row),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=6,
            color="#6b5a33",
            zorder=3,
        )


def _draw_visits(axes: Any, visits: list[Visit]) -> None:
    if not visits:
        return
    axes.plot(
        [v.x for v in visits], [v.z for v in visits], "-", color="#dd8452", linewidth=1.5, zorder=6
    )
    for number, visit in enumerate(visits, start=1):
        axes.annotate(
            f"{number}",
            (visit.x, visit.z),
            fontsize=7,
            color="white",
            ha="center",
            va="center",
            bbox={"boxstyle": "circle", "facecolor": "#dd8452", "edgecolor": "none"},
            zorder=7,
        )
    axes.text(
        0.01,
        0.99,
        "\n".join(f"{n}  {v.label}" for n, v in enumerate(visits, start=1)),
        transform=axes.transAxes,
        va="top",
        fontsize=7,
        zorder=8,
        bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "#dd8452"},
    )
