"""What proactive suggestions save a person: ``good eval proactive`` (ProVox).

A simulated person packs a lunch bag by commands in the words that they taught, once without
suggestions and once with them. The robot knows the goal as the person put it, the behaviours that
they taught, and what was said and done; never what the person really wants. That differs from
their words: they leave out some of their wishes, some change their mind about one, some take
things in their own order alone, and now and then a suggestion goes unheard.
"""

from __future__ import annotations

import math
import random
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import GoodError, InputError
from good_ros.core.goals import Goal, GoalSet, unspecified_goal
from good_ros.core.plan import ErrorCode, Step, StepResult, TaskState, TaskStatus
from good_ros.inference.scorer import Score
from good_ros.inference.tracker import BeliefTracker
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning.commands import Command
from good_ros.planning.planner import Planner
from good_ros.planning.proactive import Memory, SuggestionState, propose
from good_ros.planning.trial import try_out
from good_ros.planning.turn import TurnActor
from good_ros.teaching.behaviours import OBJECT
from good_ros.teaching.offers import offers
from good_ros.teaching.planner import People
from good_ros.teaching.profile import ProfileStore
from good_ros.teaching.room import Room
from good_ros.teaching.teacher import Teacher
from good_ros.worlds.base import World
from good_ros.worlds.table import SCENE, THINGS

BAG = "LunchBag"
CONFIDENT, CAREFUL = "confident", "careful"
LESSONS = {
    CONFIDENT: ("pack X means pick up X and put it in the bag",),
    CAREFUL: (
        "reach for X means go to X",
        "put it in the bag means grasp, go to the bag and release",
    ),
}
"""What the two people of ProVox's figure teach."""
NAMES_A_WISH = 0.8
CHANGES_MIND = 0.25
IS_PARTICULAR = 0.25
DOES_NOT_HEAR = 0.1
OFF_GOAL = 0.2
"""Share of commands that go beyond the goal as it was put, as the belief takes it."""
MOST_COMMANDS = 60


@dataclass(frozen=True)
class Person:
    """Whom a seed stands for. ``wanted``: what is to be in the bag, in the order in which the
    person thinks of it; ``named``: what they say that they want. A ``particular`` one takes only
    what comes next."""

    seed: int
    kind: str
    wanted: tuple[str, ...]
    named: tuple[str, ...]
    particular: bool

    @staticmethod
    def draw(seed: int, things: Sequence[str] = THINGS) -> Person:
        chance = random.Random(seed)
        kind = (CONFIDENT, CAREFUL)[seed % 2]
        wanted = chance.sample(list(things), chance.randint(3, 6))
        named = [w for w in wanted if chance.random() < NAMES_A_WISH] or wanted[:1]
        if chance.random() < CHANGES_MIND:
            named.append(chance.choice([t for t in things if t not in wanted]))
        chance.shuffle(named)
        particular = chance.random() < IS_PARTICULAR
        return Person(seed, kind, tuple(wanted), tuple(named), particular)

    def goal(self, room: Room) -> str:
        """Their goal, in their words."""
        *first, last = [f"the {room.spoken(name)}" for name in self.named]
        return f"pack a lunch bag with {', '.join(first)} and {last}" if first else (
            f"pack a lunch bag with {last}"
        )  # fmt: skip

    def missing(self, room: Room) -> list[str]:
        """What is wanted and not in the bag yet."""
        there = {o.name for o in room.objects if BAG in o.inside}
        return [name for name in self.wanted if name not in there]

    def command(self, room: Room, beneath: str) -> str:
        """What they say next, in the words that they taught; ``beneath`` is what the hand was
        taken to."""
        missing = self.missing(room)
        if beneath in missing or room.held in missing:
            return "put it in the bag"
        thing = room.spoken(missing[0])
        return f"pack the {thing}" if self.kind == CONFIDENT else f"reach for the {thing}"

    def answer(self, about: set[str], room: Room, chance: random.Random) -> SuggestionState:
        """What they make of an offer that is about these things."""
        if chance.random() < DOES_NOT_HEAR:
            return SuggestionState.IGNORED
        missing = self.missing(room)
        welcome = set(missing[:1]) if self.particular else set(missing)
        fine = bool(about) and about <= welcome
        return SuggestionState.ACCEPTED if fine else SuggestionState.REFUSED


@dataclass(frozen=True)
class SessionCount:
    """One session: ``answers`` are a yes, a no or silence, ``complete`` whether it ended with
    everything wanted in the bag, and of the rest nothing."""

    seed: int
    commands: int
    offered: int
    accepted: int
    complete: bool


class CommandScorer:
    """How likely a command is under a goal, without a language model: a person with a goal names
    one of its things, and something else in OFF_GOAL of the cases; one without names any."""

    model_name = "commands"

    def __init__(self, room: Room) -> None:
        self.room = room
        self.things = [n for n, t in room.types.items() if t == OBJECT]

    def log_likelihood(self, goal: Goal, utterance: str) -> float:
        """In nats."""
        about = self.room.in_text(utterance, OBJECT)
        if not about:
            return 0.0
        named = set() if goal.is_unspecified else set(self.room.in_text(goal.text, OBJECT))
        others = len(self.things) - len(named)
        if not named or not others:
            return -math.log(len(self.things)) * len(about)
        inside, outside = (1 - OFF_GOAL) / len(named), OFF_GOAL / others
        return sum(math.log(inside if name in named else outside) for name in about)

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        values = [self.log_likelihood(Goal("", text), continuation) for text in contexts]
        return [Score(value, (value,)) for value in values]

    def session(self) -> CommandSession:
        return CommandSession(self)

    def self_test(self) -> None:
        """There is no model to prove."""

    def close(self) -> None:
        """Nothing is held."""


class CommandSession:
    """A session of a CommandScorer; it reads no tokens."""

    tokens_scored = 0
    tokens_reused = 0

    def __init__(self, scorer: CommandScorer) -> None:
        self._scorer = scorer
        self._goals: Sequence[Goal] = ()
        self._said: list[str] = []

    def set_goals(self, goals: Sequence[Goal]) -> None:
        self._goals = list(goals)

    def append(self, question: str, utterance: str) -> None:
        self._said.append(utterance)

    def log_likelihoods(
        self, cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        return {
            goal.id: tuple(self._scorer.log_likelihood(goal, u) for u in self._said)
            for goal in self._goals
        }

    def what_if(
        self, question: str, answers: Sequence[str], cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        return {
            goal.id: tuple(self._scorer.log_likelihood(goal, a) for a in answers)
            for goal in self._goals
        }

    def close(self) -> None:
        """Nothing is held."""


class Table:
    """One session at the table: the robot's side, and the count."""

    def __init__(self, person: Person, world: World, folder: str, suggests: bool) -> None:
        self.person = person
        self.world = world
        self.suggests = suggests
        world.reset(SCENE, person.seed)
        self.room = Room(world.observe())
        name = f"{person.kind}-{person.seed}"
        store = ProfileStore(folder)
        teacher = Teacher(store, world)
        for said in (f"my goal is to {person.goal(self.room)}", *LESSONS[person.kind]):
            answer = teacher.hear(name, said)
            if not answer.success:
                raise GoodError(f"the robot does not understand {said!r}: {answer.reply}")
        self.people = People(store, name)
        self.actor = TurnActor(world, Planner(ScriptedGenerator([]), task=""))
        self.tracker = BeliefTracker(CommandScorer(self.room))
        self.transcript = Transcript("table")
        profile = self.people.profile(self.transcript)
        assert profile is not None
        assert profile.goal is not None
        self.profile = profile
        self.goal = profile.goal.hypothesis()
        self.actor.conditions.tell(self.goal, profile.goal.conditions)
        self.history: list[StepResult] = []
        self.memory = Memory()
        # The person's moods are the same with and without suggestions.
        self.chance = random.Random(person.seed + 1000)

    def run(self) -> SessionCount:
        commands = 0
        while self.person.missing(self.look()) and commands < MOST_COMMANDS:
            commands += 1
            self.obey(self.person.command(self.room, self.beneath()))
            while self.suggests and self.suggest():
                continue
        self.tracker.close()
        given = [s.state for s in self.memory.suggestions]
        return SessionCount(
            self.person.seed,
            commands,
            len(given),
            given.count(SuggestionState.ACCEPTED),
            self.is_complete(),
        )

    def look(self) -> Room:
        self.room = Room(self.world.observe())
        return self.room

    def beneath(self) -> str:
        """What the hand was taken to last, where nothing was done with it yet."""
        last = [r.step for r in self.history if r.success][-1:]
        return self.room.names[last[0].object_id] if last and last[0].action == "GoTo" else ""

    def about(self, steps: Sequence[Step]) -> set[str]:
        """The things that steps go to or move, as anybody at the table sees."""
        trial = try_out(self.world, steps)
        moved = {item.name for item, aspect in trial.changed() if aspect == "place"}
        gone_to = {self.room.names.get(s.object_id, "") for s in steps if s.action == "GoTo"}
        return moved | {n for n in gone_to if self.room.types.get(n) == OBJECT}

    def is_complete(self) -> bool:
        there = {o.name for o in self.look().objects if BAG in o.inside}
        return there == set(self.person.wanted)

    def obey(self, said: str) -> None:
        """A turn: hear, and do what was commanded."""
        turn = Turn(self.transcript.turn + 1, "", said)
        self.transcript = Transcript("table", (*self.transcript.turns, turn))
        heard = self.people.hear(self.transcript, self.history, self.world)
        if not isinstance(heard, Command):
            raise GoodError(f"the robot does not understand {said!r}: {heard}")
        self.carry_out(heard.steps)

    def carry_out(self, steps: Sequence[Step]) -> None:
        turn = self.transcript.turn
        status = TaskStatus("table", turn, TaskState.EXECUTING)
        outcome = self.actor.carry_out(steps, status, turn)
        self.history += outcome.results
        if outcome.error_code not in (ErrorCode.NONE,):
            raise GoodError(f"a step failed: {outcome.error_msg}")

    def suggest(self) -> bool:
        """Offer one action, and do it where it is accepted; False where the person is to speak."""
        if not self.person.missing(self.look()):
            return False
        belief = self.belief()
        conditions = self.actor.conditions
        groups = offers(self.world, self.profile, belief, conditions)
        offer = propose(self.world, belief, conditions, groups, self.memory)
        if offer is None:
            return False
        self.memory.offer(offer, self.transcript.turn, belief.top)
        answer = self.person.answer(self.about(offer.steps), self.room, self.chance)
        self.memory.settle(answer)
        if answer is SuggestionState.ACCEPTED:
            self.carry_out(offer.steps)
        return answer is SuggestionState.ACCEPTED

    def belief(self) -> Belief:
        turn = self.transcript.turn
        goals = GoalSet("table", turn, turn + 1, (unspecified_goal(), self.goal))
        return self.tracker.update(self.transcript, goals)


def run_sessions(
    seeds: Iterable[int],
    world: World,
    on_result: Callable[[SessionCount, SessionCount], None] = lambda without, having: None,
) -> list[tuple[SessionCount, SessionCount]]:
    """Each person without and with suggestions, in this world. Raises GoodError where a command
    or a step fails."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            person = Person.draw(seed)
            without = Table(person, world, folder, suggests=False).run()
            having = Table(person, world, folder, suggests=True).run()
            on_result(without, having)
            found.append((without, having))
    return found


def summary(found: Sequence[tuple[SessionCount, SessionCount]]) -> Mapping[str, Any]:
    """``commands_with`` and ``commands_without`` are sums over the ``n`` people; shares are of 1.

    Raises InputError where there are none.
    """
    without = sum(w.commands for w, _ in found)
    if not without:
        raise InputError("no sessions were run")
    having = sum(h.commands for _, h in found)
    offered = sum(h.offered for _, h in found)
    return {
        "n": len(found),
        "accepted_share": sum(h.accepted for _, h in found) / offered if offered else 0.0,
        "commands_with": having,
        "commands_without": without,
        "reduction": 1 - having / without,
    }
