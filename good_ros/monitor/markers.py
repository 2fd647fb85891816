"""A belief as bars in space: plain data that the monitor turns into visualization messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from good_ros.core.belief import Belief, Hypothesis

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, each 0 to 1."""

UNLIKELY: Colour = (0.45, 0.50, 0.56, 0.75)
LIKELY: Colour = (0.05, 0.62, 0.60, 1.0)
UNSPECIFIED: Colour = (0.90, 0.62, 0.15, 0.95)
LABEL: Colour = (1.0, 1.0, 1.0, 1.0)
SHORTEST_M = 1e-6
"""RViz refuses a cube of no extent."""


class MarkerKind(Enum):
    """What a marker is, and whether it goes."""

    BAR = "bar"
    LABEL = "label"
    DELETED = "deleted"


@dataclass(frozen=True)
class Marker:
    """One bar, label or deletion.

    ``position``: metres, of the middle, in the frame of the panel (x along the bars, y down the
    rows as negative numbers). ``size``: metres; of a label only the height of its letters
    (``size[2]``) counts.
    """

    id: int
    kind: MarkerKind
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    colour: Colour = LABEL
    text: str = ""


@dataclass(frozen=True)
class PanelSize:
    """How large the bars are drawn: metres for a probability of 1, and from row to row."""

    bar_length: float = 2.0
    row_height: float = 0.25


class BeliefMarkers:
    """Gives each goal ids of its own for as long as this object lives.

    A goal keeps its ids over the turns, ids are never used again, and a goal that is no longer
    in the belief gets one deletion for its bar and one for its label.
    """

    def __init__(self, size: PanelSize | None = None) -> None:
        self.size = size or PanelSize()
        self._ids: dict[tuple[str, str], int] = {}
        self._shown: set[tuple[str, str]] = set()

    def draw(self, belief: Belief) -> list[Marker]:
        """Deletions first, then a bar and a label for each hypothesis, most likely on top."""
        keys = [(belief.session_id, h.goal.id) for h in belief.hypotheses]
        gone = sorted(self._ids[key] for key in self._shown - set(keys))
        markers = [Marker(i, MarkerKind.DELETED) for first in gone for i in (first, first + 1)]
        for row, (key, hypothesis) in enumerate(zip(keys, belief.hypotheses, strict=True)):
            markers += self._row(self._ids.setdefault(key, 2 * len(self._ids)), row, hypothesis)
        self._shown = set(keys)
        return markers

    def _row(self, first_id: int, row: int, hypothesis: Hypothesis) -> Sequence[Marker]:
        probability = as_probability(hypothesis.probability)
        length = max(probability * self.size.bar_length, SHORTEST_M)
        thickness = 0.6 * self.size.row_height
        y = -row * self.size.row_height
        bar = Marker(
            first_id,
            MarkerKind.BAR,
            (length / 2, y, 0.0),
            (length, thickness, 0.1 * self.size.row_height),
            colour_of(hypothesis),
        )
        label = Marker(
            first_id + 1,
            MarkerKind.LABEL,
            (self.size.bar_length / 2, y, 0.3 * self.size.row_height),
            (0.0, 0.0, 0.45 * self.size.row_height),
            LABEL,
            f"{probability:.1%}  {hypothesis.goal.text}",
        )
        return bar, label


def as_probability(value: float) -> float:
    """``value`` within 0 to 1; 0 where it is no number."""
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0


def colour_of(hypothesis: Hypothesis) -> Colour:
    """From grey to teal as the goal gets likelier; 'Unspecified' is amber whatever it gets."""
    if hypothesis.goal.is_unspecified:
        return UNSPECIFIED
    share = as_probability(hypothesis.probability)
    red, green, blue, opacity = (
        low + share * (high - low) for low, high in zip(UNLIKELY, LIKELY, strict=True)
    )
    return red, green, blue, opacity


def overlay_text(belief: Belief, rows: int = 5) -> str:
    """The belief in a few lines of plain text, for a display over the picture."""
    lines = [
        f"{as_probability(h.probability):6.1%}  {h.goal.text}" for h in belief.hypotheses[:rows]
    ]
    left = len(belief.hypotheses) - rows
    if left > 0:
        lines.append(f"… and {left} more")
    return "\n".join([f"turn {belief.turn}, entropy {belief.entropy:.2f} nats", *lines])
