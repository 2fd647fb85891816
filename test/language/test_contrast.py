"""Questions made from goals: what their parts are, and what is asked about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.language.contrast import (
    dividing_parts,
    menu_question,
    part_questions,
    parts,
    recap_question,
)

BREAD = "the bread put in the fridge"
BOTH = "the bread and the egg put in the fridge"
THREE = "the bread put in the fridge, and the egg put in the fridge, and the cup put in the sink"


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (BREAD, [BREAD]),
        (BOTH, [BREAD, "the egg put in the fridge"]),
        (THREE, [BREAD, "the egg put in the fridge", "the cup put in the sink"]),
        ("the lamp turned off.", ["the lamp turned off"]),
        ("the mug is on the desk", ["the mug is on the desk"]),
        ("a quiet evening", ["a quiet evening"]),
        # Nothing is said of the last thing: the text is not taken apart.
        ("the bread put in the fridge, and tea", ["the bread put in the fridge, and tea"]),
    ],
)
def test_a_goal_has_a_part_for_each_thing(goal, expected):
    assert parts(goal) == expected


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["bread", "egg", "cup", "soap bar"]),
            st.sampled_from(["in the fridge", "on the counter top 2", "in the sink"]),
        ),
        min_size=1,
        unique_by=lambda pair: pair[0],
    )
)
def test_the_parts_of_a_goal_say_what_it_says(pairs):
    written = [f"the {thing} put {place}" for thing, place in pairs]
    assert parts(", and ".join(written)) == written


def test_the_part_that_comes_nearest_to_half_of_all_divides_first():
    goals = [(BREAD, 0.1), (BOTH, 0.5), (THREE, 0.4)]
    assert dividing_parts(goals) == ["the cup put in the sink", "the egg put in the fridge"]
    assert part_questions(goals) == [
        "Do you want the cup put in the sink?",
        "Do you want the egg put in the fridge?",
    ]


def test_goals_that_say_the_same_have_nothing_that_divides_them():
    assert dividing_parts([(BREAD, 0.5), ("The bread put in the fridge.", 0.5)]) == []
    assert menu_question([BREAD, "The bread put in the fridge."]) == ""


def test_a_menu_says_once_what_the_goals_have_in_common():
    assert menu_question([BREAD, BOTH]) == (
        "Beside the bread, which do you want put in the fridge: the egg; or nothing more?"
    )
    assert menu_question([BREAD, "the cup put in the sink"]) == (
        "Which do you want: the bread put in the fridge; or the cup put in the sink?"
    )
    assert menu_question([BREAD]) == ""


def test_a_recap_asks_whether_a_goal_is_all_that_is_wanted():
    assert recap_question(THREE) == (
        "Do you want the bread and the egg put in the fridge, and the cup put in the sink, "
        "and nothing more?"
    )
    assert recap_question("a quiet evening") == "Do you want a quiet evening, and nothing more?"
