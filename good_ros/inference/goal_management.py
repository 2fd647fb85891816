"""Which goals are in the set: proposals, removals, and a person's edits (GOOD, III-D)."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import InputError, MalformedReply
from good_ros.core.goals import (
    UNSPECIFIED_TEXT,
    Goal,
    GoalOrigin,
    GoalRemoval,
    GoalSet,
    RemovalReason,
)
from good_ros.language import prompts
from good_ros.language.generator import Generator, Message, Sampling
from good_ros.language.json_reply import parse
from good_ros.language.wording import control_character, plain

MAX_GOAL_CHARS = 120
PROPOSED_AT_ONCE = 3
PROPOSAL_TOKENS = 120
FITS = "fits"
REASONS = {
    "against": (RemovalReason.MODEL, "goes against what was said"),
    "unsafe": (RemovalReason.UNSAFE, "would harm people or things"),
}

Generate = Callable[[Sequence[Message], int, Mapping[str, Any]], Any]
"""(messages, most tokens, JSON schema) to the parsed reply."""

_PREFIX = re.compile(r"^(the|a)?\s*(person|human|user) wants\s+", re.IGNORECASE)
"""A goal is what is wanted; that it is wanted, the reading of it says already."""


class GoalManager:
    """Edits the goal set once a turn, from the belief of pass 1.

    A goal that was the least likely for more than ``n_least_likely`` rounds is removed;
    at most ``max_goals`` goals are kept beside 'Unspecified'. ``world`` says in whose words the
    prompts are.
    """

    def __init__(self, n_least_likely: int = 3, max_goals: int = 8, world: str = "") -> None:
        self.n_least_likely = n_least_likely
        self.max_goals = max_goals
        self.world = world
        self.reset()

    def reset(self) -> None:
        """A new session begins."""
        self._least_likely_id = ""
        self._least_likely_rounds = 0
        self._counted_turn = 0
        self._last_number = 0

    def edit(
        self,
        belief: Belief,
        transcript: Transcript,
        generator: Generator,
        task: str,
        *,
        scene: str = "",
        seed: int = 0,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> GoalSet:
        """The goals to go on with: removals every round, proposals where 'Unspecified'
        explains what was said best.

        Never removed are 'Unspecified', what a person pinned, and the goal that is the most
        likely now: the belief weighs the same words with every goal in view, so a single
        'remove' from the model does not overrule it.
        Raises ModelError where the generator fails; the goals then stay as they are.
        """

        def generate(messages: Sequence[Message], tokens: int, schema: Mapping[str, Any]) -> Any:
            reply = generator.generate(
                messages,
                Sampling(tokens, 0.0, seed),
                json_schema=schema,
                deadline_s=deadline_s,
                cancel=cancel,
            )
            return parse(reply.text, schema)

        removed = self._removals(belief, transcript, task, generate)
        gone = {removal.goal.id for removal in removed}
        goals = [h.goal for h in belief.hypotheses if h.goal.id not in gone]
        added: list[Goal] = []
        if nothing_explains(belief):
            added = self._proposals(belief, goals, transcript, task, scene, generate)
        pinned = sum(g.pinned and not g.is_unspecified for g in goals)
        room = self.max_goals - len(added) - pinned
        over = [g for g in goals if not g.is_unspecified and not g.pinned][max(room, 0) :]
        removed += [
            GoalRemoval(g, RemovalReason.OVER_CAP, f"more than {self.max_goals} goals")
            for g in over
        ]
        kept = [g for g in goals if g not in over]
        return GoalSet(
            belief.session_id,
            belief.turn,
            belief.goals_version + 1,
            tuple(sorted(kept, key=_age) + added),
            tuple(added),
            tuple(removed),
        )

    def edit_by_person(
        self,
        goals: GoalSet,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        pin: Sequence[str] = (),
        unpin: Sequence[str] = (),
    ) -> GoalSet:
        """A person's edit. Raises InputError for an unknown id, an empty, over-long or known
        text, or an edit of 'Unspecified'; nothing is changed then."""
        by_id = {goal.id: goal for goal in goals.goals}
        for goal_id in (*remove, *pin, *unpin):
            if goal_id not in by_id:
                raise InputError(f"there is no goal {goal_id!r}; there are {', '.join(by_id)}")
            if by_id[goal_id].is_unspecified:
                raise InputError("'Unspecified' is always in the set and cannot be edited")
        known = {_plain(goal.text) for goal in goals.goals}
        texts = []
        for text in add:
            text = " ".join(text.split())
            if found := control_character(text):
                raise InputError(f"a goal cannot have the control character {found}")
            if not _plain(text) or len(text) > MAX_GOAL_CHARS:
                raise InputError(f"a goal has 1 to {MAX_GOAL_CHARS} characters; this: {text!r}")
            if _plain(text) in known:
                raise InputError(f"the goal {text!r} is in the set already")
            known.add(_plain(text))
            texts.append(text)
        removed = [
            GoalRemoval(by_id[goal_id], RemovalReason.PERSON, "a person removed it")
            for goal_id in dict.fromkeys(remove)
        ]
        kept = [
            replace(g, pinned=(g.pinned or g.id in pin) and g.id not in unpin)
            for g in goals.goals
            if g.id not in remove
        ]
        added = [
            Goal(goal_id, text, GoalOrigin.PERSON, goals.turn, pinned=True)
            for goal_id, text in zip(self._new_ids(goals.goals, len(texts)), texts, strict=True)
        ]
        return GoalSet(
            goals.session_id,
            goals.turn,
            goals.version + 1,
            tuple(kept + added),
            tuple(added),
            tuple(removed),
        )

    def _removals(
        self, belief: Belief, transcript: Transcript, task: str, generate: Generate
    ) -> list[GoalRemoval]:
        candidates = [
            h.goal for h in belief.hypotheses[1:] if not h.goal.is_unspecified and not h.goal.pinned
        ]
        removed: list[GoalRemoval] = []
        if least := self._least_likely_for_long(belief):
            detail = f"least likely for {self._least_likely_rounds} rounds"
            removed.append(GoalRemoval(least, RemovalReason.LEAST_LIKELY, detail))
            candidates = [g for g in candidates if g.id != least.id]
        if not candidates:
            return removed
        # The likeliest goal is judged along, though it is kept: a model that finds fault with
        # every goal, as the smallest ones do, is not believed.
        leading = [h.goal for h in belief.hypotheses[:1] if not h.goal.is_unspecified]
        texts = list(dict.fromkeys(g.text for g in (*leading, *candidates)))
        schema = {
            "type": "object",
            "properties": {text: {"enum": [FITS, *REASONS]} for text in texts},
            "required": texts,
            "additionalProperties": False,
        }
        messages = prompts.load("remove_goals", self.world).messages(
            task=task,
            transcript=transcript.as_text(),
            goals="\n".join(f"- {text}" for text in texts),
        )
        # A token has no fewer than about three characters of such texts.
        tokens = sum(len(text) // 3 + 10 for text in texts)
        try:
            answer = generate(messages, tokens, schema)
        except MalformedReply:
            # No removal is the safe reading of an answer that cannot be read.
            return removed
        if FITS in answer.values():
            for goal in candidates:
                if (verdict := answer[goal.text]) != FITS:
                    removed.append(GoalRemoval(goal, *REASONS[verdict]))
        return removed

    def _least_likely_for_long(self, belief: Belief) -> Goal | None:
        """Counts the rounds in which the same goal came last; that goal once it is too many."""
        goals = [h.goal for h in belief.hypotheses if not h.goal.is_unspecified]
        if len(goals) < 2:
            self._least_likely_id, self._least_likely_rounds = "", 0
            return None
        last = goals[-1]
        if last.id != self._least_likely_id:
            self._least_likely_id, self._least_likely_rounds = last.id, 0
        # A turn is edited anew where a person's edit came in between; it is one round still.
        if belief.turn != self._counted_turn or not self._least_likely_rounds:
            self._least_likely_rounds += 1
        self._counted_turn = belief.turn
        if self._least_likely_rounds <= self.n_least_likely or last.pinned:
            return None
        return last

    def _proposals(
        self,
        belief: Belief,
        goals: Sequence[Goal],
        transcript: Transcript,
        task: str,
        scene: str,
        generate: Generate,
    ) -> list[Goal]:
        schema = {
            "type": "array",
            "items": {"type": "string", "minLength": 3, "maxLength": MAX_GOAL_CHARS},
            "minItems": PROPOSED_AT_ONCE,
            "maxItems": PROPOSED_AT_ONCE,
        }
        listed = "; ".join(g.text for g in goals if not g.is_unspecified) or "none"
        messages = prompts.load("propose_goals", self.world).messages(
            task=task,
            transcript=transcript.as_text(),
            goals=listed,
            scene=scene or "(not seen yet)",
            count=str(PROPOSED_AT_ONCE),
        )
        proposed = generate(messages, PROPOSAL_TOKENS, schema)
        known = {_plain(g.text) for g in goals} | {_plain(UNSPECIFIED_TEXT)}
        texts: list[str] = []
        for text in proposed:
            text = _PREFIX.sub("", " ".join(text.split()).rstrip("."))
            if _plain(text) and _plain(text) not in known:
                known.add(_plain(text))
                texts.append(text)
        if texts and not belief.top.goal.is_unspecified:
            # A further wish adds to the one that explains the dialog so far; only both
            # together explain all that was said.
            texts.insert(0, f"{belief.top.goal.text}, and {texts[0]}")
        pinned = sum(g.pinned and not g.is_unspecified for g in goals)
        texts = texts[: max(self.max_goals - pinned, 0)]
        ids = self._new_ids([h.goal for h in belief.hypotheses], len(texts))
        return [
            Goal(goal_id, text, GoalOrigin.PROPOSED, belief.turn)
            for goal_id, text in zip(ids, texts, strict=True)
        ]

    def _new_ids(self, goals: Sequence[Goal], count: int) -> list[str]:
        """Ids that were not used in this session, as far as this manager has seen it."""
        numbers = [int(g.id[1:]) for g in goals if re.fullmatch(r"g\d+", g.id)]
        first = max([self._last_number, *numbers]) + 1
        self._last_number = first + count - 1
        return [f"g{number}" for number in range(first, first + count)]


def nothing_explains(belief: Belief) -> bool:
    """Whether 'Unspecified' is the most likely, over the dialog or for the last utterance.

    III-D compares the likelihood of the utterance with that under no goal. The sum over the
    dialog alone would never say so again once a goal has explained an early turn well, and a
    second wish would go unnoticed.
    """
    if belief.top.goal.is_unspecified:
        return True
    last = {True: -math.inf, False: -math.inf}
    for h in belief.hypotheses:
        key = h.goal.is_unspecified
        last[key] = max(last[key], h.log_prior + h.last_log_likelihood)
    return last[True] > last[False]


def _age(goal: Goal) -> tuple[bool, int, int, str]:
    """'Unspecified' first, then by the turn and number of their making."""
    digits = re.sub(r"\D", "", goal.id)
    return not goal.is_unspecified, goal.created_turn, int(digits or 0), goal.id


def _plain(text: str) -> str:
    """The plain words without articles, to find goals that say the same."""
    return " ".join(word for word in plain(text).split() if word not in ("the", "a", "an"))
