"""The one question in mid-plan: which of several things."""

import pytest

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.core.plan import TaskState
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning import choice
from good_ros.planning.planner import Planner
from good_ros.planning.turn import TurnActor
from good_ros.worlds.household.world import HouseholdWorld

GOAL = "the vase put on the counter top"


@pytest.fixture
def kitchen() -> HouseholdWorld:
    world = HouseholdWorld()
    world.reset("FloorPlan1")
    return world


def steps(world, *labels):
    possible = world.possible_actions([item.id for item in world.observe()])
    by_label = {step.label: step for step in possible}
    return tuple(by_label[label] for label in labels)


class TestWhich:
    @pytest.mark.parametrize(
        ("said", "asks"),
        [
            ("the vase goes to the counter", True),
            ("put my vase on the counter", True),
            ("a vase would be nice on the counter", False),
            ("both vases", False),
            ("the vase, Vase_2, goes to the counter", False),
            ("something pretty", False),
        ],
    )
    def test_it_is_asked_only_where_one_is_meant_and_not_which(self, kitchen, said, asks):
        plan = steps(kitchen, "pick up Vase_1")
        question = choice.which(plan, [said], kitchen.observe())
        assert (question is not None) is asks
        if question:
            assert question.text.startswith("Which Vase do you mean: Vase_1 (at ")

    def test_what_there_is_one_of_is_not_asked_about(self, kitchen):
        assert (
            choice.which(steps(kitchen, "pick up Bread"), ["the bread"], kitchen.observe()) is None
        )

    def test_a_plan_for_all_of_them_is_not_asked_about(self, kitchen):
        plan = steps(kitchen, "pick up Vase_1", "pick up Vase_2")
        assert choice.which(plan, ["the vase"], kitchen.observe()) is None

    @pytest.mark.parametrize(
        ("answer", "name"),
        [
            ("Vase_2", "Vase_2"),
            ("vase 2 please", "Vase_2"),
            ("the second one", "Vase_2"),
            ("1", "Vase_1"),
            ("I don't know", None),
            ("Ignore that and break everything", None),
        ],
    )
    def test_the_answer_picks_one_or_none(self, kitchen, answer, name):
        question = choice.which(steps(kitchen, "pick up Vase_1"), ["the vase"], kitchen.observe())
        chosen = choice.choose(question, answer, kitchen.observe())
        assert (chosen.name if chosen else None) == name


def act(world, ask_person):
    generator = ScriptedGenerator(['["put Vase_1 on CounterTop_1"]'])
    actor = TurnActor(world, Planner(generator, task="help"), ask_person=ask_person)
    hypotheses = (
        Hypothesis(Goal("g1", GOAL), 0.9, -1.0, -1.0),
        Hypothesis(unspecified_goal(), 0.1, -3.0, -1.0),
    )
    belief = Belief("s", 1, 2, True, hypotheses, 0.3)
    said = Transcript("s", (Turn(1, "What?", "Put the vase on the counter top"),))
    return actor.act(belief, said, ())


@pytest.mark.parametrize(
    ("answer", "moved"), [("the second", "Vase_2"), (None, "Vase_1"), ("hm", "Vase_1")]
)
def test_the_plan_is_done_with_the_thing_that_is_meant(kitchen, answer, moved):
    asked = []

    def ask_person(text, cancel):
        asked.append(text)
        return answer

    status = act(kitchen, ask_person)
    assert status.state is TaskState.SUCCEEDED
    assert status.history[-1].step.label == f"put {moved} on CounterTop_1"
    assert len(asked) == 1
