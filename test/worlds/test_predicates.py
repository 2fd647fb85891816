"""Conditions on a room."""

import pytest

from good_ros.core.errors import InputError
from good_ros.worlds.base import ObjectView
from good_ros.worlds.predicates import explain, holds

ROOM = [
    ObjectView("f", "Fridge", "Fridge", state={"open": False}),
    ObjectView("b", "Bread", "Bread", inside=("p", "f")),
    ObjectView("p", "Plate", "Plate", inside=("f",)),
    ObjectView("m1", "Mug_1", "Mug", state={"held": True}),
    ObjectView("m2", "Mug_2", "Mug", inside=("t",)),
    ObjectView("t", "Table", "Table"),
    ObjectView("l", "Lamp", "Lamp", state={"toggled": True}),
]


@pytest.mark.parametrize(
    ("predicate", "true"),
    [
        ({"in": ["Bread", "Fridge"]}, True),
        ({"in": ["Mug", "Fridge"]}, False),
        ({"on": ["Mug", "Table"]}, True),
        ({True: ["Mug", "Table"]}, True),  # a bare `on` in YAML 1.1
        ({"on": ["each Mug", "Table"]}, False),
        ({"on": ["Mug_2", "Table"]}, True),
        ({"open": "Fridge"}, False),
        ({"closed": "Fridge"}, True),
        ({"toggled": ["Lamp", True]}, True),
        ({"toggled": ["Lamp", False]}, False),
        ({"held": "Mug"}, True),
        ({"held": "Mug_2"}, False),
        ({"not": {"held": "Mug_2"}}, True),
        ({"all": [{"held": "Mug"}, {"open": "Fridge"}]}, False),
        ({"any": [{"held": "Mug"}, {"open": "Fridge"}]}, True),
    ],
)
def test_predicates(predicate, true):
    assert holds(predicate, ROOM) is true


@pytest.mark.parametrize(
    ("predicate", "match"),
    [
        ({"under": ["Bread", "Fridge"]}, "under"),
        ({"in": ["Sofa", "Fridge"]}, "Sofa"),
        ({"in": ["Bread", "Safe"]}, "Safe"),
        ({"in": "Bread"}, "list of two"),
        ({"in": ["Bread", "Fridge"], "open": "Fridge"}, "one key"),
        ("Bread", "one key"),
        ({"all": []}, "list of predicates"),
        ({"all": 5}, "list of predicates"),
        ({"any": {"held": "Mug"}}, "list of predicates"),
        ({"toggled": ["Lamp", "no"]}, "true or false"),
        ({"open": ["Fridge"]}, "name"),
        ({"in": [["Bread"], "Fridge"]}, "name"),
    ],
)
def test_bad_predicates_are_named(predicate, match):
    with pytest.raises(InputError, match=match):
        holds(predicate, ROOM)


@pytest.mark.parametrize("predicate", [{"under": 1}, {"all": []}, {"toggled": ["Lamp", "no"]}])
def test_a_bad_predicate_is_not_put_in_words(predicate):
    with pytest.raises(InputError):
        explain(predicate)


def test_of_several_one_in_pieces_counts_as_one():
    room = [
        ObjectView("f", "Fridge", "Fridge"),
        ObjectView("b2", "Bread_2", "Bread", inside=("f",)),
        ObjectView("s1", "Slice_1", "Slice", state={"piece_of": "Bread_1"}, inside=("f",)),
        ObjectView("s2", "Slice_2", "Slice", state={"piece_of": "Bread_1"}),
    ]
    assert holds({"in": ["Bread", "Fridge"]}, room)
    assert not holds({"in": ["each Bread", "Fridge"]}, room)
    assert not holds({"in": ["Bread_1", "Fridge"]}, room)
    assert not holds({"in": ["Bread", "Fridge"]}, [room[0], *room[2:]])


def test_in_words():
    predicate = {"all": [{"in": ["Bread", "Fridge"]}, {"not": {"toggled": ["Lamp", True]}}]}
    assert explain(predicate) == "Bread is in Fridge and not (Lamp is on)"
