"""One run from its configuration to its result, in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.language.backends import make_generator
from good_ros.language.generator import Generator
from good_ros.optimize.config import RunConfig
from good_ros.optimize.household import HouseholdOptions, HouseholdTask
from good_ros.optimize.methods.reflexion import online
from good_ros.optimize.methods.registry import make_method
from good_ros.optimize.score_model import resolve_features
from good_ros.optimize.scores import make_score
from good_ros.optimize.scripted import make_scripted
from good_ros.optimize.search import Candidate, Search, SearchOver
from good_ros.optimize.store import RunFolder, read_settings
from good_ros.optimize.tasks import SteppedTask, Task, TaskOptions

MakeModel = Callable[[str, str], Generator]
"""(model, name it is served under) to a generator."""


@dataclass(frozen=True)
class Result:
    """``score`` fields are means over the run's instances, ``held_back`` ones over those that the
    search never saw. What was spent counts all trials, held-back ones too."""

    start_score: float
    best_score: float
    held_back_start: float | None
    held_back_best: float | None
    best: str
    prompts: int
    trials: int
    search_trials: int
    calls: int
    tokens: int
    cost: float
    end: str
    held_back_online: float | None = None


def make_task(settings: Mapping[str, Any]) -> Task:
    """The task of a run's ``task`` section. Raises InputError where it is unknown or an option
    is wrong."""
    options = {key: value for key, value in settings.items() if key != "name"}
    kind: Any = HouseholdOptions if settings["name"] == "household" else TaskOptions
    known = {f.name for f in fields(kind)}
    if unknown := sorted(set(options) - known):
        raise InputError(
            f"task {settings['name']} knows no {', '.join(unknown)}; "
            f"there are {', '.join(sorted(known))}"
        )
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    if settings["name"] == "household":
        return HouseholdTask(HouseholdOptions(**options))
    return SteppedTask(str(settings["name"]), TaskOptions(**options))


def make_model(model: str, served: str = "") -> Generator:
    """A generator, scripted or real. Raises InputError or ModelError where there is none."""
    return make_scripted(model) if model.startswith("scripted:") else make_generator(model, served)


def resolved(config: RunConfig) -> RunConfig:
    """The configuration with what depends on the machine chosen, so that a run that goes on
    elsewhere is the same."""
    if config.score_model is None or config.method != "promst":
        return replace(config, score_model=None)
    features = resolve_features(config.score_model.features)
    return replace(config, score_model=replace(config.score_model, features=features))


def settings_of(config: RunConfig) -> dict[str, Any]:
    """The configuration as it stands in ``run.yaml``."""
    settings: dict[str, Any] = json.loads(json.dumps(config.as_settings()))
    return settings


def choose_folder(runs: Path, config: RunConfig, new: bool = False) -> Path:
    """The last unfinished run of the same configuration, or the next free ``NAME-NNN``: what was
    run before is never written over."""
    settings = settings_of(config)
    number = 1
    found: Path | None = None
    while (path := runs / f"{config.name}-{number:03d}").exists():
        number += 1
        unfinished = (path / "run.yaml").exists() and not (path / "result.json").exists()
        if unfinished and read_settings(path) == settings:
            found = path
    return found if found is not None and not new else path


def optimize(
    config: RunConfig,
    folder: Path,
    *,
    models: MakeModel = make_model,
    on_prompt: Callable[[Candidate, Search], None] = lambda candidate, search: None,
) -> Result:
    """Search, score the start and the best prompt on the held-back instances, and keep all of it
    in the folder. A folder with a part of the same run is gone on with.

    Raises InputError where something cannot be used, ModelError where a model fails; the run can
    be started again after either.
    """
    config = resolved(config)
    task = make_task(config.task)
    score = make_score(
        str(config.score["name"]), {k: v for k, v in config.score.items() if k != "name"}
    )
    method = make_method(config.method, config.method_options)
    store = RunFolder(folder, settings_of(config))
    generators: list[Generator] = []

    def model(role: str) -> Generator:
        name = str(config.models.get(role) or config.models["task"])
        generators.append(models(name, str(config.models.get("served", ""))))
        return generators[-1]

    try:
        store.write(
            "instances.json",
            {
                "instances": [i.as_json() for i in task.instances],
                "held_back": [i.as_json() for i in task.held_back],
            },
        )
        task_model = model("task")
        writer = model("prompt")
        search = Search(config, task, score, store, task_model, writer, on_prompt)
        try:
            search.evaluate(task.start_prompt, (), 0, "start")
            end = method.run(search)
        except SearchOver as reason:
            end = str(reason)
        result = _result(config, search, end)
        store.write("result.json", result.__dict__)
        store.write("clock.json", {"seconds": round(search.meter.seconds, 1)})
        return result
    finally:
        store.close()
        for generator in generators:
            generator.close()


def _result(config: RunConfig, search: Search, end: str) -> Result:
    start, best = search.archive.of("0000"), search.archive.best
    searched = search.meter.trials
    held_start = held_best = held_online = None
    unlimited = search.meter
    # The held-back trials come on top of the search's budget.
    unlimited.budget = type(unlimited.budget)()
    if held := search.task.held_back:
        held_start = search.mean_score(search.trials(start.text, held, checked=False))
        held_best = search.mean_score(search.trials(best.text, held, checked=False))
        if config.online_tries:
            held_online = online(search, best.text, held, config.online_tries)
    meter = search.meter
    return Result(
        start.score,
        best.score,
        held_start,
        held_best,
        best.id,
        len(search.archive.candidates),
        meter.trials,
        searched,
        sum(meter.calls.values()),
        meter.all_tokens,
        round(meter.cost(config.prices), 6),
        end,
        held_online,
    )
