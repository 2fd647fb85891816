"""One session of an experiment, without a graph, as records."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from good_ros.experiments.human import SimulatedHuman
from good_ros.experiments.profiles import Profile, load_profile
from good_ros.experiments.records import Outcome, end_record, outcome_of, turn_record
from good_ros.experiments.session import Estimator, LibrarySession, TurnTrace
from good_ros.experiments.spec import SessionKey, Spec
from good_ros.experiments.usage import CountingGenerator
from good_ros.experiments.variants import (
    NO_GOALS,
    NO_INFERENCE,
    VARIANTS,
    AskedEstimator,
    SaidEstimator,
    SaidPlanner,
)
from good_ros.inference.layout import Layout
from good_ros.inference.scorer import Scorer
from good_ros.inference.tracker import BeliefTracker
from good_ros.language.generator import Generator
from good_ros.planning.planner import Planner
from good_ros.planning.turn import Patience, PlanRecord, TurnActor
from good_ros.worlds.registry import make_world

PATIENCE = Patience(retries=3)
"""As the executor node has it."""

Record = Mapping[str, Any]
Write = Callable[[Record], None]


@dataclass
class SessionModels:
    """What sessions generate and score with, one after the other; a judge where there is one.

    Each role has a generator of its own, so that each keeps the start of its own prompts.
    """

    dialog: Generator
    planner: Generator
    human: Generator
    scorers: Mapping[Layout, Scorer]
    judge: Generator | None = None

    def close(self) -> None:
        for generator in (self.dialog, self.planner, self.human, self.judge):
            if generator is not None:
                generator.close()
        for scorer in self.scorers.values():
            scorer.close()


def play(spec: Spec, key: SessionKey, models: SessionModels, write: Write) -> Outcome:
    """Run the session of ``key``; ``write`` gets its turns as they end, then its end and what it
    took. Raises ModelError where the belief or the person's answer cannot be computed."""
    began = time.monotonic()
    profile, variant, seed = load_profile(key.profile), VARIANTS[key.variant], spec.seed_of(key)
    roles = {
        "dialog": CountingGenerator(models.dialog),
        "planner": CountingGenerator(models.planner),
        "human": CountingGenerator(models.human),
    }
    world = make_world(profile.world, store_search=spec.store_search)
    world.reset(profile.scene)
    at_start = outcome_of(profile, world).machine_score
    human = SimulatedHuman(
        profile,
        roles["human"],
        make_world(profile.world, store_search=spec.store_search),
        seed=seed,
        deadline_s=spec.deadline_s,
    )
    planner_kind = SaidPlanner if key.variant == NO_GOALS else Planner
    actor = TurnActor(
        world,
        planner_kind(roles["planner"], task=profile.task, seed=seed, deadline_s=spec.deadline_s),
        approve=lambda status, stop: human.would_approve(status.plan, status.history),
        ask_conditions=key.variant != NO_GOALS,
        patience=PATIENCE,
    )
    plans: list[PlanRecord] = []
    actor.on_plan = plans.append
    seconds: list[float] = []
    scoring = {"tokens_scored": 0, "tokens_reused": 0, "seconds": 0.0}
    turn_began = began

    def take(trace: TurnTrace) -> None:
        nonlocal turn_began
        now = time.monotonic()
        seconds.append(round(now - turn_began, 3))
        turn_began = now
        for belief in trace.beliefs:
            scoring["tokens_scored"] += belief.tokens_scored
            scoring["tokens_reused"] += belief.tokens_reused
            scoring["seconds"] += belief.seconds
        write(turn_record(trace))

    session = LibrarySession(
        human,
        actor,
        roles["dialog"],
        None,
        task=profile.task,
        seed=seed,
        max_turns=spec.rounds,
        deadline_s=spec.deadline_s,
        estimator=_estimator(spec, key, profile, models, roles["dialog"]),
        manages_goals=variant.manages_goals,
        asks_person=True,
        on_trace=take,
    )
    ended = session.run()
    outcome = outcome_of(profile, world)
    write(end_record(ended.transcript, ended.history, outcome, at_start, world, plans))
    write(cost_record(spec, roles, scoring, seconds, time.monotonic() - began))
    return outcome


def _estimator(
    spec: Spec,
    key: SessionKey,
    profile: Profile,
    models: SessionModels,
    generator: CountingGenerator,
) -> Estimator:
    variant = VARIANTS[key.variant]
    if variant.layout is not None:
        return BeliefTracker(models.scorers[variant.layout], evidence=variant.evidence)
    if key.variant == NO_INFERENCE:
        return AskedEstimator(
            generator,
            task=profile.task,
            world=profile.world,
            seed=spec.seed_of(key),
            deadline_s=spec.deadline_s,
        )
    return SaidEstimator()


def cost_record(
    spec: Spec,
    roles: Mapping[str, CountingGenerator],
    scoring: Mapping[str, float],
    turn_seconds: list[float],
    seconds: float,
) -> Record:
    """What a session took. ``cost`` is in the currency of the experiment's prices; None where
    none are given."""
    usage = {role: generator.usage for role, generator in roles.items()}
    cost = None
    if spec.prices:
        cost = sum(
            spec.prices["model"].cost(u.tokens_in, u.tokens_out)
            for u in usage.values()
            if "model" in spec.prices
        )
        if "scoring" in spec.prices:
            cost += spec.prices["scoring"].cost(int(scoring["tokens_scored"]))
    return {
        "record": "cost",
        "usage": {role: u.as_json() for role, u in usage.items()},
        "scoring": {**scoring, "seconds": round(scoring["seconds"], 3)},
        "turn_seconds": turn_seconds,
        "seconds": round(seconds, 3),
        "cost": cost,
    }
