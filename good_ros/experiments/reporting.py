"""The tables and figures of a run, as files and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.experiments import outcome_figures
from good_ros.experiments.judges import GOALS, REMOVED
from good_ros.experiments.run_folder import JUDGEMENTS, SESSIONS, RunFolder
from good_ros.experiments.spec import SessionKey
from good_ros.experiments.tables import (
    Cell,
    agreement,
    as_text,
    by_domain,
    differences,
    read_cells,
    write_csv,
)

COLUMNS = (
    "domain",
    "variant",
    "n",
    "machine_score",
    "low",
    "high",
    "at_start",
    "fulfilled",
    "turns",
    "judge_score",
    "judge_low",
    "judge_high",
    "judge_missing",
    GOALS,
    REMOVED,
)
SEEN = tuple(c for c in COLUMNS if c not in ("judge_low", "judge_high", "fulfilled"))
REPORT = "report"


class Report:
    """What is done in a run's folder. Raises InputError where it is no run's."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.about = folder.about()
        self.cells = read_cells(folder)
        self.cells_as_json = by_domain(self.cells)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each domain and variant."""
        return [
            {"domain": cell.domain, "variant": cell.variant, **cell.as_json()}
            for cell in self.cells
        ]

    def note(self, domain: str = "") -> str:
        """What a figure was made from."""
        experiment = self.about["experiment"]
        cells = [c for c in self.cells if domain in ("", c.domain)]
        done, wanted = sum(len(c.sessions) for c in cells), sum(c.wanted for c in cells)
        sessions = f"{done} sessions" if done == wanted else f"{done} of {wanted} sessions"
        models = [_named(experiment, "model", "served_model")]
        belief = _named(experiment, "scoring_model", "served_scoring_model")
        judge = _named(experiment, "judge_model", "served_judge_model")
        models += [f"belief {belief}"] if belief else []
        models += [f"judge {judge}"] if judge else ["no judge"]
        return (
            f"model {', '.join(models)}; seed {experiment['seed']}; {sessions}, "
            f"{experiment['trials']} trials a profile, up to {experiment['rounds']} rounds; "
            f"95 % intervals by bootstrap over sessions; commit "
            f"{', '.join(self.about['commits'])}; {self.about['command']}"
        )

    def text(self) -> str:
        """The tables for a terminal."""
        parts = [as_text(self.rows, SEEN)]
        if different := [asdict(d) for d in differences(self.cells)]:
            parts += [
                "ours less the others, on the machine-checked score (pairs of profile and trial):",
                as_text(different, ("domain", "variant", "n", "mean", "low", "high")),
            ]
        if self.about["experiment"]["judge_model"]:
            parts += [
                "judge and machine-checked score (exact: the same step; correlation: Spearman):",
                as_text(
                    [asdict(a) for a in agreement(self.cells)],
                    ("domain", "n", "exact", "correlation"),
                ),
            ]
        if isolated := self.folder.isolated():
            columns = ("model", "layout", "n", "accuracy", "accuracy_unspecified")
            parts += ["isolated inference:", as_text(isolated, columns)]
        return "\n\n".join(parts)

    def write(self) -> list[Path]:
        """Write tables and figures into the run's ``report`` folder; their paths.

        Tables come first. Raises GoodError where a figure cannot be drawn, InputError where
        nothing is done yet or a file cannot be written.
        """
        return [*self.write_tables(), *self._figures()]

    @property
    def _out(self) -> Path:
        return self.folder.path / REPORT

    def write_tables(self) -> list[Path]:
        """The tables alone, which need no matplotlib."""
        if not any(cell.sessions for cell in self.cells):
            raise InputError(f"no session of {self.folder.path} is done yet")
        out = self._out
        try:
            out.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"{out} cannot be made: {error.strerror}") from error
        source = self._source()
        tables: dict[str, Sequence[Mapping[str, Any]]] = {
            "sessions": _session_rows(self.cells),
            "differences": [asdict(d) for d in differences(self.cells)],
            "costs": _cost_rows(self.folder, self.cells),
        }
        if self.about["experiment"]["judge_model"]:
            tables["agreement"] = [asdict(a) for a in agreement(self.cells)]
        for domain in self.cells_as_json:
            name, _ = outcome_figures.TITLES[domain]
            tables[name] = [
                {**{c: row[c] for c in COLUMNS}, **source}
                for row in self.rows
                if row["domain"] == domain
            ]
        if isolated := self.folder.isolated():
            tables[outcome_figures.ISOLATED_NAME] = [{**row, **source} for row in isolated]
        paths = []
        for name, rows in tables.items():
            if rows:
                write_csv(out / f"{name}.csv", rows)
                paths.append(out / f"{name}.csv")
        return paths

    def _figures(self) -> list[Path]:
        out, paths = self._out, []
        for domain, variants in self.cells_as_json.items():
            name, title = outcome_figures.TITLES[domain]
            sessions = {
                cell.variant: [s.machine for s in cell.sessions]
                for cell in self.cells
                if cell.domain == domain
            }
            paths.append(out / f"{name}.png")
            outcome_figures.outcomes(paths[-1], title, variants, sessions, self.note(domain))
        if results := self.folder.isolated():
            paths.append(out / f"{outcome_figures.ISOLATED_NAME}.png")
            outcome_figures.isolated(paths[-1], results, self.note())
        return paths

    def _source(self) -> dict[str, Any]:
        experiment = self.about["experiment"]
        return {
            "model": _named(experiment, "model", "served_model"),
            "scoring_model": _named(experiment, "scoring_model", "served_scoring_model"),
            "judge_model": _named(experiment, "judge_model", "served_judge_model"),
            "seed": experiment["seed"],
            "rounds": experiment["rounds"],
            "commit": " ".join(self.about["commits"]),
            "command": self.about["command"],
        }


def _named(experiment: Mapping[str, Any], model: str, served: str) -> str:
    """A model as it was named, with its name on the server."""
    return (
        f"{experiment[served]} at {experiment[model]}"
        if experiment[served]
        else str(experiment[model])
    )


def _session_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    return [
        {
            "domain": s.key.domain,
            "profile": s.key.profile,
            "variant": s.key.variant,
            "trial": s.key.trial,
            "machine_score": s.machine,
            "at_start": s.at_start,
            "turns": s.turns,
            "judge_score": s.outcome,
            GOALS: s.goals,
            REMOVED: s.removed,
        }
        for cell in cells
        for s in cell.sessions
    ]


def _cost_rows(folder: RunFolder, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """What the sessions of each domain and variant took; seconds differ from run to run."""
    return [_cost_row(folder, cell) for cell in cells if cell.sessions]


def _cost_row(folder: RunFolder, cell: Cell) -> dict[str, Any]:
    row: dict[str, Any] = {"domain": cell.domain, "variant": cell.variant, "n": len(cell.sessions)}
    names = ("calls", "tokens_in", "tokens_out", "tokens_scored", "judge_tokens_in")
    row |= dict.fromkeys(names, 0) | {"judge_tokens_out": 0, "seconds": 0.0, "cost": None}
    for session in cell.sessions:
        for record in _costs(folder, session.key):
            for role, usage in record["usage"].items():
                prefix = "judge_" if role == "judge" else ""
                row["calls"] += usage["calls"]
                row[f"{prefix}tokens_in"] += usage["tokens_in"]
                row[f"{prefix}tokens_out"] += usage["tokens_out"]
            row["tokens_scored"] += record.get("scoring", {}).get("tokens_scored", 0)
            row["seconds"] += record.get("seconds", 0.0)
            if record["cost"] is not None:
                row["cost"] = (row["cost"] or 0.0) + record["cost"]
    row["seconds"] = round(row["seconds"], 1)
    return row


def _costs(folder: RunFolder, key: SessionKey) -> list[dict[str, Any]]:
    kinds = [SESSIONS, *([JUDGEMENTS] if folder.has(JUDGEMENTS, key) else [])]
    return [r for kind in kinds for r in folder.read(kind, key) if r["record"] == "cost"]
