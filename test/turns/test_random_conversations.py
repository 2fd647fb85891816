"""A thousand random conversations through the very classes that the nodes are made of.

Wired as the nodes wire them, without a graph: people say things at any time, again, hardly to be
heard, take them back, approve, edit the goals; questions and plans end when it pleases chance.
"""

from __future__ import annotations

import json
import random
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript, TurnOutcome
from good_ros.core.errors import InputError
from good_ros.core.goals import GoalSet, unspecified_goal
from good_ros.core.plan import Step, StepResult, TaskState, TaskStatus
from good_ros.inference.goal_management import GoalManager, GoalNumbers
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.inference.tracker import BeliefTracker, SpeakerTrackers
from good_ros.language.scripted import ScriptedGenerator
from good_ros.turns.belief import BeliefOrder
from good_ros.turns.conversation import (
    Conversation,
    DropQuestion,
    Effect,
    Heard,
    MakeQuestion,
    Tell,
)
from good_ros.turns.dialog import DialogFlow, Phase
from good_ros.turns.executor import ExecutorOrder
from good_ros.turns.goals import GoalOrder

MAX_GOALS = 5
THINGS = ("bread", "milk", "egg", "cup", "lamp", "book", "key")
PLACES = ("fridge", "sink", "desk")
STEERING = ("never mind", "that is wrong", "yes, do it", "no")


class ChanceScorer(ScriptedScorer):
    """Any log-likelihood, the same for the same goal and words."""

    def __init__(self) -> None:
        super().__init__({})

    def look_up(self, goal: str, utterance: str) -> float:
        return -random.Random(f"{goal} {utterance}").uniform(1.0, 12.0)


def chance_generator(seed: int) -> ScriptedGenerator:
    """Proposes any goals, known ones among them, and gives any verdict."""
    draw = random.Random(seed)

    def line(messages, schema):
        if schema["type"] == "array":
            return json.dumps(
                [f"the {draw.choice(THINGS)} put in the {draw.choice(PLACES)}" for _ in range(3)]
            )
        verdicts = {text: draw.choice(["fits", "against", "unsafe"]) for text in schema["required"]}
        return json.dumps(verdicts)

    def lines():
        while True:
            yield line

    return ScriptedGenerator(lines())


class Wired:
    """The four nodes' classes around one conversation, and what must hold of them."""

    def __init__(self, seed: int, per_speaker: bool) -> None:
        self.talk = Conversation(DialogFlow("s", 200), min_confidence=0.3)
        self.flow = self.talk.flow
        self.goal_order = GoalOrder(per_speaker)
        self.belief_order = BeliefOrder()
        self.executor = ExecutorOrder()
        self.numbers = GoalNumbers()
        self.managers: dict[str, GoalManager] = {}
        self.generator = chance_generator(seed)
        self.trackers = SpeakerTrackers(lambda: BeliefTracker(ChanceScorer()))
        self.per_speaker = per_speaker
        self.making_question = False
        self.acting: tuple[Belief, Transcript] | None = None
        self.said: list[str] = []
        """Words that were let in, in order; each is unlike all others."""
        self.dropped: set[str] = set()
        self.settled: Counter[int] = Counter()
        self.version = 0
        self.pinned: set[str] = set()
        self.texts: dict[str, str] = {}
        self.do(self.talk.begin())

    # The wiring.

    def do(self, effects) -> list[Effect]:
        done = []
        for effect in effects:
            done.append(effect)
            if isinstance(effect, Tell):
                self.on_transcript(self.flow.transcript)
            elif isinstance(effect, MakeQuestion):
                self.making_question = True
            elif isinstance(effect, DropQuestion):
                self.making_question = False
        return done

    def on_transcript(self, transcript: Transcript) -> None:
        if self.goal_order.hear_transcript(transcript):
            first = (unspecified_goal(),)
            self.goal_order.begin(GoalSet("s", 0, 1, first))
            self.publish_goals()
        if speaker := self.goal_order.new_speaker():
            first_set = GoalSet("s", 0, 1, (unspecified_goal(),))
            self.goal_order.turn_to(speaker, first_set)
            self.publish_goals()
        self.belief_order.hear_transcript(transcript)
        self.executor.hear_transcript(transcript)
        if self.executor.is_acting and (transcript.ended or self.executor.is_withdrawn):
            self.executor.abandon()
            self.acting = None
        self.pump()

    @property
    def manager(self) -> GoalManager:
        speaker = self.goal_order.goals.speaker_id
        return self.managers.setdefault(
            speaker, GoalManager(max_goals=MAX_GOALS, numbers=self.numbers)
        )

    def pump(self) -> None:
        """Whatever is due, until nothing is."""
        while True:
            if due := self.belief_order.due():
                belief = self.trackers.update(*due)
                self.belief_order.done(*due)
                self.check_belief(belief, due[0])
                self.goal_order.hear_belief(belief)
                self.executor.hear_belief(belief)
            elif due := self.goal_order.due():
                belief, transcript = due
                if transcript.ended:
                    edited = self.goal_order.unchanged(belief)
                else:
                    edited = self.manager.edit(belief, transcript, self.generator, "help")
                if self.goal_order.answer(edited):
                    self.publish_goals()
            elif due := self.executor.due():
                self.executor.begin(due[0].turn)
                self.acting = due
                ended = due[1].ended or due[1].turns[-1].outcome is not TurnOutcome.PENDING
                if ended:
                    self.finish(TaskState.NO_ACTION)
            else:
                return

    def publish_goals(self) -> None:
        goals = self.goal_order.goals
        self.check_goals(goals)
        self.belief_order.hear_goals(goals)

    # What happens.

    def finish(self, state: TaskState) -> None:
        if self.acting is None:
            return
        belief, _ = self.acting
        self.acting = None
        history = self.executor.history
        if state is TaskState.SUCCEEDED:
            step = Step("PutObject", f"Thing_{belief.turn}")
            history = (*history, StepResult(step, True, "done", turn=belief.turn))
        self.executor.finish(history)
        self.do(self.talk.report(TaskStatus("s", belief.turn, state, history=history), 0.0))

    def say(self, words: str, speaker: str, confidence: float, utterance_id: str) -> None:
        held = {h.text for h in self.flow._held}
        heard = Heard(words, utterance_id, speaker, confidence)
        try:
            self.do(self.talk.hear(heard, 0.0))
        except InputError:
            return
        if words.startswith("words") and not 0 <= confidence < 0.3:
            self.said.append(words)
        if words == "never mind" or words == "that is wrong":
            self.dropped |= held - {h.text for h in self.flow._held}

    def edit(self, kind: str, number: int) -> None:
        goals = self.goal_order.goals
        own = [g for g in goals.goals if not g.is_unspecified]
        chosen = own[number % len(own)].id if own else ""
        try:
            if kind == "add":
                edited = self.manager.edit_by_person(
                    goals, add=[f"the {THINGS[number % 7]} put on shelf {number}"]
                )
            elif chosen:
                edited = self.manager.edit_by_person(goals, **{kind: [chosen]})
            else:
                return
        except InputError:
            return
        if kind in ("unpin", "remove"):
            self.pinned.discard(chosen)
        elif kind == "pin":
            self.pinned.add(chosen)
        self.pinned |= {g.id for g in edited.added}
        self.goal_order.answer(edited)
        self.publish_goals()
        self.pump()

    def happen(self, event: str, number: int) -> None:
        draw = random.Random(number)
        speaker = draw.choice(["", "ann", "bob"])
        if event == "say":
            self.say(f"words {number}", speaker, draw.choice([-1.0, 0.1, 0.9]), f"id {number}")
        elif event == "say again":
            self.say(f"words {number - 1}", speaker, -1.0, f"id {number - 1}")
        elif event == "steer":
            self.say(draw.choice(STEERING), speaker, -1.0, "")
        elif event == "stop":
            self.say("stop", speaker, -1.0, "")
        elif event == "question" and self.making_question:
            self.making_question = False
            self.do(self.talk.asked(f"question {number}?", 0.0, expects_reply=number % 4 > 0))
        elif event == "wait" and self.acting is not None:
            plan = (Step("BreakObject", "Cup_1", label="break Cup"),)
            turn = self.acting[0].turn
            status = TaskStatus("s", turn, TaskState.WAITING_APPROVAL, plan=plan)
            self.do(self.talk.report(status, 0.0))
        elif event == "act":
            self.finish(draw.choice([TaskState.SUCCEEDED, TaskState.FAILED, TaskState.NO_ACTION]))
        elif event in ("add", "remove", "pin", "unpin"):
            self.edit(event, number)

    # What must hold.

    def check_belief(self, belief: Belief, transcript: Transcript) -> None:
        assert belief.turn == transcript.turn == self.flow.transcript.turn
        assert abs(sum(h.probability for h in belief.hypotheses) - 1.0) < 1e-9
        assert {h.goal.id for h in belief.hypotheses} == {
            g.id for g in self.belief_order.goals.goals
        }
        self.settled[belief.turn] += belief.settled and belief.turn > 0

    def check_goals(self, goals: GoalSet) -> None:
        assert goals.version == self.version + 1
        self.version = goals.version
        own = [g for g in goals.goals if not g.is_unspecified]
        assert len(own) <= MAX_GOALS
        assert len(goals.goals) == len(own) + 1
        for goal in own:
            assert self.texts.setdefault(goal.id, goal.text) == goal.text
        for removal in goals.removed:
            assert removal.detail
            assert removal.goal.id not in {g.id for g in goals.goals}
        if not self.per_speaker:
            assert self.pinned <= {g.id for g in own if g.pinned}
        else:
            sets = [goals, *self.goal_order._others.values()]
            assert self.pinned <= {g.id for s in sets for g in s.goals if g.pinned}

    def check_dialog(self) -> None:
        turns = self.flow.transcript.turns
        assert [t.turn for t in turns] == list(range(1, len(turns) + 1))
        in_turns = [w for t in turns for w in self.said if _is_said(t.utterance, w)]
        held = [h.text for h in self.flow._held]
        kept = Counter(in_turns) + Counter(w for w in held if w.startswith("words"))
        assert all(count == 1 for count in kept.values()), kept
        lost = set(self.said) - set(kept) - self.dropped
        assert not lost, f"{lost} were heard and are nowhere"
        for turn in turns[:-1]:
            assert turn.outcome is not TurnOutcome.PENDING, f"turn {turn.turn} was passed over"
            assert self.settled[turn.turn] or not turn.actions
            assert all(result.turn == turn.turn for result in turn.actions)
        if self.flow.phase is Phase.STATUS:
            assert self.acting is not None, "nobody acts on the turn"


def _is_said(utterance: str, words: str) -> bool:
    """Words may have 'never mind' after them in a turn that was taken back."""
    return utterance == words or utterance.startswith(f"{words}. ")


EVENTS = (
    *("say",) * 4,
    *("question",) * 4,
    *("act",) * 4,
    *("steer", "wait", "say again", "add", "remove", "pin", "unpin"),
)


@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(EVENTS), min_size=5, max_size=40),
    st.integers(0, 10**6),
    st.booleans(),
    st.booleans(),
)
def test_no_turn_is_lost_or_mixed_and_the_goals_keep_their_rules(events, seed, speakers, stops):
    wired = Wired(seed, per_speaker=speakers)
    for number, event in enumerate([*events, *(["stop"] if stops else [])], start=seed):
        wired.happen(event, number)
        wired.check_dialog()
    if stops:
        assert wired.flow.transcript.ended
        assert wired.flow.transcript.end_reason == "the person asked to stop"
