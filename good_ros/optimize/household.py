"""'household': the executor's own planner prompt, on the robot profiles.

An instance is a profile and a seed, which moves things in the room and draws what the person says:
one or two of the profile's wishes, or some for any things and places in the profile's room, as a
settled belief holds them. A trial is one turn of the executor (``planning.turn``) with the prompt
in question. Its progress is the share of plans that were executed without repair, and it is
completed where the wishes came true as well.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import InputError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.core.plan import Step, TaskState
from good_ros.experiments.profiles import Profile, load_profile
from good_ros.experiments.tasks import choose_profiles
from good_ros.language import prompts
from good_ros.language.generator import Generator
from good_ros.optimize.corrections import read_corrections
from good_ros.optimize.environments.base import Feedback, Kind, digest
from good_ros.optimize.environments.registry import Instance
from good_ros.optimize.tasks import HELD_BACK_SEEDS, prompt_file
from good_ros.optimize.trial import Counted, Round, Trial, Unconstrained
from good_ros.planning.check import PUT
from good_ros.planning.planner import Planner
from good_ros.planning.turn import PlanRecord, TurnActor
from good_ros.worlds import predicates
from good_ros.worlds.registry import make_world

TASK_SLOT = "{task}"
PROFILE, ROOM = "profile", "room"
PUT_KINDS = ("in", "on", True)
"""YAML 1.1 reads a bare `on` as true."""


@dataclass(frozen=True)
class HouseholdOptions:
    """``per_profile`` instances of each profile, and as many held back; ``corrections`` names
    folders of recorded sessions, or of many of them. With ``constrained`` false the model is not
    held to the possible actions, as by a server that cannot: what is not a list of them is
    repaired. ``wishes`` says where they are drawn from: the profile (one or two), or its room
    (``room_wishes`` at once, which asks more of a plan)."""

    profiles: tuple[str, ...] = ("robot",)
    per_profile: int = 2
    held_back: int = 2
    first_seed: int = 0
    corrections: tuple[str, ...] = ()
    start_prompt: str = ""
    max_prompt_chars: int = 2500
    max_replans: int = 2
    constrained: bool = True
    wishes: str = PROFILE
    room_wishes: int = 4


class HouseholdTask:
    """What is searched for is the planner's system message; the slots of the rest stay."""

    name: str = "household"

    def __init__(self, options: HouseholdOptions) -> None:
        if options.wishes not in (PROFILE, ROOM):
            raise InputError(f"wishes is {PROFILE} or {ROOM}, not {options.wishes!r}")
        self.options = options
        self.form = prompts.load("plan")
        self.start_prompt = options.start_prompt or self.form.system.strip()
        profiles = choose_profiles(options.profiles)
        first = options.first_seed
        self.instances: Sequence[Instance] = [
            self._instance(p, seed)
            for p in profiles
            for seed in range(first, first + options.per_profile)
        ]
        self.held_back: Sequence[Instance] = [
            self._instance(p, HELD_BACK_SEEDS + n)
            for p in profiles
            for n in range(options.held_back)
        ]

    def _instance(self, profile: Profile, seed: int) -> Instance:
        if self.options.wishes == ROOM:
            return _room_instance(profile, seed, self.options.room_wishes)
        return _profile_instance(profile, seed)

    def usable(self, prompt: str) -> str:
        """Every slot but the task's is taken out, and the task's is put in where it is missing."""
        text = prompt.strip()[: self.options.max_prompt_chars]
        text = prompts.SLOT.sub(lambda m: m[0] if m[0] == TASK_SLOT else m[1], text)
        if text and TASK_SLOT not in text:
            text = f"{text}\nYour task is to {TASK_SLOT}."
        return text

    def given_feedback(self) -> Sequence[Feedback]:
        """What people said and did against the robot in recorded sessions."""
        return [f for folder in self.options.corrections for f in read_corrections(Path(folder))]

    def as_file(self, prompt: str, provenance: str) -> tuple[str, str]:
        text = prompt_file(provenance, self.form.slots, prompt, self.form.user)
        return self.form.name, text

    def trial(self, prompt: str, instance: Instance, model: Generator, memory: str = "") -> Trial:
        counted = Counted(model) if self.options.constrained else Unconstrained(model)
        profile = load_profile(instance.layout["profile"])
        wishes = _wishes(instance, profile)
        system = f"{prompt}\n\n{memory}" if memory else prompt
        world = make_world("household")
        world.reset(profile.scene, int(instance.layout["seed"]))
        planner = Planner(
            counted, task=profile.task, template=replace(self.form, system=system.strip())
        )
        actor = TurnActor(
            world, planner, self.options.max_replans, approve=lambda status, stop: True
        )
        plans: list[PlanRecord] = []
        actor.on_plan = plans.append
        belief, transcript = said(profile, wishes)
        state = f"{transcript.as_text()}\n{world.describe()[:500]}"
        status = actor.act(belief, transcript, ())
        objects = world.observe()
        fulfilled = all(predicates.holds(wish, objects) for wish in wishes)
        clean = [plan for plan in plans if plan.executed and not plan.repaired]
        reply = " / ".join(" ".join(text.split()) for text in counted.replies)
        feedback = self._feedback(status.state, status.error_msg, reply, plans, wishes, fulfilled)
        said_of_it = status.error_msg or ("fulfilled" if fulfilled else "not fulfilled")
        world.close()
        # A turn in which nothing is executed has no plan that needed no repair.
        return Trial(
            instance.id,
            len(clean) / max(1, len(plans)),
            bool(clean) and fulfilled,
            sum(len(plan.steps) for plan in plans),
            feedback,
            (Round(state, reply, said_of_it),),
            counted.calls,
            counted.tokens_in,
            counted.tokens_out,
            counted.seconds,
        )

    @staticmethod
    def _feedback(
        state: TaskState,
        message: str,
        reply: str,
        plans: Sequence[PlanRecord],
        wishes: Sequence[predicates.Predicate],
        fulfilled: bool,
    ) -> tuple[Feedback, ...]:
        # The reply helps whoever reads the feedback most (Table 5).
        said = f"The reply was: {reply}. "
        found = []
        wanted = " and ".join(predicates.explain(wish) for wish in wishes)
        for plan in plans:
            steps = "; ".join(step.label for step in plan.steps)
            if plan.repaired:
                found.append(
                    Feedback(
                        Kind.INVALID,
                        f"{said}It had to be put right, or asked for again; the plan was then: "
                        f"{steps}. Wanted was that {wanted}.",
                    )
                )
        if state is TaskState.FAILED:
            text = f"{said}No plan worked: {message}. Wanted was that {wanted}."
            found.append(Feedback(Kind.INVALID, text))
        elif not plans and not fulfilled:
            text = f"{said}Nothing was done, though it was wanted that {wanted}."
            found.append(Feedback(Kind.LIMIT, text))
        elif not fulfilled:
            steps = "; ".join(step.label for plan in plans for step in plan.steps)
            text = f"{said}The plan was: {steps}. After it, it is not true that {wanted}."
            found.append(Feedback(Kind.WRONG_OBJECT, text))
        return tuple(found)


def _wishes(instance: Instance, profile: Profile) -> list[predicates.Predicate]:
    """What the person wants; of a profile's wishes the layout holds the numbers alone."""
    wishes = instance.layout["wishes"]
    return [profile.conditions[wish] if isinstance(wish, int) else wish for wish in wishes]


def _room_instance(profile: Profile, seed: int, count: int) -> Instance:
    """So many things of the profile's room, each to be put in a place of its own. Raises
    InputError where the room has not so many."""
    world = make_world("household")
    world.reset(profile.scene, seed)
    objects = world.observe()
    things = {o.id: o for o in objects}
    how_many = Counter(o.type for o in objects)
    movable = {o.id for o in objects if "pickupable" in o.affordances}
    puts = [step for step in world.possible_actions(list(things)) if step.action == PUT]
    random.Random(f"{profile.name} {seed} {count}").shuffle(puts)
    wishes: list[dict[str, Any]] = []
    used: set[str] = set()
    for step in puts:
        thing, place = things[step.object_id], things[step.target_id]
        taken = {thing.type, place.id}
        # Of two alike, either would do; and what a thing is in should not be carried off itself.
        alike = how_many[thing.type] > 1
        if alike or place.id in movable or place.id in thing.inside or used & taken:
            continue
        used |= taken
        wishes.append({_preposition(step): [thing.name, place.name]})
        if len(wishes) == count:
            break
    else:
        raise InputError(f"{profile.scene} has not {count} things for places of their own")
    world.close()
    layout = {"profile": profile.name, "seed": seed, "wishes": wishes}
    return Instance(f"{profile.name}-{seed}-{digest(layout)}", layout)


def _preposition(step: Step) -> str:
    return "in" if " in " in step.label else "on"


def _profile_instance(profile: Profile, seed: int) -> Instance:
    """What a seed makes of a profile; seed 0 is the scene as it was recorded."""
    rng = random.Random(f"{profile.name} {seed}")
    able = [n for n, c in enumerate(profile.conditions) if next(iter(c)) in PUT_KINDS]
    if not able:
        raise InputError(f"profile {profile.name} says nowhere what should be put where")
    world = make_world("household")
    layout: dict[str, Any] = {}
    for draw in range(100):
        world_seed = seed if draw == 0 else seed + 10_000 * draw
        wishes = sorted(rng.sample(able, min(len(able), rng.randint(1, 2))))
        layout = {"profile": profile.name, "seed": world_seed, "wishes": wishes}
        world.reset(profile.scene, world_seed)
        objects = world.observe()
        # A wish that is true at the start asks for nothing.
        if not any(predicates.holds(profile.conditions[n], objects) for n in wishes):
            break
    else:
        raise InputError(f"profile {profile.name}: its wishes are always true at the start")
    world.close()
    return Instance(f"{profile.name}-{seed}-{digest(layout)}", layout)


def said(profile: Profile, wishes: Sequence[Mapping[str, Any]]) -> tuple[Belief, Transcript]:
    """A settled belief in the wishes, with another of the profile's beside it, and the dialog
    that led to it."""
    parts = [_in_words(wish) for wish in wishes]
    goal = Goal("wanted", ", and ".join(parts))
    others = [c for c in profile.conditions if c not in wishes and next(iter(c)) in PUT_KINDS]
    other = Goal("other", _in_words(others[0])) if others else unspecified_goal()
    text = f"Please have {' and '.join(parts)}."
    belief = Belief(
        "optimize",
        1,
        1,
        True,
        (Hypothesis(goal, 0.9, -1.0, -0.69), Hypothesis(other, 0.1, -3.2, -0.69)),
        0.33,
    )
    turn = Turn(1, "What would you like me to move, and where should it go?", text)
    return belief, Transcript("optimize", (turn,))


def _in_words(wish: Mapping[str, Any]) -> str:
    kind, (thing, place) = next(iter(wish.items()))
    return f"the {thing} put {'in' if kind == 'in' else 'on'} the {place}"
