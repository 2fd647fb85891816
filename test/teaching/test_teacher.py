"""Teaching in words: what is understood, said back, tried and kept, or refused with a reason."""

import json
import re
import tracemalloc

import pytest

from good_ros.core.errors import ModelTimeout
from good_ros.language.scripted import ScriptedGenerator
from good_ros.teaching.behaviours import Argument, Behaviour
from good_ros.teaching.room import Room
from good_ros.teaching.teacher import MAX_TRIALS, Teacher, _calls
from good_ros.worlds.household.world import HouseholdWorld

PACK = "pack X means pick up X and put it in the bag"


@pytest.mark.parametrize(
    ("said", "name", "arguments", "steps", "example"),
    [
        (PACK, "pack", {"thing": "object"}, "pickup(thing) put(thing, LunchBag)", "pack {thing}"),
        (
            "To pack the carrots means: pick up the carrots, then put them in the lunch bag.",
            *("pack", {"thing": "object"}, "pickup(thing) put(thing, LunchBag)", "pack {thing}"),
        ),
        (
            "When I say 'stow the milk', pick up the milk and put it in the bin",
            *("stow", {"thing": "object"}, "pickup(thing) put(thing, Bin)", "stow {thing}"),
        ),
        (
            "reach for something means go above it",
            *("reach_for", {"thing": "object"}, "goto(thing)", "reach for {thing}"),
        ),
        (
            "put it in the bag means grasp, go to the bag and release",
            *("put", {"place": "place"}, "grasp() goto(place) release()", "put it in {place}"),
        ),
        (
            "store X in Y means pick up X and put X in Y",
            *("store", {"thing": "object", "place": "place"}),
            *("pickup(thing) put(thing, place)", "store {thing} in {place}"),
        ),
        (
            "tidy up means put the fork in the bin and put the spoon in the bin",
            *("tidy_up", {}, "put(Fork, Bin) put(Spoon, Bin)", "tidy up"),
        ),
    ],
)
def test_explicit_forms_need_no_model(teach, said, name, arguments, steps, example):
    (behaviour,) = teach("anna", said).behaviours
    assert behaviour.name == name
    assert {a.name: a.type for a in behaviour.arguments} == arguments
    assert " ".join(map(str, behaviour.steps)) == steps
    assert behaviour.examples == (example,)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("pack X means fly X and go home", "I do not know how to 'fly X'"),
        ("spin means spin", "for ever"),
        ("swap X means put X in the milk", "of type place"),
        ("pack X means pick up the sofa", "'sofa' in 'pick up the sofa' is nothing I know"),
        ("hold X means pick up X and grasp", "in simulation: .*is in hand"),
        ("hello there", "did not understand"),
        ("forget dance", "no 'dance'"),
        ("\x07", "control character"),
        ("my goal is " + "x" * 300, "a goal has"),
        ("for example pop the milk in means pack the milk", "nothing that you taught"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason_and_not_kept(store, table, said, reason):
    before = table.snapshot()
    answer = Teacher(store, table).hear("anna", said)
    assert not answer.success
    assert re.search(reason, answer.reply), answer.reply
    assert table.snapshot() == before
    assert not store.path("anna").exists()


def test_it_says_back_what_it_understood_and_tried_and_the_world_is_as_before(store, table):
    before, done = table.snapshot(), []
    teacher = Teacher(store, table)
    teacher.on_step = lambda step: done.append(step.label)
    reply = teacher.hear("anna", PACK).reply
    assert "'pack thing' means pick up thing, then put thing in LunchBag" in reply
    assert "I tried 'pack Carrots' in simulation, and it works" in reply
    assert done == ["pack Carrots: pick up Carrots", "pack Carrots: put Carrots in LunchBag"]
    assert table.snapshot() == before


def test_two_people_teach_different_meanings_of_one_word(teach):
    anna = teach("anna", PACK)
    bob = teach("bob", "pack X means pick up X and put it in the bin")
    assert str(anna.behaviours[0].steps[1]) == "put(thing, LunchBag)"
    assert str(bob.behaviours[0].steps[1]) == "put(thing, Bin)"


def test_a_behaviour_that_others_are_made_of_is_not_forgotten_or_made_a_loop(teach, store, table):
    teach("anna", PACK, "stow X means pack X and go home")
    teacher = Teacher(store, table)
    assert "which I do not know" in teacher.hear("anna", "forget pack").reply
    assert "stow → pack → stow" in teacher.hear("anna", "pack X means stow X").reply
    assert store.load("anna").revision == 2


def test_more_phrases_and_undo(teach, store, table):
    profile = teach("anna", PACK, "for example pop the milk in means pack the milk")
    assert profile.behaviours[0].examples == ("pack {thing}", "pop {thing} in")
    again = teach("anna", "pack X means pick up X and put it in the bin")
    assert again.behaviours[0].examples == ("pack {thing}", "pop {thing} in")
    answer = Teacher(store, table).hear("anna", "no, undo that")
    assert "put thing in LunchBag" in answer.reply
    assert "put thing in LunchBag" in Teacher(store, table).hear("anna", "What do you know?").reply


@pytest.mark.parametrize(
    ("goal", "things"),
    [
        ("pack my child's lunch with Skittles, a Rice Krispie and hand sanitizer", 3),
        ("the carrots put in the lunch bag, and the fork put in the bin", 2),
        ("have the milk in the bin", 1),
        ("a nice day", 0),
        ("pack a lunch with anything but candy", 0),
    ],
)
def test_a_goal_is_kept_in_the_persons_words_with_what_they_ask_for(teach, goal, things):
    kept = teach("anna", f"My goal is to {goal}.").goal
    assert kept.text == goal
    assert len(kept.conditions) == things


def reply(**fields):
    nothing = {"kind": "unclear", "goal": "", "name": "", "arguments": [], "steps": []}
    return json.dumps({**nothing, "examples": [], **fields})


def test_free_words_are_read_by_the_model_into_a_typed_definition(store, table):
    model = ScriptedGenerator(
        [
            reply(
                kind="behaviour",
                name="Stash Away",
                arguments=[{"name": "Thing", "type": "object"}],
                steps=[
                    {"do": "pickup", "with": ["thing"]},
                    {"do": "put", "with": ["thing", "the lunch bag"]},
                ],
                examples=["stash {thing} away", "stash it"],
            ),
            reply(kind="goal", goal="a lunch bag with the milk in it"),
        ]
    )
    teacher = Teacher(store, table, model)
    said = "So whenever there is something I call stashing, you take it and bag it"
    assert teacher.hear("anna", said).success
    (behaviour,) = store.load("anna").behaviours
    assert behaviour.signature == "stash_away(thing: object)"
    assert str(behaviour.steps[1]) == "put(thing, LunchBag)"
    assert behaviour.examples == ("stash {thing} away",)
    assert said in model.calls[0][-1].content
    assert "put(object: object, place: place)" in model.calls[0][0].content
    assert teacher.hear("anna", "In the end there should be milk with lunch").success
    assert store.load("anna").goal.conditions == ({"in": ["Milk", "LunchBag"]},)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (reply(), "did not understand"),
        ("no JSON", "not JSON"),
        (ModelTimeout("the model took too long"), "took too long"),
        (
            reply(kind="behaviour", name="x", steps=[{"do": "put", "with": ["Milk"]}]),
            "needs 2",
        ),
        (
            reply(kind="behaviour", name="x", steps=[{"do": "pickup", "with": ["the moon"]}]),
            "no 'the moon'",
        ),
    ],
)
def test_what_the_model_gives_is_checked_as_any_definition_is(store, table, line, reason):
    answer = Teacher(store, table, ScriptedGenerator([line])).hear("anna", "do as I like it")
    assert not answer.success
    assert reason in answer.reply
    assert not store.path("anna").exists()


def test_a_household_is_taught_with_its_own_actions(store):
    world = HouseholdWorld()
    world.reset("FloorPlan1")
    teacher = Teacher(store, world)
    answer = teacher.hear("anna", "chill X means open the fridge and put X in the fridge")
    assert answer.success, answer.reply
    assert not teacher.hear("anna", "wave means go home").success


def test_four_things_of_a_kitchen_are_tried_without_listing_every_four_of_them():
    """There are 35 million: to list them took gigabytes, and minutes."""
    kitchen = HouseholdWorld()
    kitchen.reset("FloorPlan1")
    names = ("a", "b", "c", "d")
    behaviour = Behaviour("visit", tuple(Argument(name, "item") for name in names))
    tracemalloc.start()
    try:
        calls = _calls(behaviour, Room(kitchen.observe()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(calls) == len({call.args for call in calls}) == MAX_TRIALS
    assert all(len(call.args) == len(names) for call in calls)
    assert peak < 10e6
