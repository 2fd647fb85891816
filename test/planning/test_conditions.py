"""What goals mean, how useful plans are, and when a task is completed."""

import json

import pytest

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.errors import ModelCancelled, ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning.check import CheckedPlan, check
from good_ros.planning.completion import holds_back, is_completed, is_satisfied
from good_ros.planning.conditions import Conditions, read
from good_ros.planning.trial import Trials, try_out
from good_ros.planning.usefulness import completed, expected_usefulness, lacking, prefer
from good_ros.worlds.household.world import HouseholdWorld


@pytest.fixture(scope="module")
def kitchen() -> HouseholdWorld:
    world = HouseholdWorld()
    world.reset("FloorPlan1")
    return world


def belief(*goals: tuple[str, float]) -> Belief:
    hypotheses = [
        Hypothesis(Goal(f"g{i}", text), p, -1.0, -1.0) for i, (text, p) in enumerate(goals)
    ]
    rest = 1.0 - sum(p for _, p in goals)
    hypotheses.append(Hypothesis(unspecified_goal(), rest, -9.0, -1.0))
    hypotheses.sort(key=lambda h: -h.probability)
    return Belief("s", 1, 2, True, tuple(hypotheses), 0.5)


def steps(world, *labels):
    possible = world.possible_actions([item.id for item in world.observe()])
    by_label = {step.label: step for step in possible}
    return tuple(by_label[label] for label in labels)


class TestReading:
    @pytest.mark.parametrize(
        ("text", "conditions"),
        [
            ("the bread put in the fridge", [{"in": ["Bread", "Fridge"]}]),
            (
                "the bread and the tomato put in the fridge",
                [{"in": ["Bread", "Fridge"]}, {"in": ["Tomato", "Fridge"]}],
            ),
            (
                "the bread, the tomato, and the egg put in the fridge",
                [{"in": [k, "Fridge"]} for k in ("Bread", "Tomato", "Egg")],
            ),
            (
                "the bread put in the fridge, and the mug placed on CounterTop_2",
                [{"in": ["Bread", "Fridge"]}, {"on": ["Mug", "CounterTop_2"]}],
            ),
            ("both vases moved to the shelf", [{"in": ["each Vase", "Shelf"]}]),
            ("the coffee machine turned off", [{"toggled": ["CoffeeMachine", False]}]),
            (
                "the fridge closed and the toaster switched on",
                [{"closed": "Fridge"}, {"toggled": ["Toaster", True]}],
            ),
        ],
    )
    def test_what_is_said_in_so_many_words(self, kitchen, text, conditions):
        assert read(text, kitchen.observe()) == tuple(conditions)

    @pytest.mark.parametrize(
        "text",
        [
            "breakfast made",
            "the dragon put in the fridge",
            "the bread and the dragon put in the fridge",
            "the bread put in the garage",
            "put in the fridge",
            "the bread not put in the fridge",
            "all things but the bread put in the fridge",
            "the bread put in the fridge or on the counter and the shelf",
            "",
        ],
    )
    def test_what_is_not_certain_is_not_read(self, kitchen, text):
        assert read(text, kitchen.observe()) is None


class TestAskingTheModel:
    GOAL = "breakfast with an egg"
    REPLY = json.dumps(
        [
            {"thing": "Egg", "is": "in or on", "place": "Pan"},
            {"thing": "Egg", "is": "open", "place": ""},
        ]
    )

    def learn(self, kitchen, *script, probability=0.8):
        conditions, generator = Conditions(), ScriptedGenerator(script)
        made = belief((self.GOAL, probability))
        conditions.learn(made, kitchen.observe(), generator)
        conditions.learn(made, kitchen.observe(), generator)
        return [words for words, _ in conditions.now(Goal("g0", self.GOAL), kitchen.observe())]

    def test_a_likely_goal_is_asked_about_once_and_what_cannot_be_is_left_out(self, kitchen):
        assert self.learn(kitchen, self.REPLY) == ["Egg is in Pan"]

    def test_an_unlikely_goal_is_not_asked_about(self, kitchen):
        assert self.learn(kitchen, probability=0.5) == []

    def test_nonsense_leaves_the_goal_without(self, kitchen):
        assert self.learn(kitchen, "I think the egg should be cooked.") == []

    def test_a_model_that_is_down_is_asked_again_later(self, kitchen):
        assert self.learn(kitchen, ModelError("down"), self.REPLY) == ["Egg is in Pan"]

    def test_a_cancelled_call_is_passed_on(self, kitchen):
        with pytest.raises(ModelCancelled):
            self.learn(kitchen, ModelCancelled("stop"))


class TestUsefulness:
    def of(self, kitchen, made, *labels):
        conditions = Conditions()
        conditions.learn(made, kitchen.observe())
        plan = check(kitchen, steps(kitchen, *labels))
        return expected_usefulness(Trials(kitchen), plan.steps, made, conditions)

    def test_it_is_the_expected_share_of_conditions(self, kitchen):
        made = belief(
            ("the bread and the tomato put in the fridge", 0.6),
            ("the bread put in the fridge", 0.3),
        )
        before = kitchen.snapshot()
        assert self.of(kitchen, made) == pytest.approx(0.0)
        assert self.of(kitchen, made, "put Bread in Fridge") == pytest.approx(0.6)
        both = ("put Bread in Fridge", "put Tomato in Fridge")
        assert self.of(kitchen, made, *both) == pytest.approx(0.9)
        assert kitchen.snapshot() == before

    def test_without_conditions_there_is_none(self, kitchen):
        assert self.of(kitchen, belief(("breakfast made", 0.9))) is None

    def test_the_plan_that_serves_more_likely_goals_is_preferred(self, kitchen):
        made = belief(("the bread put in the fridge", 0.5), ("the tomato put in the fridge", 0.4))
        conditions = Conditions()
        conditions.learn(made, kitchen.observe())
        one = check(kitchen, steps(kitchen, "put Bread in Fridge"))
        both = check(kitchen, steps(kitchen, "put Bread in Fridge", "put Tomato in Fridge"))
        longer = check(kitchen, steps(kitchen, "put Bread in Fridge", "open Cabinet_1"))
        broken = CheckedPlan(both.steps, problem="it cannot be done")
        assert prefer(Trials(kitchen), (one, both), made, conditions) is both
        assert prefer(Trials(kitchen), (longer, one), made, conditions) is one
        assert prefer(Trials(kitchen), (broken, one), made, conditions) is one

    def test_what_a_plan_lacks_for_the_likeliest_goal_is_added(self, kitchen):
        made = belief(("the bread and the tomato put in the fridge", 0.9))
        conditions = Conditions()
        conditions.learn(made, kitchen.observe())
        plan = check(kitchen, steps(kitchen, "put Bread in Fridge"))
        more = completed(Trials(kitchen), plan, made.top.goal, conditions, 12)
        assert more is not None
        assert more.steps[-1].label == "put Tomato in Fridge"
        assert completed(Trials(kitchen), more, made.top.goal, conditions, 12) is None
        assert completed(Trials(kitchen), plan, made.top.goal, conditions, len(plan.steps)) is None

    @pytest.mark.parametrize(
        ("predicate", "labels"),
        [
            ({"closed": "Fridge"}, []),
            ({"open": "Fridge"}, ["open Fridge"]),
            ({"toggled": ["Faucet", True]}, ["turn on Faucet"]),
            ({"in": ["each Vase", "Shelf"]}, ["put Vase_1 on Shelf_1", "put Vase_2 on Shelf_1"]),
            (
                {"any": [{"in": ["Bread", "Toaster"]}, {"in": ["Bread", "Fridge"]}]},
                ["put Bread in Fridge"],
            ),
            ({"not": {"closed": "Fridge"}}, []),
            # There is no such place here, and another one is no help.
            ({"in": ["Bread", "LunchBag"]}, []),
            (
                {"any": [{"in": ["Bread", "LunchBag"]}, {"in": ["Bread", "Fridge"]}]},
                ["put Bread in Fridge"],
            ),
        ],
    )
    def test_the_step_that_brings_a_condition_about(self, kitchen, predicate, labels):
        found = [s.label for s in lacking(Trials(kitchen), (), [predicate])]
        if "each" in str(predicate):
            assert {label.split()[1] for label in found} <= {"Vase_1", "Vase_2"}
        else:
            assert found == labels

    def test_a_plan_is_tried_once(self, kitchen, monkeypatch):
        done = []
        act = kitchen.act
        monkeypatch.setattr(kitchen, "act", lambda step: done.append(step) or act(step))
        trials = Trials(kitchen)
        checked = trials.check(steps(kitchen, "put Bread in Fridge"))
        for _ in range(2):
            trial = trials.of(checked.steps)
        assert done == list(checked.steps)
        assert trial == try_out(kitchen, checked.steps)
        assert trials.of(()).before == trials.of(()).after == trial.before

    def test_a_trial_says_what_changed(self, kitchen):
        plan = steps(kitchen, "open Fridge", "pick up Bread", "pick up Apple")
        trial = try_out(kitchen, plan)
        assert trial.done == 2
        assert {(item.name, aspect) for item, aspect in trial.changed()} == {
            ("Fridge", "open"),
            ("Bread", "place"),
        }


class TestCompletion:
    @pytest.mark.parametrize(
        ("said", "satisfied"),
        [
            ("That's all, thank you", True),
            ("Nothing else.", True),
            ("Everything is in place now", True),
            ("Is that all?", False),
            ("That is all but the mug", False),
            ("That isn't everything", False),
            ("Thank you", False),
            ("Put the bread away", False),
        ],
    )
    def test_what_says_that_nothing_more_is_wanted(self, said, satisfied):
        assert is_satisfied(said) is satisfied

    def test_no_sign_alone_completes_the_task(self):
        true, false = [("Bread is in Fridge", True)], [("Bread is in Fridge", False)]
        assert is_completed(True, False, true)
        assert is_completed(True, True, [])
        assert not is_completed(False, True, true)
        assert not is_completed(True, True, false)
        assert not is_completed(True, False, [])

    def test_who_asks_to_wait_is_left_alone(self):
        assert holds_back("Wait, don't do it yet")
        assert not holds_back("The bread goes into the fridge")
