"""The truthful person: what is said is true of the wish."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.experiments.person import TruthfulPerson
from good_ros.experiments.temperament import load_temperament
from good_ros.language.contrast import recap_question
from good_ros.worlds.registry import make_world

WISH = (("Bread", "Fridge"), ("Egg", "Fridge"))


@pytest.fixture(scope="module")
def objects():
    room = make_world("household")
    room.reset("FloorPlan1")
    return room.observe()


def person(objects, temperament="even", wish=WISH, seed=0):
    return TruthfulPerson(wish, objects, load_temperament(temperament), seed)


@pytest.mark.parametrize(
    ("question", "yes", "named"),
    [
        ("Do you want the bread put in the fridge?", "Yes", {"bread"}),
        ("Do you want the bread put in the sink?", "No", {"bread"}),
        ("Do you want the apple put in the fridge?", "No", set()),
        ("Do you want the bread and the apple put in the fridge?", "No", {"bread"}),
        ("Is it the bread or the apple that you want in the fridge?", "", {"bread"}),
        (
            "Beside the bread, which do you want put in the fridge: the egg; or nothing more?",
            "",
            {"egg"},
        ),
        ("Which do you want put in the fridge: the apple; or nothing more?", "", set()),
        ("Do you want the bread put in the fridge, and nothing more?", "No", {"bread", "egg"}),
        (
            "Do you want the bread and the egg put in the fridge, and nothing more?",
            "Yes",
            {"bread", "egg"},
        ),
        (
            "Do you want the bread and the egg put in the sink, and nothing more?",
            "No",
            {"bread", "egg"},
        ),
        (
            "Do you want the bread, the egg and the apple put in the fridge, and nothing more?",
            "No",
            {"bread", "egg"},
        ),
        ("Do you want the apple put in the fridge, and nothing more?", "No", {"bread", "egg"}),
        ("What should I move?", "", {"bread", "egg"}),
    ],
)
def test_what_is_said_is_true(objects, question, yes, named):
    said = person(objects).answer(question, 1)
    first = re.match(r"(Yes|No)\b(?!, nothing more|, none)", said)
    assert (first.group(1) if first else "") == yes
    assert {thing for thing in ("bread", "egg") if f"the {thing} " in f"{said.lower()} "} == named
    if named:
        assert "in the fridge" in said


def test_a_wish_is_not_named_twice_of_its_own_accord(objects):
    one = person(objects, "terse")
    said = [one.answer("What should I move?", turn) for turn in (1, 2, 3)]
    assert [sorted(re.findall("bread|egg", s.lower())) for s in said[:2]] in (
        [["bread"], ["egg"]],
        [["egg"], ["bread"]],
    )
    assert not re.search("bread|egg", said[2].lower())


def test_a_mind_is_changed_once(objects):
    one = person(objects, "changes_mind")
    first = one.answer("What should I move?", 1)
    assert not re.search("bread|egg", first.lower())
    assert "changed my mind" in one.answer("What else?", 2)


@given(
    st.lists(st.sampled_from(["Bread", "Egg", "Apple", "Tomato"]), min_size=1, unique=True),
    st.integers(0, 100),
)
def test_a_recap_is_right_for_the_wish_alone(things, seed):
    room = make_world("household")
    room.reset("FloorPlan1")
    goal = ", and ".join(f"the {thing.lower()} put in the fridge" for thing in things)
    said = person(room.observe(), seed=seed).answer(recap_question(goal), 1)
    assert said.startswith("Yes.") == (set(things) == {"Bread", "Egg"})
    assert {"bread", "egg"} <= set(re.findall(r"\w+", said.lower()))
