"""Models for tests that answer by what they are asked, in whatever order: whole sessions run on
them, with a graph and without one."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from good_ros.core.goals import Goal
from good_ros.experiments.play import SessionModels
from good_ros.inference.layout import Layout
from good_ros.inference.scorer import Score
from good_ros.language.generator import Message, Reply, Sampling

WISHES = {
    "safe": (("watch", "Watch"), ("keys", "KeyChain"), ("cell phone", "CellPhone")),
    "cabinet": (("vase", "Vase_2 is"),),
    "cart": (
        ("flour", "Flour"),
        ("sugar", "Sugar"),
        ("eggs", "Eggs"),
        ("milk", "Milk"),
        ("cocoa powder", "Cocoa Powder"),
    ),
}
"""By the place that a profile or its task names, what its person asks for, and how it shows in
the status."""


class ToyGenerator:
    """Robot, person, planner and judge: which one is told from the prompt."""

    model_name = "toy"

    def __init__(self, judge: str = "") -> None:
        self.judge = judge
        self.calls = 0

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        self.calls += 1
        asked = "\n".join(message.content for message in messages)
        text = self._structured(asked, json_schema) if json_schema else self._free(asked)
        return Reply(text, len(asked.split()), len(text.split()), 0.01)

    def close(self) -> None:
        """Nothing is held."""

    def _free(self, asked: str) -> str:
        if "one short, open question" in asked:
            return f"What else can I do, after {asked.count('Human:')} answers?"
        if "Which Vase do you mean" in asked:
            return "The second one, please."
        place = next(place for place in WISHES if f" {place}" in asked)
        status = asked.partition("has done so far:")[2]
        missing = [word for word, seen in WISHES[place] if seen not in status]
        return f"Please put the {(missing or ['watch'])[0]} in the {place}."

    def _structured(self, asked: str, schema: Mapping[str, Any]) -> str:
        if schema["type"] == "object":
            return json.dumps(self._object(asked, schema))
        said = re.findall(r"Human: (.+)", asked)
        items = schema["items"]
        if "enum" in items:
            return json.dumps(self._plan(items["enum"], said[-1]))
        if schema["minItems"] == 1:
            return json.dumps(["flour"])
        thing, place = (re.findall(r"the ([\w ]+) in the (\w+)\.", said[-1]) or [("tea", "cup")])[0]
        return json.dumps(
            [f"the {thing} put in the {place}", f"the {thing} put on the shelf", "tea made"]
        )

    def _object(self, asked: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        names = schema["properties"]
        if "score" in names:
            if self.judge:
                return json.loads(self.judge)
            points = names["score"]["enum"]
            return {"score": points[_digest(asked) % len(points)]}
        if "goal" in names:
            goals = names["goal"]["enum"]
            said = re.findall(r"Human: (.+)", asked)[-1]
            best = max(goals, key=lambda goal: (_shared(goal, said), goal))
            return {"goal": min(goals) if "least likely" in asked else best}
        return {name: "against" if name == "tea made" else "fits" for name in names}

    def _plan(self, labels: Sequence[str], said: str) -> list[str]:
        word = re.findall(r"the ([\w ]+) in the", said + " the watch in the")[0]
        seen = next(s for wish in WISHES.values() for w, s in wish if w == word).split("_")[0]
        fitting = [
            label
            for label in labels
            if re.fullmatch(rf"put {seen}(_1)? in (Safe|Cabinet_1)|add (\w+ )*{seen}", label)
        ]
        return fitting[:1] or [labels[0]]


class ToyScorer:
    """A goal makes its own words likelier; no model is asked."""

    model_name = "toy"

    def __init__(self, layout: Layout = Layout.GOAL_LAST) -> None:
        self.layout = layout

    def session(self) -> ToySession:
        return ToySession(self.layout)

    def score(self, contexts: Sequence[str], continuation: str) -> list[Score]:
        return [Score(_likelihood(context, continuation), ()) for context in contexts]

    def self_test(self) -> None:
        """Needs no proof."""

    def close(self) -> None:
        """Nothing is held."""


class ToySession:
    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._goals: list[Goal] = []
        self._said: list[str] = []
        self.tokens_scored = 0
        self.tokens_reused = 0

    def set_goals(self, goals: Sequence[Goal]) -> None:
        self._goals = list(goals)

    def append(self, question: str, utterance: str) -> None:
        self._said.append(utterance)

    def log_likelihoods(
        self, cancel: threading.Event | None = None
    ) -> dict[str, tuple[float, ...]]:
        self.tokens_scored += sum(len(said.split()) for said in self._said)
        weight = 1.0 if self._layout is Layout.GOAL_LAST else 0.9
        return {
            goal.id: tuple(
                weight
                * (_unspecified(said) if goal.is_unspecified else _likelihood(goal.text, said))
                for said in self._said
            )
            for goal in self._goals
        }

    def close(self) -> None:
        """Nothing is held."""


def toy_models(judge: str = "") -> SessionModels:
    return SessionModels(
        ToyGenerator(),
        ToyGenerator(),
        ToyGenerator(),
        {layout: ToyScorer(layout) for layout in Layout},
        ToyGenerator(judge),
    )


def _likelihood(goal: str, said: str) -> float:
    return -30.0 + 3.1 * _shared(goal, said) - 0.02 * len(goal.split())


def _unspecified(said: str) -> float:
    # That no more is wanted tells nothing against the goals so far.
    return -40.0 if "everything" in said else -20.0


def _shared(goal: str, said: str) -> int:
    return len({*re.findall(r"\w+", goal.lower())} & {*re.findall(r"\w+", said.lower())} - {"the"})


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
