"""What a run is told, in a YAML file (``config/optimize``), with the paper's numbers where it says
nothing (4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError


@dataclass(frozen=True)
class ScoreModelOptions:
    """``features``: minilm, ngrams, or a folder of a transformers model such as Longformer-base;
    auto takes minilm where it is installed. ``from_level`` is the paper's sd."""

    from_level: int = 4
    features: str = "auto"
    hyper_m: float = 0.8
    rounds: int = 5


@dataclass(frozen=True)
class Budget:
    """0 is without limit. ``minutes`` are of wall clock, over all starts of the run."""

    trials: int = 0
    calls: int = 0
    tokens: int = 0
    minutes: float = 0.0


@dataclass(frozen=True)
class RunConfig:
    """``kids`` are the new prompts of each parent in the first level and in the later ones;
    ``patience`` the levels without gain after which the search ends; ``stop_at`` a score at which
    it ends at once; of a piece of feedback ``feedback_chars`` are told, its middle left out.
    ``prices`` are in any currency for a million tokens read and written, by
    role. ``models`` name what acts (``task``) and what writes prompts (``prompt``)."""

    name: str
    task: Mapping[str, Any]
    models: Mapping[str, Any]
    method: str = "promst"
    method_options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    beam: int = 5
    kids: tuple[int, int] = (20, 8)
    levels: int = 20
    patience: int = 3
    stop_at: float | None = None
    feedback_instances: int = 10
    feedback_chars: int = 3000
    trajectory: int = 4
    score: Mapping[str, Any] = field(default_factory=lambda: {"name": "progress"})
    score_model: ScoreModelOptions | None = field(default_factory=ScoreModelOptions)
    writer: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    parallel: int = 1
    prices: Mapping[str, Any] = field(default_factory=dict)
    online_tries: int = 0
    """Tries of each held-back instance with Reflexion at the end (appendix L); 0 for none."""

    def as_settings(self) -> dict[str, Any]:
        """As plain data that YAML gives back unchanged."""
        settings = asdict(self)
        settings["kids"] = list(self.kids)
        for name in ("task", "models", "method_options", "score", "writer", "prices"):
            settings[name] = dict(settings[name])
        return settings


def read_config(path: Path) -> RunConfig:
    """The configuration in a YAML file. Raises InputError where it cannot be used."""
    try:
        data = yaml.safe_load(path.expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    return config_from(data, str(path))


def config_from(data: Any, where: str) -> RunConfig:
    """The configuration that plain data hold. Raises InputError where they hold none."""
    if not isinstance(data, Mapping):
        raise InputError(f"{where} must be a mapping with name, task and models")
    known = {f.name for f in fields(RunConfig)}
    unknown, missing = sorted(set(data) - known), sorted({"name", "task", "models"} - set(data))
    if unknown or missing:
        wrong = [f"unknown: {', '.join(unknown)}"] * bool(unknown)
        wrong += [f"missing: {', '.join(missing)}"] * bool(missing)
        raise InputError(f"{where}: {'; '.join(wrong)}; known are {', '.join(sorted(known))}")
    values = dict(data)
    try:
        if values.get("score_model") is not None:
            values["score_model"] = ScoreModelOptions(**values["score_model"])
        if "budget" in values:
            values["budget"] = Budget(**(values["budget"] or {}))
        if "kids" in values:
            first, later = values["kids"]
            values["kids"] = (int(first), int(later))
        config = RunConfig(**values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {error}") from error
    for name in ("beam", "levels", "patience", "feedback_instances", "feedback_chars", "parallel"):
        if not isinstance(getattr(config, name), int) or getattr(config, name) < 1:
            raise InputError(f"{where}: {name} must be a whole number of at least 1")
    if "name" not in config.task or "task" not in config.models:
        raise InputError(f"{where}: task.name and models.task must be given")
    return config
