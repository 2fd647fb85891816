"""What a run came to, as tables: the form of the paper's figures 4 and 5 (GOOD, IV-C2)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.experiments.judges import GOALS, MOST, OUTCOME, REMOVED, STEP
from good_ros.experiments.run_folder import JUDGEMENTS, SESSIONS, RunFolder
from good_ros.experiments.spec import SessionKey
from good_ros.experiments.statistics import bootstrap, spearman
from good_ros.experiments.variants import OURS

NOTHING_KNOWN = (0.0, 1.0)
"""The interval of a share of which fewer than two sessions tell."""


@dataclass(frozen=True)
class SessionScores:
    """One session's scores, each as a share of 1; None where there is none.

    ``missing`` counts the criteria that were asked for and got no score.
    """

    key: SessionKey
    machine: float
    at_start: float
    turns: int
    goals: float | None = None
    removed: float | None = None
    outcome: float | None = None
    missing: int = 0


@dataclass(frozen=True)
class Cell:
    """The sessions of one domain and variant; ``wanted`` of them belong to the experiment."""

    domain: str
    variant: str
    wanted: int
    sessions: tuple[SessionScores, ...]

    def as_json(self) -> dict[str, Any]:
        """Means, with the machine-checked score's 95 % interval as ``low`` and ``high``."""
        machine = [s.machine for s in self.sessions]
        judged = _given(s.outcome for s in self.sessions)
        low, high = interval(machine)
        judge_low, judge_high = interval(judged)
        return {
            "n": len(self.sessions),
            "wanted": self.wanted,
            "machine_score": mean(machine),
            "low": low,
            "high": high,
            "fulfilled": mean([float(s.machine == 1.0) for s in self.sessions]),
            "at_start": mean([s.at_start for s in self.sessions]),
            "turns": mean([s.turns for s in self.sessions]),
            "judge_score": mean(judged),
            "judge_low": judge_low,
            "judge_high": judge_high,
            "judge_n": len(judged),
            "judge_missing": sum(s.missing for s in self.sessions),
            GOALS: mean(_given(s.goals for s in self.sessions)),
            REMOVED: mean(_given(s.removed for s in self.sessions)),
        }


@dataclass(frozen=True)
class Agreement:
    """Between the judge's outcome score and the machine-checked one, over ``n`` sessions.

    ``exact`` is the share in which the judge gave the step that is nearest to the
    machine-checked score; ``correlation`` Spearman's, None where it is not defined.
    """

    domain: str
    n: int
    exact: float | None
    correlation: float | None


@dataclass(frozen=True)
class Difference:
    """How much more ours scores than another variant, mean over the ``n`` pairs of the same
    profile and trial, with its 95 % interval."""

    domain: str
    variant: str
    n: int
    mean: float | None
    low: float | None
    high: float | None


def read_cells(folder: RunFolder) -> list[Cell]:
    """By domain and variant what is done, in the experiment's order.

    Raises InputError where the folder is no run's or a file of it is damaged.
    """
    experiment = folder.about()["experiment"]
    cells = []
    for domain, profiles in experiment["profiles"].items():
        for variant in experiment["variants"]:
            keys = [
                SessionKey(domain, profile, variant, trial)
                for profile in profiles
                for trial in range(experiment["trials"])
            ]
            done = [_scores(folder, key) for key in keys if folder.has(SESSIONS, key)]
            cells.append(Cell(domain, variant, len(keys), tuple(done)))
    return cells


def _scores(folder: RunFolder, key: SessionKey) -> SessionScores:
    end = _end(folder, key)
    given: dict[str, float | None] = {}
    if folder.has(JUDGEMENTS, key):
        for record in folder.read(JUDGEMENTS, key):
            if record["record"] == "judgement":
                score = record["score"]
                given[record["criterion"]] = None if score is None else score / record["most"]
    return SessionScores(
        key,
        end["machine_score"],
        end["at_start"],
        end["turns"],
        given.get(GOALS),
        given.get(REMOVED),
        given.get(OUTCOME),
        sum(score is None for score in given.values()),
    )


def _end(folder: RunFolder, key: SessionKey) -> dict[str, Any]:
    for record in folder.read(SESSIONS, key):
        if record.get("record") == "end":
            return record
    raise InputError(f"the session {key.name} in {folder.path} has no end: remove it, run again")


def agreement(cells: Sequence[Cell]) -> list[Agreement]:
    """For each domain, over the sessions that have both scores."""
    found = []
    for domain in dict.fromkeys(cell.domain for cell in cells):
        pairs = [
            (s.machine, s.outcome)
            for cell in cells
            if cell.domain == domain
            for s in cell.sessions
            if s.outcome is not None
        ]
        steps = MOST[OUTCOME] / STEP
        same = [float(round(machine * steps) == round(judge * steps)) for machine, judge in pairs]
        rank = spearman([m for m, _ in pairs], [j for _, j in pairs])
        found.append(Agreement(domain, len(pairs), mean(same), rank))
    return found


def differences(cells: Sequence[Cell]) -> list[Difference]:
    """Ours less each other variant on the machine-checked score; [] where ours is not run."""
    scores = {(s.key.domain, s.key.variant): {} for cell in cells for s in cell.sessions}  # type: dict[tuple[str, str], dict[tuple[str, int], float]]
    for cell in cells:
        for s in cell.sessions:
            scores[cell.domain, cell.variant][s.key.profile, s.key.trial] = s.machine
    found = []
    for cell in cells:
        ours = scores.get((cell.domain, OURS), {})
        if cell.variant == OURS or not any(c.variant == OURS for c in cells):
            continue
        other = scores.get((cell.domain, cell.variant), {})
        values = [ours[key] - other[key] for key in ours if key in other]
        low, high = bootstrap(values) or (None, None)
        found.append(Difference(cell.domain, cell.variant, len(values), mean(values), low, high))
    return found


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The 95 % interval of the mean of shares: from 0 to 1 where one value is all there is, since
    it tells nothing of how others would be; None where there is none."""
    if not values:
        return None, None
    return bootstrap(values) or NOTHING_KNOWN


def by_domain(cells: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    """The report as JSON: by domain, then variant."""
    found: dict[str, dict[str, Any]] = {}
    for cell in cells:
        found.setdefault(cell.domain, {})[cell.variant] = cell.as_json()
    return found


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows of the same columns as a CSV file. Raises InputError where it cannot be written."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    try:
        path.write_text(text.getvalue(), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error


def as_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A table for a terminal; shares with two digits, '-' for what there is not."""
    shown = [list(columns)] + [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in shown) for i in range(len(columns))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in shown
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _given(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
