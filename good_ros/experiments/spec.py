"""What an experiment consists of, as a YAML file says (GOOD, IV-B)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from good_ros.core.errors import InputError
from good_ros.experiments.profiles import load_profile, profile_names
from good_ros.experiments.usage import Prices
from good_ros.experiments.variants import OURS, VARIANTS
from good_ros.language.backends import is_url
from good_ros.worlds.grocery.search import EMBEDDING, LEXICAL

SEEDS_APART = 1000
"""Between the seeds of two trials: a session draws with its seed plus the turn."""
DOMAINS = ("robot", "grocery")
EVERYTHING = "all"


@dataclass(frozen=True)
class Isolated:
    """The isolated inference experiment (IV-A): questions of ``data`` (CommonsenseQA's form), the
    first ``limit`` of them, 0 for all, answered by each of ``models``."""

    data: str
    limit: int = 0
    models: tuple[str, ...] = ()
    rephrased_by: str = "default"


@dataclass(frozen=True)
class SessionKey:
    """Which session of an experiment; trials count from 0."""

    domain: str
    profile: str
    variant: str
    trial: int

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.domain}.{Path(self.profile).stem}.{self.variant}.{self.trial}"


@dataclass(frozen=True)
class Spec:
    """An experiment. ``profiles`` are by domain; models are as of ``good demo``, the scoring
    model that of the belief where it is not ``model``; no judge where ``judge_model`` is empty.

    ``rounds`` is the most turns a session has, ``workers`` how many sessions run at a time,
    ``graph`` whether sessions run on a ROS graph, ``deadline_s`` seconds for one model call,
    ``judge_chars`` the most characters of rounds that a judge is shown, 0 for all,
    ``store_search`` how the store is searched (``worlds.grocery.search``).
    """

    name: str
    profiles: Mapping[str, tuple[str, ...]]
    variants: tuple[str, ...] = tuple(VARIANTS)
    trials: int = 1
    rounds: int = 20
    seed: int = 0
    model: str = "default"
    served_model: str = ""
    scoring_model: str = ""
    served_scoring_model: str = ""
    judge_model: str = ""
    served_judge_model: str = ""
    workers: int = 1
    graph: bool = False
    deadline_s: float = 300.0
    judge_chars: int = 8000
    store_search: str = LEXICAL
    prices: Mapping[str, Prices] = field(default_factory=dict)
    isolated: Isolated | None = None

    @property
    def scorer(self) -> str:
        """The model that the belief takes log-probabilities from."""
        return self.scoring_model or ("default" if is_url(self.model) else self.model)

    def sessions(self) -> list[SessionKey]:
        """All of them; a run that is cut short has about as much of each variant."""
        return [
            SessionKey(domain, profile, variant, trial)
            for trial in range(self.trials)
            for domain, profiles in self.profiles.items()
            for profile in profiles
            for variant in self.variants
        ]

    def seed_of(self, key: SessionKey) -> int:
        """The same for every variant, so that they can be compared trial by trial."""
        return self.seed + SEEDS_APART * key.trial

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


TEXTS = (
    "name",
    "model",
    "served_model",
    "scoring_model",
    "served_scoring_model",
    "judge_model",
    "served_judge_model",
)
COUNTS = {"trials": 1, "rounds": 1, "seed": 0, "workers": 1, "judge_chars": 0}
"""Whole numbers, with the least that each may be."""
ROLES = ("model", "scoring", "judge")
KNOWN = {f.name for f in fields(Spec)} | {"domains"}


def load_spec(path: Path) -> Spec:
    """The experiment of a YAML file.

    Raises InputError where it cannot be read, or has a field that is unknown or not of its form.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    try:
        return _spec(data, path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _spec(data: Any, name: str) -> Spec:
    if not isinstance(data, Mapping):
        raise InputError(f"an experiment has fields such as {', '.join(sorted(KNOWN))}")
    if unknown := sorted(map(str, set(data) - KNOWN)):
        raise InputError(f"unknown: {', '.join(unknown)}; known: {', '.join(sorted(KNOWN))}")
    values: dict[str, Any] = {"name": name}
    for key in TEXTS:
        if key in data:
            if not isinstance(data[key], str):
                raise InputError(f"{key} must be a text, not {data[key]!r}")
            values[key] = data[key]
    for key, least in COUNTS.items():
        if key in data:
            values[key] = _count(data[key], key, least)
    if "deadline_s" in data:
        seconds = data["deadline_s"]
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
            raise InputError(f"deadline_s must be a number above 0, not {seconds!r}")
        values["deadline_s"] = float(seconds)
    if not isinstance(data.get("graph", False), bool):
        raise InputError(f"graph must be true or false, not {data['graph']!r}")
    values["graph"] = data.get("graph", False)
    if data.get("store_search", LEXICAL) not in (EMBEDDING, LEXICAL):
        raise InputError(f"store_search must be {EMBEDDING} or {LEXICAL}")
    values["store_search"] = data.get("store_search", LEXICAL)
    values["variants"] = _variants(data.get("variants", list(VARIANTS)))
    values["profiles"] = _profiles(data.get("domains", DOMAINS), data.get("profiles", EVERYTHING))
    values["prices"] = _prices(data.get("prices") or {})
    if isolated := data.get("isolated"):
        values["isolated"] = _isolated(isolated)
    spec = Spec(**values)
    if spec.workers > 1 and not (is_url(spec.model) and is_url(spec.scorer)):
        raise InputError(
            "workers must be 1 where a model runs in this process, which shares its cores: only "
            "servers (model and scoring_model both URLs) answer several sessions at a time"
        )
    if spec.graph and (baselines := [v for v in spec.variants if not VARIANTS[v].has_nodes]):
        raise InputError(
            f"graph: there are no nodes for {', '.join(baselines)}; run them without a graph, or "
            f"name other variants, such as {OURS}"
        )
    return spec


def _count(value: Any, key: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{key} must be a whole number from {least} on, not {value!r}")
    return value


def _names(value: Any, key: str) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise InputError(f"{key} must be a list, not {value!r}")
    if not all(isinstance(name, str) for name in value):
        raise InputError(f"{key} must be a list of texts, not {value!r}")
    return list(dict.fromkeys(value))


def _variants(value: Any) -> tuple[str, ...]:
    names = _names(value, "variants")
    if unknown := [name for name in names if name not in VARIANTS]:
        raise InputError(
            f"there is no variant {', '.join(unknown)}; there are {', '.join(VARIANTS)}"
        )
    return tuple(names)


def _profiles(domains: Any, chosen: Any) -> dict[str, tuple[str, ...]]:
    """By domain the profiles to run: all of the domain's, or those of the list."""
    names = _names(domains, "domains")
    if unknown := [name for name in names if name not in DOMAINS]:
        raise InputError(f"there is no domain {', '.join(unknown)}; there are {', '.join(DOMAINS)}")
    listed = profile_names() if chosen == EVERYTHING else _names(chosen, "profiles")
    found: dict[str, list[str]] = {name: [] for name in names}
    for name in listed:
        domain = load_profile(name).domain
        if domain in found:
            found[domain].append(name)
        elif chosen != EVERYTHING:
            raise InputError(f"the profile {name} is of the domain {domain}, which is not run")
    for profiles in found.values():
        if len({Path(name).stem for name in profiles}) < len(profiles):
            raise InputError("two profiles have the same name: their results would be mixed up")
    if empty := [name for name, profiles in found.items() if not profiles]:
        raise InputError(f"no profile is of the domain {', '.join(empty)}")
    return {name: tuple(profiles) for name, profiles in found.items()}


def _prices(value: Any) -> dict[str, Prices]:
    if not isinstance(value, Mapping) or not set(value) <= set(ROLES):
        raise InputError(f"prices are of {', '.join(ROLES)}, not {value!r}")
    found = {}
    for role, price in value.items():
        if not isinstance(price, Mapping) or not set(price) <= {"in", "out"}:
            raise InputError(f"the prices of {role} are 'in' and 'out', not {price!r}")
        for amount in price.values():
            if isinstance(amount, bool) or not isinstance(amount, int | float) or amount < 0:
                raise InputError(f"a price of {role} is a number from 0 on, not {amount!r}")
        found[role] = Prices(float(price.get("in", 0)), float(price.get("out", 0)))
    return found


def _isolated(value: Any) -> Isolated:
    if not isinstance(value, Mapping) or not set(value) <= {f.name for f in fields(Isolated)}:
        raise InputError(
            f"isolated has {', '.join(f.name for f in fields(Isolated))}, not {value!r}"
        )
    if not isinstance(value.get("data"), str) or not value["data"]:
        raise InputError("isolated needs data, the file of questions")
    if not isinstance(value.get("rephrased_by", ""), str):
        raise InputError("isolated: rephrased_by must be a text")
    return Isolated(
        value["data"],
        _count(value.get("limit", 0), "isolated: limit", 0),
        tuple(_names(value.get("models", []), "isolated: models")),
        value.get("rephrased_by", "default"),
    )
