"""What is offered, to whom, and what is remembered of it."""

import json

import pytest

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.core.plan import Step
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning.conditions import Conditions
from good_ros.planning.proactive import (
    Memory,
    SuggestionState,
    propose,
    propose_by_model,
)
from good_ros.teaching.offers import all_offers, offers
from good_ros.teaching.profile import PersonProfile, ProfileStore
from good_ros.worlds.table import TableWorld

MILK, FORK = "the milk put in the lunch bag", "the fork put in the bin"
BOTH = "the milk and the fork put in the lunch bag"


@pytest.fixture
def table():
    world = TableWorld()
    world.reset("lunch_bag")
    return world


def belief(**shares):
    hypotheses = [
        Hypothesis(unspecified_goal() if text == "none" else Goal(text, text), p, 0, 0)
        for text, p in shares.items()
    ]
    hypotheses.sort(key=lambda h: -h.probability)
    return Belief("s", 1, 1, True, tuple(hypotheses), 0.3)


class Robot:
    def __init__(self, world, person="confident", folder="", **shares):
        self.world = world
        self.profile = ProfileStore(folder or "/nonexistent").load(person) if person else None
        self.belief = belief(**shares)
        self.conditions = Conditions()
        self.conditions.learn(self.belief, world.observe())
        self.memory = Memory()

    def offer(self):
        profile = self.profile or PersonProfile("nobody")
        groups = offers(self.world, profile, self.belief, self.conditions)
        before = self.world.snapshot()
        found = propose(self.world, self.belief, self.conditions, groups, self.memory)
        assert self.world.snapshot() == before
        return self.memory.offer(found, 1, self.belief.top) if found else None

    def answer(self, state):
        settled = self.memory.settle(state)
        if state is SuggestionState.ACCEPTED:
            for step in settled.steps:
                assert self.world.act(step).success


def test_a_persons_own_behaviour_is_offered_and_what_it_is_for(table):
    robot = Robot(table, **{MILK: 0.9, "none": 0.1})
    suggestion = robot.offer()
    assert suggestion.text == "Shall I pack Milk?"
    assert [s.label for s in suggestion.steps] == [
        "pack Milk: pick up Milk",
        "pack Milk: put Milk in LunchBag",
    ]
    assert (suggestion.id, suggestion.goal, suggestion.probability) == (1, MILK, 0.9)
    robot.answer(SuggestionState.ACCEPTED)
    assert robot.offer() is None


def test_somebody_who_taught_nothing_is_offered_the_robots_own(table):
    assert Robot(table, person="", **{MILK: 0.9}).offer().text == "Shall I put Milk in LunchBag?"


def test_a_careful_person_is_offered_one_of_their_steps_at_a_time(table):
    robot = Robot(table, "careful", **{BOTH: 0.9})
    said = []
    while suggestion := robot.offer():
        said.append(suggestion.text)
        robot.answer(SuggestionState.ACCEPTED)
    assert said == [
        "Shall I reach for Milk?",
        "Shall I put it in LunchBag?",
        "Shall I reach for Fork?",
        "Shall I put it in LunchBag?",
    ]


def test_what_was_refused_is_not_offered_again_and_ignored_twice_at_most(table):
    robot = Robot(table, **{BOTH: 0.9})
    assert robot.offer().label == "pack Milk"
    robot.answer(SuggestionState.REFUSED)
    assert [robot.offer().label for _ in range(2)] == ["pack Fork", "pack Fork"]
    robot.answer(SuggestionState.IGNORED)
    assert robot.offer() is None
    states = [s.state.name for s in robot.memory.suggestions]
    assert states == ["REFUSED", "IGNORED", "IGNORED"]


def test_a_refusal_holds_under_another_name_and_not_for_another_thing(table):
    robot = Robot(table, "careful", **{BOTH: 0.9})
    robot.offer()
    robot.answer(SuggestionState.ACCEPTED)
    robot.offer()
    robot.answer(SuggestionState.REFUSED)
    # 'put it in LunchBag' was refused for the milk; for the fork it is another thing to do.
    table.act(Step("GoTo", "Fork"))
    assert robot.offer().text == "Shall I put it in LunchBag?"
    robot = Robot(table, person="", **{MILK: 0.9})
    robot.offer()
    robot.answer(SuggestionState.REFUSED)
    robot.profile = ProfileStore("/nonexistent").load("confident")
    assert robot.offer() is None


@pytest.mark.parametrize("shares", [{MILK: 0.4, "none": 0.35}, {"none": 0.9, MILK: 0.1}])
def test_nothing_is_offered_where_it_is_not_likely_what_is_wanted(table, shares):
    assert Robot(table, **shares).offer() is None


def test_nothing_is_offered_that_undoes_what_the_goal_has(table):
    robot = Robot(table, person="", **{MILK: 0.5, "the milk put in the bin": 0.5})
    table.act(Step("PickupObject", "Milk"))
    table.act(Step("PutObject", "Milk", "LunchBag"))
    assert robot.offer() is None


def test_where_no_conditions_are_stated_the_model_offers_or_nothing(table):
    profile = ProfileStore("/nonexistent").load("confident")
    actions = all_offers(table, profile, ["Milk", "LunchBag"])
    assert next(iter(actions)) == "pack Milk"
    wish = belief(**{"a good lunch with milk": 0.9})
    memory = Memory()
    model = ScriptedGenerator([json.dumps("pack Milk"), json.dumps("nothing")])

    def ask():
        return propose_by_model(table, wish, actions, memory, (), model)

    found = ask()
    assert found.label == "pack Milk"
    assert "a good lunch with milk" in model.calls[0][-1].content
    memory.offer(found, 1, wish.top)
    memory.settle(SuggestionState.IGNORED)
    assert ask() is None
    memory.offer(found, 1, wish.top)
    memory.settle(SuggestionState.REFUSED)
    # Nothing else is left to be offered: the model is not even asked.
    assert ask() is None
    assert len(model.calls) == 2
