"""Plans with a person's own behaviours: as labels where the reply is constrained JSON, as
functions where the server calls tools (ProVox: 'we encode each of the motion primitives as OpenAI
Function Calling tools')."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import InputError
from good_ros.core.plan import Step, StepResult
from good_ros.language import prompts
from good_ros.language.generator import Generator, Message, Sampling, ToolCall, can_call_tools
from good_ros.planning.commands import Heard
from good_ros.planning.conditions import Conditions
from good_ros.planning.planner import TOKENS_A_STEP, FailedPlan, Planner, PlanPrompt
from good_ros.teaching.behaviours import OBJECT, Behaviour, Call, Vocabulary
from good_ros.teaching.commands import hear
from good_ros.teaching.expansion import actions_of, steps_of
from good_ros.teaching.profile import PersonProfile, ProfileStore
from good_ros.teaching.room import Room
from good_ros.worlds.base import World

MAX_LABELS = 40
"""Calls of taught behaviours that are offered at once."""
EXAMPLES_SHOWN = 12
END_TOOL = "task_completed"


class People:
    """Whose words count: the profile of whoever speaks, else of ``person``.

    Somebody without a profile is taken for ``person``; where that is empty nobody taught
    anything.
    """

    def __init__(self, store: ProfileStore, person: str = "") -> None:
        self.store = store
        self.person = person

    def profile(self, transcript: Transcript) -> PersonProfile | None:
        """Raises InputError where the profile cannot be read."""
        speaker = transcript.turns[-1].speaker_id if transcript.turns else ""
        for name in (speaker, self.person):
            try:
                found = self.store.load(name) if name else None
            except InputError:
                if name == self.person:
                    raise
                # A speaker's id that is no name, or whose profile was damaged by hand.
                continue
            if found is not None and found.revision:
                return found
        return None

    def hear(
        self, transcript: Transcript, history: Sequence[StepResult], world: World
    ) -> Heard | None:
        """The command in the last utterance, in the words of its speaker; None for none, and for
        people who taught nothing: their words are the planner's."""
        profile = self.profile(transcript)
        if profile is None or not profile.behaviours or not transcript.turns:
            return None
        vocabulary = profile.vocabulary(actions_of(world))
        return hear(transcript.turns[-1].utterance, world, vocabulary, history)

    def tell(self, transcript: Transcript, conditions: Conditions) -> None:
        """When the speaker's taught goal is fulfilled, as they said it."""
        profile = self.profile(transcript)
        if profile is not None and profile.goal is not None:
            conditions.tell(profile.goal.hypothesis(), profile.goal.conditions)


class TaughtPlanner(Planner):
    """A planner that knows the behaviours of the person who speaks."""

    def __init__(self, generator: Generator, people: People, **options: Any) -> None:
        super().__init__(generator, **options)
        self.people = people
        self._tools = can_call_tools(generator)

    def plan(
        self,
        world: World,
        belief: Belief,
        transcript: Transcript,
        history: Sequence[StepResult],
        failed: Sequence[FailedPlan] = (),
        cancel: threading.Event | None = None,
    ) -> tuple[Step, ...]:
        profile = self.people.profile(transcript)
        if profile is None or not self._tools:
            return super().plan(world, belief, transcript, history, failed, cancel)
        prompt = self.prompt(world, belief, transcript, history, failed, cancel)
        steps = self._call_tools(world, profile, prompt, transcript, cancel)
        if steps is None:
            # The server calls no tools, or called one as it cannot be: JSON does it as well.
            return self.answer(prompt, transcript, cancel)
        return steps

    def actions(
        self, world: World, relevant: Sequence[str], transcript: Transcript, texts: Sequence[str]
    ) -> dict[str, tuple[Step, ...]]:
        own = super().actions(world, relevant, transcript, texts)
        profile = self.people.profile(transcript)
        if profile is None:
            return own
        room = Room(world.observe())
        vocabulary = profile.vocabulary(actions_of(world))
        names = {room.names[i] for i in relevant if i in room.names}
        calls = itertools.islice(taught_calls(profile.behaviours, room, names), MAX_LABELS)
        taught = {}
        for call in calls:
            try:
                taught[vocabulary.words(call)] = steps_of(world, room, vocabulary, [call])
            except InputError:
                # It is made of something that this world has not.
                continue
        return {**taught, **own}

    def messages(self, prompt: PlanPrompt, transcript: Transcript) -> list[Message]:
        profile = self.people.profile(transcript)
        if profile is None:
            return super().messages(prompt, transcript)
        return prompts.load("plan_taught").messages(
            **prompt.slots,
            goal=profile.goal.text if profile.goal else "(not said yet)",
            examples=examples_text(profile) or "(nothing special)",
        )

    def _call_tools(
        self,
        world: World,
        profile: PersonProfile,
        prompt: PlanPrompt,
        transcript: Transcript,
        cancel: threading.Event | None,
    ) -> tuple[Step, ...] | None:
        """The steps of the functions that the server calls; None where that does not work."""
        room = Room(world.observe())
        vocabulary = profile.vocabulary(actions_of(world))
        names = [room.names[i] for i in prompt.relevant if i in room.names]
        offered = PlanPrompt(
            {**prompt.slots, "actions": "the functions"}, prompt.actions, prompt.relevant
        )
        server: Any = self.generator
        calls: Sequence[ToolCall] | None = server.call_tools(
            self.messages(offered, transcript),
            Sampling(TOKENS_A_STEP * self.max_steps, 0.0, self.seed),
            tools(vocabulary, room, names),
            self.deadline_s,
            cancel,
        )
        if calls is None:
            self._tools = False
            return None
        steps: list[Step] = []
        for called in calls[: self.max_steps]:
            if called.name == END_TOOL:
                steps += prompt.actions.get("task completed", ())
                continue
            try:
                behaviour = vocabulary[called.name]
                told = tuple(str(called.arguments[a.name]) for a in behaviour.arguments)
                steps += steps_of(world, room, vocabulary, [Call(called.name, told)])
            except (KeyError, InputError):
                self.repair_turns += 1
                return None
        return tuple(steps) if calls else None


def tools(vocabulary: Vocabulary, room: Room, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """A person's behaviours as function schemas in the form of OpenAI's tools; ``names`` are the
    things that they may be told, empty for all of the room."""
    found = [
        _tool(b.name, _about(b, vocabulary), _parameters(b, room, names))
        for b in vocabulary.behaviours
        if all(_able(room, a.type, names) for a in b.arguments)
    ]
    end = _tool(END_TOOL, "Nothing more is to be done.", {})
    return [*found, end]


def taught_calls(behaviours: Sequence[Behaviour], room: Room, names: set[str]) -> Iterator[Call]:
    """Every call of the behaviours with things of ``names``; objects all, places and other items
    where they are named, else all that there are."""
    for behaviour in behaviours:
        values = [_able(room, a.type, sorted(names)) for a in behaviour.arguments]
        for told in itertools.product(*values):
            yield Call(behaviour.name, told)


def examples_text(profile: PersonProfile) -> str:
    """What the person says and what is done then, a line each (USER_DEFINED_EXAMPLES)."""
    lines = [
        f"- '{example.replace('{', '').replace('}', '')}': "
        + str(Call(b.name, tuple(a.name for a in b.arguments)))
        for b in profile.behaviours
        for example in b.examples
    ]
    return "\n  ".join(lines[:EXAMPLES_SHOWN])


def _able(room: Room, kind: str, names: Sequence[str]) -> list[str]:
    suited = [n for n in room.types if room.suits(n, kind)]
    named = [n for n in suited if n in names]
    return named or ([] if kind == OBJECT and names else suited)


def _parameters(behaviour: Behaviour, room: Room, names: Sequence[str]) -> dict[str, Any]:
    return {
        a.name: {"type": "string", "enum": _able(room, a.type, names)} for a in behaviour.arguments
    }


def _about(behaviour: Behaviour, vocabulary: Vocabulary) -> str:
    said = ", ".join(f"'{e.replace('{', '').replace('}', '')}'" for e in behaviour.examples[:4])
    made = " then ".join(vocabulary.words(s) for s in behaviour.steps)
    return " ".join(filter(None, (f"{made}." if made else "", f"Said as {said}." if said else "")))


def _tool(name: str, description: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": dict(properties),
                "required": list(properties),
                "additionalProperties": False,
            },
        },
    }
