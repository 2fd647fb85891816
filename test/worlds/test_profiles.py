"""The profiles of the robot domain: false at the start, and within reach."""

import pytest

from good_ros.core.errors import InputError
from good_ros.core.plan import Step
from good_ros.experiments.profiles import load_profile, profile_names
from good_ros.worlds.household.world import HouseholdWorld
from good_ros.worlds.predicates import holds

MOVES = {
    "put_away_food": [("Bread", "Fridge"), ("Tomato", "Fridge")],
    "breakfast_sandwich": [("Egg", "CounterTop_2"), ("Lettuce", "CounterTop_2")],
    "put_away_electronics": [("Laptop", "Desk"), ("CellPhone", "Desk")],
    "valuables_in_safe": [("Watch", "Safe"), ("KeyChain", "Safe"), ("CellPhone", "Safe")],
    "bathroom_cleaning_supplies": [("SprayBottle", "CounterTop"), ("Cloth", "CounterTop")],
}


def test_the_papers_five_are_there():
    assert set(profile_names()) == set(MOVES)


@pytest.mark.parametrize("name", MOVES)
def test_a_profile_is_false_at_the_start_and_can_be_fulfilled(name):
    profile = load_profile(name)
    world = HouseholdWorld()
    world.reset(profile.scene)
    fulfilled = [holds(c, world.observe()) for c in profile.conditions]
    assert not all(fulfilled)
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
