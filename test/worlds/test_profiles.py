"""The profiles of the robot domain: false at the start, and within reach."""

import pytest

from good_ros.core.errors import InputError
from good_ros.core.plan import Step
from good_ros.experiments.profiles import load_profile, profile_names
from good_ros.worlds.household.world import HouseholdWorld
from good_ros.worlds.predicates import explain, holds

MOVES = {
    "put_away_food": [("Bread", "Fridge"), ("Tomato", "Fridge")],
    "breakfast_sandwich": [("Egg", "CounterTop_2"), ("Lettuce", "CounterTop_2")],
    "put_away_electronics": [("Laptop", "Desk"), ("CellPhone", "Desk")],
    "valuables_in_safe": [("Watch", "Safe"), ("KeyChain", "Safe"), ("CellPhone", "Safe")],
    "bathroom_cleaning_supplies": [("SprayBottle", "CounterTop"), ("Cloth", "CounterTop")],
}

TRUE_AT_THE_START = {"breakfast_sandwich": ["Bread is on CounterTop_2"]}
"""What must only be left as it is; every other condition is to be made true."""


def test_the_papers_five_are_there():
    robot = {name for name in profile_names() if load_profile(name).domain == "robot"}
    assert robot == set(MOVES)


@pytest.mark.parametrize("name", MOVES)
def test_a_profile_is_false_at_the_start_and_can_be_fulfilled(name):
    profile = load_profile(name)
    world = HouseholdWorld()
    world.reset(profile.scene)
    true = [explain(c) for c in profile.conditions if holds(c, world.observe())]
    assert true == TRUE_AT_THE_START.get(name, [])
    ids = {item.name: item.id for item in world.observe()}
    for thing, place in MOVES[name]:
        assert world.act(Step("PickupObject", ids[thing])).success
        assert not all(holds(c, world.observe()) for c in profile.conditions)
        assert world.act(Step("PutObject", ids[thing], ids[place])).success
    assert all(holds(c, world.observe()) for c in profile.conditions)


def test_an_unknown_profile_names_the_known_ones():
    with pytest.raises(InputError, match="put_away_food"):
        load_profile("bake_a_cake")


def test_a_profile_with_a_missing_field_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\n")
    with pytest.raises(InputError, match="completion_phrase"):
        load_profile(str(path))


GOOD = """
name: mine
domain: robot
scene: FloorPlan1
task: tidy up
profile: I want it tidy.
completion_phrase: thanks
conditions:
  - in: [Bread, Fridge]
"""


def test_a_profile_by_its_path(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    assert load_profile(str(path)).conditions == ({"in": ["Bread", "Fridge"]},)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("  - in: [Bread, Fridge]\n", "", "conditions"),
        ("\n  - in: [Bread, Fridge]\n", " []\n", "conditions"),
        ("\n  - in: [Bread, Fridge]\n", " in\n", "conditions"),
        ("in: [", "under: [", "under"),
        ("name: mine", "name: 3", "name"),
        ("profile: I want it tidy.", "profile:", "profile"),
        ("name: mine", "name: [mine", "not YAML"),
    ],
)
def test_a_bad_profile_is_refused_in_one_line(tmp_path, old, new, match):
    path = tmp_path / "mine.yaml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError, match=match) as error:
        load_profile(str(path))
    assert "mine.yaml" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_profile_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not YAML"):
        load_profile(str(path))
