"""A plan for the likely goals, as a list of the world's possible actions (GOOD, III-E, IV-B3)."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript
from good_ros.core.errors import MalformedReply
from good_ros.core.plan import Step, StepResult
from good_ros.language import prompts
from good_ros.language.generator import Generator, Message, Sampling
from good_ros.language.json_reply import parse
from good_ros.planning.needs import Needs, needs_of
from good_ros.planning.relevance import (
    can_be_acted_on,
    choose,
    is_called_for,
    named_objects,
)
from good_ros.planning.shopping import RECIPE, find_items, search_terms
from good_ros.worlds.base import ObjectView, Searchable, World

MAX_TYPES = 6
MAX_TERMS = 8
MAX_ITEMS = 20
"""Of a store's items, those that a plan is made over."""
TYPES_TOKENS = 64
TOKENS_A_STEP = 16
HISTORY_SHOWN = 6
TURNS_SHOWN = 3
RULED_OUT = 0.02
"""A goal under this probability is not shown to the planner: it would only distract."""
ADD = "AddToCart"
UNFIT_TYPES = frozenset({"Floor", "Wall", "Window", "Ceiling"})


@dataclass(frozen=True)
class FailedPlan:
    """A plan that could not be carried out, with the world's reason."""

    steps: tuple[Step, ...]
    reason: str


@dataclass(frozen=True)
class PlanPrompt:
    """The slots of a planning prompt, the actions by label, and the ids of what matters."""

    slots: Mapping[str, str]
    actions: Mapping[str, tuple[Step, ...]]
    relevant: Sequence[str]
    world: str = ""
    """In whose words the prompt is."""


class Planner:
    """Makes plans with a generator.

    ``top_k`` goals are shown with their probabilities, most likely first; a plan has at most
    ``max_steps`` steps, each one of the world's possible actions by its label. In a world that
    is searched, ``results`` objects are looked at for each search term; the paper takes one.
    ``template`` takes the place of the prompt ``plan``.
    """

    def __init__(
        self,
        generator: Generator,
        *,
        task: str,
        top_k: int = 3,
        max_steps: int = 12,
        seed: int = 0,
        deadline_s: float | None = None,
        results: int = 1,
        template: prompts.Prompt | None = None,
    ) -> None:
        self.generator = generator
        self.task = task
        self.top_k = top_k
        self.max_steps = max_steps
        self.seed = seed
        self.deadline_s = deadline_s
        self.results = results
        self.template = template
        self.repair_turns = 0
        """Replies that were asked for again with the error, since the start."""

    def plan(
        self,
        world: World,
        belief: Belief,
        transcript: Transcript,
        history: Sequence[StepResult],
        failed: Sequence[FailedPlan] = (),
        cancel: threading.Event | None = None,
    ) -> tuple[Step, ...]:
        """The steps to take now; empty where nothing is left to do.

        A reply that is not a list of possible actions is asked for once more with the error;
        raises MalformedReply where that one is not either, and ModelError where the generator
        fails.
        """
        prompt = self.prompt(world, belief, transcript, history, failed, cancel)
        return self.answer(prompt, transcript, cancel)

    def prompt(
        self,
        world: World,
        belief: Belief,
        transcript: Transcript,
        history: Sequence[StepResult],
        failed: Sequence[FailedPlan] = (),
        cancel: threading.Event | None = None,
    ) -> PlanPrompt:
        """What the model is asked to choose from, and what it is told for it."""
        goals = self._goals_text(belief)
        objects = world.observe()
        texts = self.texts(belief, transcript)
        unfit = _unfit(needs_of(transcript, belief), objects)
        if isinstance(world, Searchable):
            relevant = self._search(world, texts, transcript, goals, objects, unfit, cancel)
        else:
            relevant = self._relevant(texts, transcript, goals, objects, cancel)
        actions = self.actions(world, relevant, transcript, texts)
        actions = {
            label: steps
            for label, steps in actions.items()
            if not any(step.action == ADD and step.object_id in unfit for step in steps)
        }
        slots = {
            "task": self.task,
            "transcript": _recent(transcript),
            "goals": goals,
            "scene": _whereabouts(objects, relevant),
            "actions": "; ".join(actions),
            "history": "; ".join(r.step.label for r in history[-HISTORY_SHOWN:] if r.success)
            or "nothing",
            "failed": _failed_text(failed),
        }
        return PlanPrompt(slots, actions, relevant, world.name)

    def actions(
        self, world: World, relevant: Sequence[str], transcript: Transcript, texts: Sequence[str]
    ) -> dict[str, tuple[Step, ...]]:
        """What may be planned, by label, each with the steps that it comes to."""
        return {
            step.label: (step,)
            for step in world.possible_actions(relevant)
            if is_called_for(step, texts)
        }

    def messages(self, prompt: PlanPrompt, transcript: Transcript) -> list[Message]:
        template = self.template or prompts.load("plan", prompt.world)
        return template.messages(**prompt.slots)

    def answer(
        self, prompt: PlanPrompt, transcript: Transcript, cancel: threading.Event | None
    ) -> tuple[Step, ...]:
        """The steps of the labels that the model chooses; raises as ``plan`` does."""
        schema = {
            "type": "array",
            "items": {"enum": list(prompt.actions)},
            "minItems": 1,
            "maxItems": self.max_steps,
        }
        messages = self.messages(prompt, transcript)
        labels = self._generate(messages, TOKENS_A_STEP * self.max_steps, schema, cancel)
        return tuple(step for label in labels for step in prompt.actions[label])

    def _relevant(
        self,
        texts: Sequence[str],
        transcript: Transcript,
        goals: str,
        objects: Sequence[ObjectView],
        cancel: threading.Event | None,
    ) -> list[str]:
        """Ids of the objects to plan with: what the goals and the last utterance name; where
        that leaves nothing to act on, the model is asked for more."""
        named = [o for text in texts for o in named_objects([text], objects)]
        if can_be_acted_on(named):
            return choose(named, (), objects)
        types = sorted({o.type for o in objects} - UNFIT_TYPES)
        schema = {"type": "array", "items": {"enum": types}, "maxItems": MAX_TYPES}
        messages = prompts.load("relevant_objects").messages(
            task=self.task,
            transcript=_recent(transcript),
            goals=goals,
            types=", ".join(types),
        )
        try:
            chosen = self._generate(messages, TYPES_TOKENS, schema, cancel)
        except MalformedReply:
            chosen = []
        return choose(named, chosen, objects)

    def _search(
        self,
        world: Searchable,
        texts: Sequence[str],
        transcript: Transcript,
        goals: str,
        objects: Sequence[ObjectView],
        unfit: Collection[str],
        cancel: threading.Event | None,
    ) -> list[str]:
        """Ids of the objects that the search terms find: the phrases that name some; the model is
        asked for terms where none does, or where it is said only what things are for."""
        named = search_terms(texts, objects)
        thought_of: list[str] = []
        if not named or RECIPE.search(" ".join(texts).lower()):
            term = {"type": "string", "minLength": 2, "maxLength": 40}
            schema = {"type": "array", "items": term, "minItems": 1, "maxItems": MAX_TERMS}
            messages = prompts.load("search_terms", world.name).messages(
                task=self.task, transcript=_recent(transcript), goals=goals
            )
            try:
                thought_of = self._generate(messages, TYPES_TOKENS, schema, cancel)
            except MalformedReply:
                thought_of = []
        return find_items(world, named, thought_of, objects, unfit, self.results)[:MAX_ITEMS]

    def _generate(
        self,
        messages: list[Message],
        tokens: int,
        schema: Mapping[str, Any],
        cancel: threading.Event | None,
    ) -> list[str]:
        sampling = Sampling(tokens, 0.0, self.seed)
        reply = self.generator.generate(messages, sampling, schema, self.deadline_s, cancel)
        try:
            return list(parse(reply.text, schema))
        except MalformedReply as error:
            self.repair_turns += 1
            repair = f"That was not right: {error}. Reply with the JSON list alone."
            again = [*messages, Message("assistant", reply.text[:500]), Message("user", repair)]
            reply = self.generator.generate(again, sampling, schema, self.deadline_s, cancel)
            return list(parse(reply.text, schema))

    def texts(self, belief: Belief, transcript: Transcript) -> list[str]:
        """The words that say what is wanted: the likely goals and the last utterance."""
        likely = [h.goal.text for h in self._likely(belief)]
        return [*likely, *(turn.utterance for turn in transcript.turns[-1:])]

    def _goals_text(self, belief: Belief) -> str:
        return "\n".join(f"- {h.goal.text} ({h.probability:.0%})" for h in self._likely(belief))

    def _likely(self, belief: Belief) -> list[Hypothesis]:
        """The first ``top_k`` goals, without those that are as good as ruled out."""
        goals = [h for h in belief.hypotheses if not h.goal.is_unspecified]
        return [h for h in goals[: self.top_k] if h is goals[0] or h.probability >= RULED_OUT]


def _unfit(needs: Needs, objects: Sequence[ObjectView]) -> set[str]:
    """Ids of the objects that the person must not get."""
    return {item.id for item in objects if needs.clash(item)}


def _recent(transcript: Transcript) -> str:
    return Transcript(transcript.session_id, transcript.turns[-TURNS_SHOWN:]).as_text()


def _whereabouts(objects: Sequence[ObjectView], relevant: Sequence[str]) -> str:
    """Where the relevant things are, in words."""
    by_id = {item.id: item for item in objects}
    lines = []
    for item in (by_id[object_id] for object_id in relevant):
        notes = []
        if item.state.get("held"):
            notes.append("in hand")
        elif item.inside:
            notes.append(f"at {by_id[item.inside[0]].name}")
        if "openable" in item.affordances:
            notes.append("open" if item.state.get("open") else "closed")
        if "toggleable" in item.affordances:
            notes.append("on" if item.state.get("toggled") else "off")
        if price := item.state.get("price"):
            notes.append(str(price))
        lines.append(f"{item.name} ({', '.join(notes)})" if notes else item.name)
    return "; ".join(lines) or "(nothing that matters)"


def _failed_text(failed: Sequence[FailedPlan]) -> str:
    return "\n".join(
        f"This plan failed: {'; '.join(s.label for s in plan.steps)}. Reason: {plan.reason}."
        for plan in failed
    )
