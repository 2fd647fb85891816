"""How often whole sessions end with what the person wanted: ``good eval tasks``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from good_ros.experiments import progress as progress_lines
from good_ros.experiments.human import SimulatedHuman
from good_ros.experiments.profiles import Profile, load_profile, profile_names
from good_ros.experiments.session import LibrarySession
from good_ros.inference.scorer import Scorer
from good_ros.language.generator import Generator
from good_ros.planning.planner import Planner
from good_ros.planning.turn import PlanRecord, TurnActor
from good_ros.worlds import predicates
from good_ros.worlds.base import World
from good_ros.worlds.registry import make_world


@dataclass(frozen=True)
class TaskResult:
    """One session: ``success`` where every condition of the profile is true at its end."""

    profile: str
    seed: int
    success: bool
    turns: int
    plans: int
    """Plans that were carried out, or begun."""
    plans_without_repair: int
    refused: int
    """Plans that the safety rules or the person refused."""
    steps: tuple[str, ...] = ()
    end: str = ""


@dataclass
class Models:
    """What a session generates and scores with; one set serves every session."""

    dialog: Generator
    planner: Generator
    human: Generator
    scorer: Scorer


def choose_profiles(names: Sequence[str]) -> list[Profile]:
    """The profiles of names, of a domain (``robot``), or of both.

    Raises InputError where a name is neither.
    """
    known = [load_profile(name) for name in profile_names()]
    chosen: list[Profile] = []
    for name in names:
        domain = [profile for profile in known if profile.domain == name]
        chosen += domain or [load_profile(name)]
    return list({profile.name: profile for profile in chosen}.values())


def run_task(
    profile: Profile,
    seed: int,
    models: Models,
    max_turns: int = 20,
    on_turn: Callable[[int], None] = lambda turn: None,
) -> TaskResult:
    """One session with a simulated human of ``profile``; ``on_turn`` is told the turns that are
    over. Raises ModelError."""
    world = make_world(profile.world)
    world.reset(profile.scene)
    room = make_world(profile.world)
    human = SimulatedHuman(profile, models.human, room, seed=seed)
    actor = TurnActor(
        world,
        Planner(models.planner, task=profile.task, seed=seed),
        approve=lambda status, stop: human.would_approve(status.plan, status.history),
        ask_conditions=True,
    )
    plans: list[PlanRecord] = []
    actor.on_plan = plans.append
    session = LibrarySession(
        human,
        actor,
        models.dialog,
        models.scorer,
        task=profile.task,
        seed=seed,
        max_turns=max_turns,
        on_turn=on_turn,
    )
    ended = session.run()
    executed = [plan for plan in plans if plan.executed]
    return TaskResult(
        profile.name,
        seed,
        fulfilled(profile, world),
        len(ended.transcript.turns),
        len(executed),
        sum(not plan.repaired for plan in executed),
        sum(plan.refused for plan in plans),
        tuple(r.step.label for r in ended.history if r.success),
        ended.transcript.end_reason,
    )


def fulfilled(profile: Profile, world: World) -> bool:
    """Whether every condition of the profile is true of the world."""
    objects = world.observe()
    return all(predicates.holds(condition, objects) for condition in profile.conditions)


def run_tasks(
    profiles: Sequence[Profile],
    seeds: Sequence[int],
    models: Callable[[], Models],
    *,
    max_turns: int = 20,
    limit: int = 0,
    progress: Path | None = None,
    on_result: Callable[[TaskResult, int, int], None] = lambda result, done, total: None,
    on_turn: Callable[[str, int, int], None] = lambda profile, seed, turn: None,
) -> list[TaskResult]:
    """Every profile with every seed, at most ``limit`` of them where it is not 0.

    Results are appended to ``progress`` as they come, and those that stand there already are
    not computed again; ``models`` is called only where a session has to be run. ``on_result``
    is told each result with how many of how many there are, ``on_turn`` each turn that is over.
    """
    pairs = [(profile, seed) for seed in seeds for profile in profiles]
    pairs = pairs[:limit] if limit else pairs
    known = {(r.profile, r.seed): r for r in read_progress(progress)} if progress else {}
    results: list[TaskResult] = []
    loaded: Models | None = None
    for profile, seed in pairs:
        result = known.get((profile.name, seed))
        if result is None:
            loaded = loaded or models()
            result = run_task(
                profile, seed, loaded, max_turns, partial(on_turn, profile.name, seed)
            )
            if progress:
                progress_lines.append(progress, result)
        results.append(result)
        on_result(result, len(results), len(pairs))
    return results


def read_progress(path: Path) -> list[TaskResult]:
    """The results in a progress file. Raises InputError as ``progress.read``."""
    return progress_lines.read(
        path, lambda fields: TaskResult(**{**fields, "steps": tuple(fields["steps"])})
    )


def summary(results: Iterable[TaskResult]) -> Mapping[str, Any]:
    """The measures over sessions: shares are of 1, ``refused`` is a count."""
    results = list(results)
    n, plans = len(results), sum(r.plans for r in results)
    return {
        "n": n,
        "success": _mean([r.success for r in results]),
        "mean_turns": _mean([r.turns for r in results]),
        "mean_plans": _mean([r.plans for r in results]),
        "plans_without_repair": (
            sum(r.plans_without_repair for r in results) / plans if plans else 0.0
        ),
        "refused": sum(r.refused for r in results),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
