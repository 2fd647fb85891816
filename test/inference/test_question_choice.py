"""Which question is asked: the one that is expected to tell the most, within its time."""

import json
import math
import threading
from dataclasses import replace

import pytest

from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import MalformedReply, ModelCancelled, ModelError, ModelTimeout
from good_ros.core.goals import UNSPECIFIED_TEXT, Goal, GoalSet, unspecified_goal
from good_ros.inference.question_choice import (
    ChoiceRules,
    QuestionChooser,
    Situation,
)
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.inference.tracker import BeliefTracker
from good_ros.language.conversation import LISTENING
from good_ros.language.scripted import ScriptedGenerator

BREAD, EGG = "the bread put in the fridge", "the egg put in the fridge"
SAID = "something cold"
RECAP = "Do you want the bread put in the fridge, and nothing more?"
MENU = "Which do you want put in the fridge: the bread; or the egg?"
PROPOSED = "Do you eat it with butter?"
PLAIN = "What should I move?"
ANSWERS = {
    # (bread, egg, Unspecified) in nats: what tells most is which of the two a person names.
    SAID: (-4.0, -5.0, -9.0),
    "Yes.": (-2.0, -2.5, -3.0),
    "No.": (-2.5, -2.0, -3.0),
    "The bread.": (-1.0, -6.0, -8.0),
    "The egg.": (-6.0, -1.0, -8.0),
    "Cold things.": (-4.0, -4.0, -4.0),
}
TABLE = {
    (goal, answer): values[i]
    for answer, values in ANSWERS.items()
    for i, goal in enumerate((BREAD, EGG, UNSPECIFIED_TEXT))
}
WHOLE = (
    *("Yes.", "No."),
    *("The bread.", "The egg."),
    json.dumps([PROPOSED]),
    *("Yes.", "No."),
    *("Cold things.", "Cold things."),
)
"""What the model says where four questions are weighed: two answers to each of them."""


def transcript(*questions):
    return Transcript("s", tuple(Turn(i, q, SAID) for i, q in enumerate(questions, start=1)))


def situation(*questions, goals=(BREAD, EGG), table=TABLE):
    dialog = transcript(*(questions or ("What is it?",)))
    named = tuple(Goal(f"g{i}", text) for i, text in enumerate(goals, start=1))
    goal_set = GoalSet("s", dialog.turn, 1, (unspecified_goal(), *named))
    belief = BeliefTracker(ScriptedScorer(table)).update(dialog, goal_set)
    return Situation(belief, dialog, "help", "nothing was done")


def chooser(lines=WHOLE, rules=None, table=TABLE):
    return QuestionChooser(
        ScriptedGenerator(lines), BeliefTracker(ScriptedScorer(table)), rules or ChoiceRules()
    )


def gain(now, a, b):
    """The gain of a question that bread answers with ``a`` and egg with ``b``, by hand."""
    p = {h.goal.text: h.probability for h in now.belief.hypotheses}
    total = 0.0
    for goal, answer in ((BREAD, a), (EGG, b)):
        weight = {g: p[g] * math.exp(TABLE[g, answer]) for g in p}
        after = weight[goal] / sum(weight.values())
        total += p[goal] / (p[BREAD] + p[EGG]) * math.log(after / p[goal])
    return total


def test_the_question_that_tells_the_most_is_asked_with_its_gain():
    now = situation()
    chosen = chooser().choose(now, lambda: PLAIN)
    assert (chosen.text, chosen.expects_reply) == (MENU, True)
    assert chosen.gain == pytest.approx(gain(now, "The bread.", "The egg."))
    weighed = dict(chosen.considered)
    assert list(weighed) == [RECAP, MENU, PROPOSED, PLAIN]
    assert weighed[RECAP] == pytest.approx(gain(now, "Yes.", "No."))
    assert weighed[PLAIN] == pytest.approx(gain(now, "Cold things.", "Cold things."))
    assert chosen.tokens_written == sum(len(line.split()) for line in WHOLE)


def test_a_recap_is_asked_where_its_answer_tells_the_most():
    lines = ("The bread.", "The egg.", "Yes.", "No.")
    chosen = chooser(lines, ChoiceRules(candidates=2)).choose(situation(), lambda: PLAIN)
    assert chosen.text == RECAP


def test_a_question_that_gains_less_than_it_costs_is_not_asked():
    lines = ("Yes.", "Yes.", "Cold things.", "Cold things.")
    chosen = chooser(lines, ChoiceRules(candidates=2, cost=0.2)).choose(situation(), lambda: PLAIN)
    assert chosen.text == f"I take it that you want {BREAD}. Tell me if you want anything else."
    assert not chosen.expects_reply
    assert chosen.gain < 0.2


def test_a_belief_that_is_sure_asks_nothing_and_says_so_once():
    sure = situation(table={**TABLE, (BREAD, SAID): 50.0})
    asks_nothing = chooser(())
    said = asks_nothing.choose(sure, lambda: PLAIN)
    assert not said.expects_reply
    again = asks_nothing.choose(replace(sure, also_asked=(said.text,)), lambda: PLAIN)
    assert (again.text, again.expects_reply) == (LISTENING, False)


@pytest.mark.parametrize(
    "now",
    [
        Situation(None, Transcript("s"), "help", ""),
        situation(table={**TABLE, (UNSPECIFIED_TEXT, SAID): 0.0}),
        situation(goals=(BREAD,), table={**TABLE, (UNSPECIFIED_TEXT, SAID): -4.5}),
    ],
    ids=["no belief", "Unspecified leads", "one goal"],
)
def test_the_plain_question_is_asked_where_there_is_nothing_to_choose_between(now):
    chosen = chooser(()).choose(now, lambda: PLAIN)
    assert (chosen.text, chosen.expects_reply) == (PLAIN, True)
    assert math.isnan(chosen.gain)


def test_no_question_is_weighed_that_was_asked_before():
    lines = (
        *("The bread.", "The egg."),
        *("Yes.", "No."),
        json.dumps([RECAP]),
        *("Cold things.", "Cold things."),
        *("Yes.", "No."),
    )
    now = situation("What is it?", RECAP)
    chosen = chooser(lines).choose(now, lambda: PLAIN)
    assert [question for question, _ in chosen.considered] == [
        MENU,
        "Do you want the bread put in the fridge?",
        PLAIN,
        "Do you want the egg put in the fridge?",
    ]


def test_a_reply_that_is_no_list_of_questions_leaves_the_others():
    lines = list(WHOLE)
    lines[4] = MalformedReply("no JSON")
    lines += ["Yes.", "No."]
    chosen = chooser(lines).choose(situation(), lambda: PLAIN)
    assert chosen.text == MENU
    assert PROPOSED not in dict(chosen.considered)


def test_where_the_time_is_over_the_best_so_far_is_asked():
    chosen = chooser(WHOLE[:2], ChoiceRules(budget_s=0.0, cost=0.0)).choose(
        situation(), lambda: PLAIN
    )
    assert [question for question, _ in chosen.considered] == [RECAP]
    assert chosen.text == RECAP


def test_where_nothing_was_weighed_in_time_the_plain_question_is_asked():
    chosen = chooser([ModelTimeout("slow")]).choose(situation(), lambda: PLAIN)
    assert (chosen.text, chosen.expects_reply) == (PLAIN, True)
    assert math.isnan(chosen.gain)


def test_a_choice_that_is_called_off_asks_nothing():
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(ModelCancelled):
        chooser([ModelCancelled("called off")]).choose(situation(), lambda: PLAIN, cancel)


def test_a_model_that_is_down_is_told():
    with pytest.raises(ModelError, match="down"):
        chooser([ModelError("down")]).choose(situation(), lambda: PLAIN)


def test_weighing_leaves_the_belief_as_it_was():
    tracker = BeliefTracker(ScriptedScorer(TABLE))
    now = situation()
    goals = GoalSet("s", 1, 1, tuple(h.goal for h in now.belief.hypotheses))
    before = tracker.update(now.transcript, goals)
    QuestionChooser(ScriptedGenerator(WHOLE), tracker).choose(now, lambda: PLAIN)
    after = tracker.update(now.transcript, goals)
    assert [h.probability for h in after.hypotheses] == [h.probability for h in before.hypotheses]
