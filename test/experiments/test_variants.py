"""The baselines: what they leave out, and nothing else."""

import json

import pytest

from good_ros.core.dialog import Transcript, Turn
from good_ros.core.goals import Goal, GoalSet, unspecified_goal
from good_ros.experiments.variants import (
    NONE_OF_THESE,
    AskedEstimator,
    SaidEstimator,
    SaidPlanner,
)
from good_ros.inference.goal_management import nothing_explains
from good_ros.language.scripted import ScriptedGenerator
from good_ros.worlds.registry import make_world

from ..nodes.harness import messages_text

SAID = ("Please put the watch in the safe.", "And the keys, too.", "Yes.", "The book stays.")


def transcript(turns=1):
    said = tuple(Turn(i, f"question {i}?", SAID[i - 1]) for i in range(1, turns + 1))
    return Transcript("s", said)


def goals(turn, *texts):
    named = [Goal(f"g{i}", text) for i, text in enumerate(texts, 1)]
    return GoalSet("s", turn, 2, (unspecified_goal(), *named))


class TestNoGoals:
    @pytest.fixture
    def room(self):
        world = make_world("household")
        world.reset("FloorPlan219")
        return world

    def plan(self, room, turns):
        generator = ScriptedGenerator(['["put Watch in Safe"]'])
        planner = SaidPlanner(generator, task="help")
        said = transcript(turns)
        belief = SaidEstimator().update(said, goals(turns, "the vase broken"))
        steps = planner.plan(room, belief, said, ())
        return steps, messages_text(generator.calls[0])

    def test_the_planner_is_told_what_was_said_and_no_goal(self, room):
        steps, asked = self.plan(room, 1)
        assert [step.label for step in steps] == ["put Watch in Safe"]
        assert SAID[0] in asked
        assert "vase" not in asked

    def test_the_whole_dialog_counts_not_only_its_end(self, room):
        _, asked = self.plan(room, 4)
        for said in SAID:
            assert asked.count(said) == 1
        # What an early turn named can still be acted on.
        assert "put Watch in Safe" in asked.partition("Possible actions")[2]


class TestNoInference:
    def estimator(self, *replies):
        generator = ScriptedGenerator(
            [reply if reply == "junk" else json.dumps({"goal": reply}) for reply in replies]
        )
        return generator, AskedEstimator(generator, task="help")

    def test_the_named_goals_are_first_and_last(self):
        generator, estimator = self.estimator("keys", "watch")
        belief = estimator.update(transcript(), goals(0, "watch", "keys", "book"))
        assert [h.goal.text for h in belief.hypotheses] == ["keys", "Unspecified", "book", "watch"]
        assert [h.probability for h in belief.hypotheses] == [1.0, 0.0, 0.0, 0.0]
        assert not belief.settled
        assert not nothing_explains(belief)
        assert SAID[0] in messages_text(generator.calls[0])
        assert f"- {NONE_OF_THESE}" in messages_text(generator.calls[0])
        assert NONE_OF_THESE not in messages_text(generator.calls[1])

    def test_where_none_fits_new_goals_are_called_for(self):
        _, estimator = self.estimator(NONE_OF_THESE, "watch")
        belief = estimator.update(transcript(), goals(0, "watch", "keys"))
        assert belief.top.goal.is_unspecified
        assert nothing_explains(belief)

    def test_the_settled_belief_asks_again_only_where_the_goals_have_changed(self):
        generator, estimator = self.estimator("keys", "book")
        estimator.update(transcript(), goals(0, "watch", "keys"))
        same = estimator.update(transcript(), goals(1, "watch", "keys"))
        assert (same.settled, same.top.goal.text, len(generator.calls)) == (True, "keys", 1)
        changed = estimator.update(transcript(), goals(1, "watch", "keys", "book"))
        assert (changed.top.goal.text, len(generator.calls)) == ("book", 2)

    def test_one_of_the_settled_goals_is_planned_for_even_where_none_fitted_well(self):
        generator, estimator = self.estimator(NONE_OF_THESE, "watch", "keys")
        estimator.update(transcript(), goals(0, "watch", "keys"))
        settled = estimator.update(transcript(), goals(1, "watch", "keys"))
        assert settled.top.goal.text == "keys"
        assert NONE_OF_THESE not in messages_text(generator.calls[-1])

    def test_a_reply_that_names_no_goal_is_asked_for_once_more_then_it_is_unspecified(self):
        generator, estimator = self.estimator("junk", "the moon", "junk", "watch")
        belief = estimator.update(transcript(), goals(0, "watch", "keys"))
        assert belief.top.goal.is_unspecified
        assert belief.hypotheses[-1].goal.text == "watch"
        assert len(generator.calls) == 4

    def test_with_no_goals_yet_nothing_is_asked(self):
        generator, estimator = self.estimator()
        assert estimator.update(transcript(), goals(0)).top.goal.is_unspecified
        assert not generator.calls
