"""Meta-prompting: a person states a goal and teaches behaviours; the robot says back what it
understood, tries it in simulation, and keeps it (ProVox)."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from good_ros.core.errors import InputError, ModelCancelled, ModelError
from good_ros.core.plan import Step
from good_ros.language.conversation import check_utterance
from good_ros.language.generator import Generator
from good_ros.language.wording import plain
from good_ros.planning.conditions import read as read_conditions
from good_ros.teaching import forms, reading
from good_ros.teaching.behaviours import ITEM, OBJECT, PLACE, Behaviour, Call, Vocabulary, say
from good_ros.teaching.expansion import actions_of, steps_of
from good_ros.teaching.forms import Draft
from good_ros.teaching.profile import PersonProfile, ProfileStore, TaughtGoal, check_goal_text
from good_ros.teaching.room import Room
from good_ros.worlds.base import World
from good_ros.worlds.predicates import explain

HOW = (
    "Tell me your goal ('my goal is to …') or teach me something ('pack X means pick up X and "
    "put it in the bag')."
)
MAX_TRIALS = 12
"""Things and places with which a new behaviour is tried before it is refused."""


@dataclass(frozen=True)
class Answer:
    """What the robot says back; ``success`` where it understood and, if taught, kept it."""

    success: bool
    reply: str


class Teacher:
    """Takes what people say while they teach, a sentence at a time.

    ``world`` is where new behaviours are tried; it is left as it was. Where ``generator`` is None
    only the explicit forms are understood.
    """

    def __init__(
        self,
        store: ProfileStore,
        world: World,
        generator: Generator | None = None,
        *,
        seed: int = 0,
        deadline_s: float | None = None,
    ) -> None:
        self.store = store
        self.world = world
        self.generator = generator
        self.seed = seed
        self.deadline_s = deadline_s
        self.on_step: Callable[[Step], None] = lambda step: None
        """Told each step of a trial that was done."""

    def hear(self, person: str, text: str, cancel: threading.Event | None = None) -> Answer:
        """One sentence of a person. Whatever is wrong is in the reply; only ModelCancelled is
        raised."""
        try:
            said = check_utterance(text)
            profile = self.store.load(person)
            return self._hear(profile, said, cancel)
        except ModelCancelled:
            raise
        except (InputError, ModelError) as error:
            return Answer(False, f"I keep nothing of that: {error}")

    def _hear(self, profile: PersonProfile, said: str, cancel: threading.Event | None) -> Answer:
        bare = said.strip(" .!?").lower()
        if forms.UNDO.match(bare):
            return Answer(True, f"As it was before. {describe(self.store.undo(profile.person))}")
        if forms.ASKS.match(bare):
            return Answer(True, describe(profile))
        if match := forms.FORGET.match(bare):
            return self._forget(profile, match["name"])
        room = Room(self.world.observe())
        vocabulary = profile.vocabulary(actions_of(self.world))
        draft = forms.read(said, vocabulary, room)
        if draft is None and self.generator is not None:
            draft = reading.read(
                said,
                vocabulary,
                room,
                self.generator,
                seed=self.seed,
                deadline_s=self.deadline_s,
                cancel=cancel,
            )
        if draft is None:
            return Answer(False, f"I did not understand that. {HOW}")
        if draft.goal:
            return self._learn_goal(profile, draft.goal, room)
        return self._learn_behaviour(profile, draft, room)

    def _forget(self, profile: PersonProfile, what: str) -> Answer:
        name = plain(what).replace(" ", "_")
        if name in ("my_goal", "the_goal", "goal"):
            self.store.save(replace(profile, goal=None))
            return Answer(True, "I have forgotten your goal.")
        kept = tuple(b for b in profile.behaviours if b.name != name)
        if len(kept) == len(profile.behaviours):
            return Answer(False, f"You taught me no '{what}'. {describe(profile)}")
        changed = replace(profile, behaviours=kept)
        # Another behaviour may be made of it.
        changed.vocabulary().validate()
        self.store.save(changed)
        return Answer(True, f"I have forgotten {name}.")

    def _learn_goal(self, profile: PersonProfile, text: str, room: Room) -> Answer:
        text = check_goal_text(text)
        goal = TaughtGoal(text, tuple(conditions_of(text, room)))
        self.store.save(replace(profile, goal=goal))
        means = "; ".join(explain(c) for c in goal.conditions)
        words = f"Your goal is: {text}."
        return Answer(True, f"{words} I understand by it: {means}." if means else words)

    def _learn_behaviour(self, profile: PersonProfile, draft: Draft, room: Room) -> Answer:
        behaviour = draft.behaviour
        assert behaviour is not None
        known = next((b for b in profile.behaviours if b.name == behaviour.name), None)
        if known and draft.example_of is None:
            # Taught anew: the phrases for it that still fit are kept.
            behaviour = _with_phrases_of(behaviour, known)
        changed = profile.with_behaviour(
            replace(behaviour, examples=tuple(dict.fromkeys(behaviour.examples)))
        )
        vocabulary = changed.vocabulary(actions_of(self.world))
        vocabulary.validate(room.types)
        tried = self._try(behaviour, vocabulary, room)
        saved = self.store.save(changed)
        if draft.example_of:
            phrases = ", ".join(f"'{e}'" for e in behaviour.examples)
            return Answer(True, f"For {behaviour.name} you may say: {phrases}.")
        again = "I have changed it" if known else "I have kept it"
        return Answer(
            True,
            f"I understand: {say(behaviour, vocabulary)}. I tried '{vocabulary.words(tried)}' in "
            f"simulation, and it works. {again} (revision {saved.revision}).",
        )

    def _try(self, behaviour: Behaviour, vocabulary: Vocabulary, room: Room) -> Call:
        """The call with which it works in simulation. Raises InputError, with the world's reason,
        where it works with nothing that is here."""
        reason = "nothing here is of the types that it needs"
        for call in _calls(behaviour, room):
            problem = self._runs(call, vocabulary, room)
            if problem is None:
                return call
            reason = problem
        raise InputError(f"{behaviour.name} does not work in simulation: {reason}")

    def _runs(self, call: Call, vocabulary: Vocabulary, room: Room) -> str | None:
        """None where it can be done now, or once the hand is above or has something; else why
        not."""
        before = self.world.snapshot()
        first: str | None = None
        try:
            for prepare in self._preparations(room):
                self.world.restore(before)
                for step in prepare:
                    self.world.act(step)
                now = Room(self.world.observe())
                problem = self._do(steps_of(self.world, now, vocabulary, [call]))
                if problem is None:
                    return None
                first = first or problem
        finally:
            self.world.restore(before)
        return first

    def _preparations(self, room: Room) -> list[tuple[Step, ...]]:
        """What a behaviour such as 'put it in the bag' may come after."""
        thing = next((n for n, t in room.types.items() if t == OBJECT), "")
        after = ("GoTo", "PickupObject") if thing else ()
        return [(), *((Step(action, room.ids[thing]),) for action in after)]

    def _do(self, steps: tuple[Step, ...]) -> str | None:
        for step in steps:
            outcome = self.world.act(step)
            missing = self.world.verify(step) if outcome.success else outcome.error_msg
            if missing is not None:
                return f"'{step.label}': {missing}"
            self.on_step(step)
        return None


def conditions_of(text: str, room: Room) -> list[dict[str, list[str]]]:
    """What a goal's words ask for, as predicates: as a goal's conditions are read, or, where it
    only names things ('pack the lunch with skittles and a fork'), those things in the one place
    that it names or the one that its words are like; empty where it names none."""
    if found := read_conditions(text, room.objects):
        return [dict(p) for p in found]
    if re.search(r"\b(no|not|without|except|nothing|but)\b", text.lower()):
        return []
    things = room.in_text(text, OBJECT)
    places = [n for n, t in room.types.items() if t == PLACE and n != "Table"]
    named = [p for p in room.in_text(text, PLACE) if p in places]
    named = named or [p for p in places if set(room.spoken(p).split()) & set(plain(text).split())]
    return [{"in": [thing, named[0]]} for thing in things] if len(named) == 1 else []


def describe(profile: PersonProfile) -> str:
    """What is known of a person, in words."""
    goal = f"Your goal is: {profile.goal.text}." if profile.goal else "You told me no goal yet."
    vocabulary = profile.vocabulary()
    taught = "; ".join(say(b, vocabulary) for b in profile.behaviours)
    return f"{goal} You taught me: {taught}." if taught else f"{goal} You taught me nothing yet."


def _calls(behaviour: Behaviour, room: Room) -> list[Call]:
    """The behaviour with what it may be told, at most MAX_TRIALS calls."""
    values = []
    for argument in behaviour.arguments:
        able = [n for n in room.types if room.suits(n, argument.type)]
        if argument.type == ITEM:
            able.sort(key=lambda n: room.types[n] != OBJECT)
        values.append(able)
    # Never all of them: of a kitchen's things there are millions of fours.
    told = itertools.islice(itertools.product(*values), MAX_TRIALS)
    return [Call(behaviour.name, names) for names in told]


def _with_phrases_of(behaviour: Behaviour, known: Behaviour) -> Behaviour:
    wanted = sorted(a.name for a in behaviour.arguments)
    fitting = [e for e in known.examples if sorted(re.findall(r"\{(\w*)\}", e)) == wanted]
    return replace(behaviour, examples=(*behaviour.examples, *fitting))
