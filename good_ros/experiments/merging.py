"""How well goals that mean the same are found: ``good eval merging``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.inference.sameness import Same

PAIRS = Path(__file__).parent / "goal_pairs.yaml"


@dataclass(frozen=True)
class Pair:
    """Two goals, and whether they mean ``same``."""

    first: str
    second: str
    same: bool


@dataclass(frozen=True)
class MergingResult:
    """``precision``: of the pairs that were taken for the same, the share that is; ``recall``: of
    those that are, the share that was found. 1 where there is none to be wrong about."""

    n: int
    precision: float
    recall: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def load_pairs(path: Path = PAIRS) -> list[Pair]:
    """The pairs of a file. Raises InputError where it is none."""
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return [
            Pair(str(first), str(second), kind == "same")
            for kind in ("same", "different")
            for first, second in data[kind]
        ]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} holds no pairs of goals: {error}") from error


def wrong(pairs: Iterable[Pair], same: Same) -> list[Pair]:
    """The pairs that ``same`` judges otherwise."""
    return [pair for pair in pairs if same(pair.first, pair.second) is not pair.same]


def measure(pairs: Sequence[Pair], mistaken: Sequence[Pair]) -> MergingResult:
    """From the pairs and those that were judged wrongly."""
    missed = sum(pair.same for pair in mistaken)
    invented = len(mistaken) - missed
    wanted = sum(pair.same for pair in pairs)
    found = wanted - missed
    return MergingResult(
        len(pairs),
        found / (found + invented) if found + invented else 1.0,
        found / wanted if wanted else 1.0,
    )
