"""What a person must not eat, read off what was said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.planning.needs import Needs, in_answer, needs_of, stated
from good_ros.worlds.base import ObjectView

NUTS = {"nuts", "peanut"}


def item(*tags: str, known: bool = True) -> ObjectView:
    state = {"tags": frozenset(tags), "allergens_known": known}
    return ObjectView("x", "Thing", "thing", frozenset({"purchasable"}), state)


class TestWhatIsSaid:
    @pytest.mark.parametrize(
        ("text", "avoid", "diets"),
        [
            ("I am allergic to gluten.", {"gluten"}, set()),
            ("I'm severely allergic to peanuts, eggs and milk, please add apples", None, set()),
            ("I need gluten-free flour, sugar and eggs.", {"gluten"}, set()),
            ("eggs and gluten free flour", {"gluten"}, set()),
            ("dairy- and gluten-free, please", {"dairy", "gluten"}, set()),
            ("I have a nut allergy", NUTS, set()),
            ("My son has egg and milk allergies", {"egg", "dairy"}, set()),
            ("I need milk and eggs for a gluten allergy", {"gluten"}, set()),
            ("I can’t eat dairy or eggs", {"dairy", "egg"}, set()),
            ("We are coeliac", {"gluten"}, set()),
            ("I don't want nuts in it", NUTS, set()),
            ("No gluten please, but add milk and eggs", {"gluten"}, set()),
            ("Please without nuts, flour, sugar, eggs", NUTS, set()),
            ("Nothing that you buy may contain gluten.", {"gluten"}, set()),
            ("Please make sure nothing has gluten in it", {"gluten"}, set()),
            ("gluten makes me ill", {"gluten"}, set()),
            ("I have allergies: gluten, soy", {"gluten", "soy"}, set()),
            ("I am vegan and my wife is vegetarian", set(), {"vegan", "vegetarian"}),
            ("Everything must be organic", set(), {"organic"}),
            ("organic milk please", set(), set()),
            ("I want flour, sugar, eggs and milk", set(), set()),
            ("Please don't forget the eggs and milk", set(), set()),
            ("I am not allergic to gluten", set(), set()),
            ("I have no allergies", set(), set()),
            ("It doesn't have to be gluten-free", set(), set()),
            ("I am not vegan", set(), set()),
            ("gluten is fine", set(), set()),
        ],
    )
    def test_allergies_and_diets(self, text, avoid, diets):
        needs = stated([text])
        assert needs.avoid == ({"peanut", "egg", "dairy"} if avoid is None else avoid)
        assert needs.diets == diets

    @pytest.mark.parametrize(
        ("question", "answer", "avoid"),
        [
            ("Do you have any allergies?", "Gluten.", {"gluten"}),
            ("Are you allergic to nuts?", "Yes", NUTS),
            ("Are you allergic to nuts?", "No, please add milk", set()),
            ("Do you have allergies?", "Please add eggs and milk", set()),
            ("What would you like?", "Milk", set()),
        ],
    )
    def test_an_answer_is_read_with_its_question(self, question, answer, avoid):
        assert in_answer(question, answer).avoid == avoid

    def test_it_holds_for_the_whole_dialog_and_for_the_likeliest_goal(self):
        transcript = Transcript(
            "s", (Turn(1, "What?", "I am allergic to nuts"), Turn(2, "And?", "Milk"))
        )
        goals = (Hypothesis(Goal("g1", "vegan soup put in the cart"), 0.6, 0.0, 0.0),)
        goals += (Hypothesis(Goal("g2", "gluten-free bread put in the cart"), 0.4, 0.0, 0.0),)
        belief = Belief("s", 2, 1, True, goals, 0.5)
        assert needs_of(transcript, belief) == Needs(frozenset(NUTS), frozenset({"vegan"}))
        nobody = Belief("s", 2, 1, True, (Hypothesis(unspecified_goal(), 1.0, 0.0, 0.0),), 0.0)
        assert needs_of(transcript, nobody) == needs_of(transcript) == stated(["no nuts"])

    @given(st.text(max_size=80))
    def test_any_text_is_read(self, text):
        assert isinstance(stated([text]), Needs)


class TestClash:
    def test_what_is_carried_is_told_with_the_reason(self):
        needs = stated(["I am allergic to gluten"])
        assert needs.clash(item("contains gluten")) == (
            "Thing contains gluten, which the person avoids"
        )
        assert not needs.clash(item("contains milk"))

    def test_what_is_not_known_is_not_taken_for_harmless(self):
        needs = stated(["I am allergic to gluten"])
        assert "does not say" in needs.clash(item(known=False))
        assert not needs.clash(item("gluten-free", known=False))

    def test_a_diet_is_a_label_that_food_must_have(self):
        needs = stated(["I am vegan"])
        assert "not marked vegan" in needs.clash(item("vegetarian"))
        assert not needs.clash(item("vegan"))
        assert not needs.clash(item("non-food"))

    def test_lactose_alone_is_not_all_dairy(self):
        milk = item("contains dairy", "lactose-free")
        assert not stated(["I am lactose intolerant"]).clash(milk)
        assert stated(["I am allergic to dairy"]).clash(milk)
        assert (stated(["no lactose"]) | stated(["no dairy"])).clash(milk)

    def test_things_of_a_room_are_never_against_it(self):
        bread = ObjectView("b", "Bread", "Bread", frozenset({"pickupable"}))
        assert not stated(["I am allergic to gluten"]).clash(bread)
