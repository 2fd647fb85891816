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
from good_ros.inference.sameness import Same, same_words
from good_ros.language import prompts
from good_ros.language.acts import changes_mind
from good_ros.language.contrast import parts
from good_ros.language.generator import Generator, Message, Sampling
from good_ros.language.json_reply import parse
from good_ros.language.wording import control_character, plain, without_controls

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


class GoalNumbers:
    """The numbers of goals' ids, none used twice in a session, whoever gives them out."""

    def __init__(self) -> None:
        self.last = 0

    def new_ids(self, goals: Sequence[Goal], count: int) -> list[str]:
        """Ids that were not used in this session, as far as this counter has seen it."""
        numbers = [int(g.id[1:]) for g in goals if re.fullmatch(r"g\d+", g.id)]
        first = max([self.last, *numbers]) + 1
        self.last = first + count - 1
        return [f"g{number}" for number in range(first, first + count)]


class GoalManager:
    """Edits the goal set once a turn, from the belief of pass 1.

    A goal that was the least likely for more than ``n_least_likely`` rounds is removed; at most
    ``max_goals`` goals are kept beside 'Unspecified', pinned ones counted. ``same`` says of two
    goals' texts whether they mean the same: of such only one is kept. ``world`` says in whose
    words the prompts are.
    """

    def __init__(
        self,
        n_least_likely: int = 3,
        max_goals: int = 8,
        world: str = "",
        *,
        same: Same = same_words,
        numbers: GoalNumbers | None = None,
    ) -> None:
        self.n_least_likely = n_least_likely
        self.max_goals = max_goals
        self.world = world
        self.same = same
        self._shares_numbers = numbers is not None
        self.numbers = numbers or GoalNumbers()
        self.reset()

    def reset(self) -> None:
        """A new session begins."""
        self._least_likely_id = ""
        self._least_likely_rounds = 0
        self._counted_turn = 0
        if not self._shares_numbers:
            self.numbers.last = 0
        self.unwanted: list[str] = []
        """Goals that were unsafe or that a person removed: they are not proposed again."""

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

        generate = _asker(generator, seed, deadline_s, cancel)
        merged = self._merged(belief)
        left = _without(belief, merged)
        removed = merged + self._removals(left, transcript, task, generate)
        self.unwanted += [r.goal.text for r in removed if r.reason is RemovalReason.UNSAFE]
        goals = [h.goal for h in _without(belief, removed).hypotheses]
        added: list[Goal] = []
        if nothing_explains(belief):
            gone = [removal.goal.text for removal in removed]
            added = self._proposals(belief, goals, transcript, task, scene, generate, gone)
        return self._edited(belief, belief.turn, goals, added, removed)

    def propose(
        self,
        belief: Belief,
        transcript: Transcript,
        generator: Generator,
        task: str,
        goals: GoalSet,
        *,
        scene: str = "",
        seed: int = 0,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> GoalSet:
        """``goals`` with new ones beside them, because a person asks for that; ``belief`` is the
        last one over them. Raises ModelError where the generator fails."""
        generate = _asker(generator, seed, deadline_s, cancel)
        known = {goal.id for goal in goals.goals}
        kept = [h.goal for h in belief.hypotheses if h.goal.id in known]
        kept += [goal for goal in goals.goals if all(goal.id != own.id for own in kept)]
        added = self._proposals(belief, kept, transcript, task, scene, generate)
        current = replace(belief, goals_version=goals.version)
        return self._edited(current, goals.turn, kept, added, [])

    def _edited(
        self,
        belief: Belief,
        turn: int,
        goals: Sequence[Goal],
        added: Sequence[Goal],
        removed: list[GoalRemoval],
    ) -> GoalSet:
        """The set after an edit, never over its cap; ``goals`` are the likeliest first."""
        pinned = sum(g.pinned and not g.is_unspecified for g in goals)
        room = self.max_goals - len(added) - pinned
        over = [g for g in goals if not g.is_unspecified and not g.pinned][max(room, 0) :]
        removed += [self._over_cap(goal) for goal in over]
        kept = [g for g in goals if g not in over]
        return GoalSet(
            belief.session_id,
            turn,
            belief.goals_version + 1,
            (*sorted(kept, key=_age), *added),
            tuple(added),
            tuple(removed),
            belief.speaker_id,
        )

    def _over_cap(self, goal: Goal) -> GoalRemoval:
        return GoalRemoval(goal, RemovalReason.OVER_CAP, f"more than {self.max_goals} goals")

    def _merged(self, belief: Belief) -> list[GoalRemoval]:
        """Of goals that mean the same the likeliest stays, or whichever is pinned."""
        kept: list[Goal] = []
        removed: list[GoalRemoval] = []
        in_order = sorted(belief.hypotheses, key=lambda h: not h.goal.pinned)
        for goal in (h.goal for h in in_order if not h.goal.is_unspecified):
            twin = next((own for own in kept if self.same(own.text, goal.text)), None)
            if twin is None or goal.pinned:
                kept.append(goal)
            else:
                detail = f"means the same as {twin.id}: {twin.text}"
                removed.append(GoalRemoval(goal, RemovalReason.MODEL, detail))
        return removed

    def edit_by_person(
        self,
        goals: GoalSet,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        pin: Sequence[str] = (),
        unpin: Sequence[str] = (),
        likeliest: Sequence[str] = (),
    ) -> GoalSet:
        """A person's edit; where the set would be over its cap, the least likely goals that are
        not pinned go (``likeliest`` are ids, most likely first).

        Raises InputError for an unknown id, an empty, over-long or known text, an edit of
        'Unspecified', or more pinned goals than the cap; nothing is changed then."""
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
            replace(g, pinned=g.is_unspecified or ((g.pinned or g.id in pin) and g.id not in unpin))
            for g in goals.goals
            if g.id not in remove
        ]
        pinned = sum(g.pinned and not g.is_unspecified for g in kept) + len(texts)
        if pinned > self.max_goals:
            raise InputError(
                f"{pinned} goals would be pinned, the set holds {self.max_goals}: unpin or remove "
                "others first, or raise max_goals"
            )
        rank = {goal_id: number for number, goal_id in enumerate(likeliest)}
        loose = sorted((g for g in kept if not g.pinned), key=lambda g: rank.get(g.id, len(rank)))
        over = loose[self.max_goals - pinned :]
        removed += [self._over_cap(goal) for goal in over]
        kept = [g for g in kept if g not in over]
        self.unwanted += [by_id[goal_id].text for goal_id in remove]
        self.unwanted = [t for t in self.unwanted if all(_plain(t) != _plain(n) for n in texts)]
        ids = self.numbers.new_ids(goals.goals, len(texts))
        added = [
            Goal(goal_id, text, GoalOrigin.PERSON, goals.turn, pinned=True)
            for goal_id, text in zip(ids, texts, strict=True)
        ]
        return GoalSet(
            goals.session_id,
            goals.turn,
            goals.version + 1,
            tuple(kept + added),
            tuple(added),
            tuple(removed),
            goals.speaker_id,
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
        gone: Sequence[str] = (),
    ) -> list[Goal]:
        """New goals beside ``goals``; none of ``gone``, which were just removed."""
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
        known = [g.text for g in goals if not g.is_unspecified] + [*gone, UNSPECIFIED_TEXT]
        texts: list[str] = []
        for text in proposed:
            text = _PREFIX.sub("", " ".join(without_controls(text).split()).rstrip("."))
            if self._is_new(text, [*known, *texts]):
                texts.append(text)
        changed = transcript.turns and changes_mind(transcript.turns[-1].utterance)
        if texts and not belief.top.goal.is_unspecified and not changed:
            # A further wish adds to the one that explains the dialog so far; only both
            # together explain all that was said.
            joined = self._joined(belief.top.goal.text, texts[0])
            if self._is_new(joined, [*known, *texts]):
                texts.insert(0, joined)
        room = self.max_goals - sum(g.pinned and not g.is_unspecified for g in goals)
        leader = belief.top.goal
        if room > 1 and leader in goals and not (leader.is_unspecified or leader.pinned):
            # It stays. Where there is room for one goal alone, a new wish comes in its place.
            room -= 1
        texts = texts[: max(room, 0)]
        ids = self.numbers.new_ids([h.goal for h in belief.hypotheses], len(texts))
        return [
            Goal(goal_id, text, GoalOrigin.PROPOSED, belief.turn)
            for goal_id, text in zip(ids, texts, strict=True)
        ]

    def _joined(self, goal: str, further: str) -> str:
        """A goal with what a further one says beside it, each thing said once."""
        own = parts(goal)
        more = [part for part in parts(further) if not any(self.same(part, o) for o in own)]
        return ", and ".join([goal, *more])

    def _is_new(self, text: str, known: Sequence[str]) -> bool:
        """Whether a text has words, and means none of the known goals nor one that is unwanted."""
        return bool(_plain(text)) and not any(
            _plain(text) == _plain(other) or self.same(text, other)
            for other in (*known, *self.unwanted)
        )


def _asker(
    generator: Generator,
    seed: int,
    deadline_s: float | None,
    cancel: threading.Event | None,
) -> Generate:
    def generate(messages: Sequence[Message], tokens: int, schema: Mapping[str, Any]) -> Any:
        reply = generator.generate(
            messages,
            Sampling(tokens, 0.0, seed),
            json_schema=schema,
            deadline_s=deadline_s,
            cancel=cancel,
        )
        return parse(reply.text, schema)

    return generate


def _without(belief: Belief, removed: Sequence[GoalRemoval]) -> Belief:
    gone = {removal.goal.id for removal in removed}
    return replace(belief, hypotheses=tuple(h for h in belief.hypotheses if h.goal.id not in gone))


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
