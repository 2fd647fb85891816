"""Which behaviours can run, and what they come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.errors import InputError
from good_ros.core.plan import Step
from good_ros.teaching.behaviours import (
    MAX_PRIMITIVES,
    Argument,
    Behaviour,
    Call,
    Vocabulary,
    parse_call,
)
from good_ros.teaching.expansion import actions_of, steps_of
from good_ros.worlds.table import TableWorld

THING = (Argument("thing", "object"),)
PACK = Behaviour(
    "pack",
    THING,
    (Call("pickup", ("thing",)), Call("put", ("thing", "LunchBag"))),
    ("pack {thing}",),
)


def made_of(*steps, name="stow", arguments=THING, examples=()):
    return Behaviour(name, arguments, tuple(map(parse_call, steps)), examples)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ([made_of("fly(thing)")], "uses 'fly', which I do not know"),
        ([made_of("stow(thing)")], "would run for ever: stow → stow"),
        (
            [made_of("hide(thing)"), made_of("stow(thing)", name="hide")],
            "would run for ever: stow → hide → stow",
        ),
        ([made_of("put(thing)")], r"needs 2 argument\(s\), and put\(thing\) has 1"),
        ([made_of("pickup(thing, thing)")], "needs 1"),
        ([made_of("put(thing, Milk)")], "of type place for place; Milk is of type object"),
        ([made_of("put(LunchBag, thing)")], "of type object for object; LunchBag is of type"),
        ([made_of("put(thing, Moon)")], "there is no 'Moon' here"),
        ([made_of("go_home()")], "told thing and does nothing with it"),
        ([made_of("pickup(thing)", name="Stow It")], "is no name"),
        ([made_of(arguments=())], "1 to 12 steps"),
        ([made_of("pickup(thing)", arguments=(Argument("thing", "cat"),))], "type 'cat'"),
        ([made_of("pickup(thing)", arguments=THING * 2)], "each once"),
        ([made_of("pickup(thing)", examples=("stow it",))], "must have words and, in braces"),
        ([made_of("pickup(thing)", examples=("{thing}",))], "must have words and, in braces"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(room, wrong, reason):
    with pytest.raises(InputError, match=reason):
        Vocabulary(wrong).validate(room.types)


def test_what_grows_beyond_bounds_is_refused(room):
    doubled = [made_of("pickup(thing)", "pickup(thing)", name="b0")]
    doubled += [made_of(f"b{n}(thing)", f"b{n}(thing)", name=f"b{n + 1}") for n in range(8)]
    with pytest.raises(InputError, match=f"the limit is {MAX_PRIMITIVES}"):
        Vocabulary(doubled).validate(room.types)


@pytest.mark.parametrize("text", ["pickup", "pickup(", "pickup((a))", "pickup(a,)", "", "2(a)"])
def test_what_is_no_call_is_named(text):
    with pytest.raises(InputError):
        parse_call(text)


@given(
    st.from_regex(r"[a-z]\w{0,8}", fullmatch=True),
    st.lists(st.from_regex(r"[A-Za-z]\w{0,8}", fullmatch=True), max_size=4),
)
def test_a_call_reads_as_it_is_written(do, args):
    assert parse_call(str(Call(do, tuple(args)))) == Call(do, tuple(args))


def labels(steps):
    return [step.label for step in steps]


def test_a_taught_behaviour_comes_to_the_worlds_steps_under_its_name(table, room):
    tidy = made_of("pack(thing)", "go_home()", name="tidy")
    vocabulary = Vocabulary([PACK, tidy])
    vocabulary.validate(room.types)
    steps = steps_of(table, room, vocabulary, [Call("tidy", ("Milk",))])
    assert labels(steps) == [
        "tidy Milk: pick up Milk",
        "tidy Milk: put Milk in LunchBag",
        "tidy Milk: go home",
    ]
    assert steps[1].action == "PutObject"
    assert (steps[1].object_id, steps[1].target_id) == ("Milk", "LunchBag")


def test_a_put_begins_with_picking_up_and_what_is_held_is_not_picked_up_again(table):
    from good_ros.teaching.room import Room

    calls = [Call("put", ("Milk", "Bin"))]
    room = Room(table.observe())
    assert labels(steps_of(table, room, Vocabulary(), calls)) == ["pick up Milk", "put Milk in Bin"]
    table.act(Step("PickupObject", "Milk"))
    room = Room(table.observe())
    assert labels(steps_of(table, room, Vocabulary([PACK]), [Call("pack", ("Milk",))])) == [
        "pack Milk: put Milk in LunchBag"
    ]


def test_a_taught_word_stands_in_front_of_the_robots_own_for_one_person_alone(room):
    put = Behaviour(
        "put",
        (Argument("place", "place"),),
        (Call("grasp"), Call("goto", ("place",)), Call("release")),
    )
    hers, his = Vocabulary([put]), Vocabulary([PACK])
    hers.validate(room.types)
    assert hers.expand(Call("put", ("Bin",)))[0] == Call("grasp")
    assert his.expand(Call("pack", ("Milk",)))[1] == Call("put", ("Milk", "LunchBag"))
    assert "pack" not in hers
    with pytest.raises(InputError, match="do not know 'pack'"):
        hers.expand(Call("pack", ("Milk",)))


def test_a_world_has_the_behaviours_that_it_has_actions_for(table):
    names = Vocabulary(actions=actions_of(table)).names
    assert names == ["goto", "grasp", "release", "pickup", "put", "go_home"]


def test_the_table_fails_as_the_arm_does():
    world = TableWorld()
    world.reset("lunch_bag")
    failures = {
        step: world.act(Step(*step)).error_code.name
        for step in [
            ("Grasp",),
            ("PutObject", "Milk", "Bin"),
            ("PickupObject", "Moon"),
            ("Fly",),
        ]
    }
    assert list(failures.values()) == ["MISSED_GRASP", "HAND_EMPTY", "NOT_FOUND", "INVALID_ACTION"]
    for step in (("GoTo", "Milk"), ("Grasp",), ("GoTo", "Bin"), ("Release",)):
        assert world.act(Step(*step)).success
        assert world.verify(Step(*step)) is None
    assert "in Bin: Milk" in world.describe()
    assert world.act(Step("PickupObject", "Fork")).success
    assert world.act(Step("PickupObject", "Spoon")).error_code.name == "HAND_FULL"
