"""The grocery world: inventory files, search, cart, stock and purchase."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from good_ros.core.errors import InputError, WorldError
from good_ros.core.plan import ErrorCode, Step
from good_ros.worlds import predicates
from good_ros.worlds.grocery import embedding
from good_ros.worlds.grocery.inventory import Inventory, Item, cents, dollars
from good_ros.worlds.grocery.loading import OURS, load_inventory
from good_ros.worlds.grocery.search import LEXICAL, LexicalSearch, best
from good_ros.worlds.grocery.state import ADD, BUY, REMOVE, SEARCH
from good_ros.worlds.grocery.world import GroceryWorld
from good_ros.worlds.registry import WORLDS, make_world
from test.conftest import shared_data

KNOWN_BEST = {
    "flour": {"plain-white-flour"},
    "gluten-free flour": {"gluten-free-flour-blend"},
    "cocoa powder": {"unsweetened-cocoa-powder", "organic-cocoa-powder"},
    "birthday candles": {"birthday-candles"},
    "rainbow sprinkles": {"rainbow-sprinkles"},
    "chocolate frosting": {"chocolate-frosting"},
    "strawberries": {"fresh-strawberries"},
    "whole milk": {"whole-milk"},
    "oat milk": {"oat-milk"},
    "peanut butter": {"smooth-peanut-butter"},
    "unsalted butter": {"unsalted-butter"},
    "pasta": {"spaghetti-pasta", "penne-pasta"},
    "parmesan cheese": {"parmesan-wedge", "grated-parmesan"},
    "gluten free pasta": {"gluten-free-spaghetti-pasta", "gluten-free-penne-pasta"},
    "tomato sauce": {"tomato-and-basil-pasta-sauce", "organic-tomato-pasta-sauce"},
    "chicken wings": {"chicken-wings"},
    "tortilla chips": {"corn-tortilla-chips"},
    "organic spinach": {"organic-spinach"},
    "fortified cereal": {"iron-fortified-bran-flakes"},
    "prawns": {"peeled-shrimp"},
    "eggplant": {"aubergine"},
}
"""Search terms, and the items of which one is the right answer to each."""


@pytest.fixture
def store() -> GroceryWorld:
    world = GroceryWorld(LEXICAL)
    world.reset(OURS)
    return world


def add(item_id: str, count: int = 1) -> Step:
    return Step(ADD, item_id, "cart", argument=str(count))


def write(path, rows) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return str(path)


class TestMoney:
    @pytest.mark.parametrize(
        ("text", "value"),
        [("4.99", 499), ("$1,299.00", 129900), ("3", 300), ("€ 0.50", 50), ("0", 0), ("2.5", 250)],
    )
    def test_prices_are_read_in_whole_cents(self, text, value):
        assert cents(text) == value

    @pytest.mark.parametrize("text", ["", "free", "1.999", "-1", "nan", "inf", "1e9", "1.2.3"])
    def test_what_is_no_price_is_refused(self, text):
        with pytest.raises(ValueError, match="price"):
            cents(text)

    @given(st.integers(0, 1_000_000))
    def test_cents_and_words_go_both_ways(self, amount):
        assert cents(dollars(amount)) == amount


class TestOurInventory:
    def test_it_has_300_items_or_more_and_no_row_is_bad(self):
        inventory = load_inventory(OURS)
        assert len(inventory.items) >= 300
        assert not inventory.problems
        assert all(item.price_cents > 0 and item.stock for item in inventory.items.values())
        assert all(item.allergens_known for item in inventory.items.values())

    def test_labels_do_not_contradict_what_is_carried(self):
        for item in load_inventory(OURS).items.values():
            animal = {f"contains {a}" for a in ("dairy", "egg", "fish", "shellfish")}
            assert not ("vegan" in item.tags and animal & item.tags), item.name
            assert not ("gluten-free" in item.tags and "contains gluten" in item.tags), item.name
            assert ("organic" in item.tags) == ("organic" in item.name.lower()), item.name

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_another_seed_sells_items_out_but_no_label_of_a_kind(self, seed):
        world = GroceryWorld(LEXICAL)
        world.reset(OURS, seed)
        items = list(world.state.inventory.items.values())
        gone = [item for item in items if world.state.left(item) == 0]
        assert gone
        there = [item for item in items if item not in gone]
        for item in gone:
            assert any(item.kind == o.kind and o.tags >= item.tags - _carried(item) for o in there)
        assert world.act(add(gone[0].id)).error_code is ErrorCode.OUT_OF_STOCK


def _carried(item: Item) -> set[str]:
    return {tag for tag in item.tags if tag.startswith("contains ")}


class TestSearch:
    @pytest.mark.parametrize("term", KNOWN_BEST)
    def test_the_best_item_is_the_known_one(self, store, term):
        assert set(store.search(term)) <= KNOWN_BEST[term]
        assert store.search(term)

    @pytest.mark.skipif(bool(embedding.missing()), reason=embedding.missing())
    def test_so_it_is_by_embeddings(self):
        world = GroceryWorld("embedding")
        world.reset(OURS)
        found = {term: set(world.search(term)) for term in KNOWN_BEST}
        assert [term for term in KNOWN_BEST if not found[term] & KNOWN_BEST[term]] == []
        # What no word says:
        assert world.search("soft drink") == ["cola"]
        assert len(world.search("something sweet and cold", 3)) == 3

    def test_where_embeddings_cannot_be_computed_words_are_used(self, monkeypatch):
        monkeypatch.setattr(embedding, "missing", lambda: "torch not installed")
        world = GroceryWorld()
        world.reset(OURS)
        assert world.search("flour")
        with pytest.raises(WorldError, match="torch"):
            embedding._encoder.__wrapped__()

    def test_several_results_are_best_first_and_what_is_left_out_is_not_there(self, store):
        first, second, third = store.search("eggs", 3)
        assert store.search("eggs", 2, without={first}) == [second, third]
        assert store.search("spaceship") == []
        assert store.search("") == []

    @given(st.text(max_size=40))
    @settings(max_examples=40, deadline=None)
    def test_any_term_is_answered(self, term):
        inventory = load_inventory(OURS)
        assert len(best(inventory, _INDEX, term, 3)) <= 3


_INDEX = LexicalSearch(load_inventory(OURS))


class TestCart:
    def test_prices_add_up_and_buying_empties_the_stock_once(self, store):
        items = store.state.inventory.items
        flour, eggs = items["plain-white-flour"], items["medium-eggs"]
        assert store.act(add(flour.id, 2)).effect == "2 × Plain White Flour (1 kg) in the cart"
        assert store.act(add(eggs.id)).success
        total = 2 * flour.price_cents + eggs.price_cents
        assert store.state.total_cents == total
        assert f"({dollars(total)} in all)" in store.describe()
        outcome = store.act(Step(BUY))
        assert outcome.success
        assert dollars(total) in outcome.effect
        assert store.state.left(flour) == flour.stock - 2
        assert store.act(Step(BUY)).error_code is ErrorCode.WRONG_STATE
        assert store.state.left(flour) == flour.stock - 2
        assert store.state.paid_cents == total
        assert store.verify(Step(BUY)) is None

    @pytest.mark.parametrize(
        ("step", "code"),
        [
            (add("plutonium"), ErrorCode.NOT_FOUND),
            (Step(REMOVE, "plutonium"), ErrorCode.NOT_FOUND),
            (Step(REMOVE, "whole-milk"), ErrorCode.WRONG_STATE),
            (add("whole-milk", 99), ErrorCode.OUT_OF_STOCK),
            (Step(ADD, "whole-milk", "cart", argument="-1"), ErrorCode.INVALID_ACTION),
            (Step(ADD, "whole-milk", "cart", argument="many"), ErrorCode.INVALID_ACTION),
            (Step(ADD, "whole-milk", "cart", argument="²"), ErrorCode.INVALID_ACTION),
            (Step(BUY), ErrorCode.WRONG_STATE),
            (Step(SEARCH, argument="spaceship"), ErrorCode.NOT_FOUND),
            (Step("EatFood", "whole-milk"), ErrorCode.INVALID_ACTION),
        ],
    )
    def test_failures_are_typed_and_change_nothing(self, store, step, code):
        before = store.snapshot()
        outcome = store.act(step)
        assert (outcome.success, outcome.error_code) == (False, code)
        assert outcome.error_msg
        assert store.snapshot() == before
        assert step.action == REMOVE or store.verify(step) is not None

    def test_what_was_sold_out_meanwhile_is_not_bought(self, store):
        stock = store.state.inventory.items["whole-milk"].stock
        assert store.act(add("whole-milk", stock)).success
        assert store.act(Step(BUY)).success
        assert store.act(add("whole-milk")).error_code is ErrorCode.OUT_OF_STOCK
        assert "whole-milk" not in store.search("whole milk", 3)

    def test_a_search_tells_prices(self, store):
        assert "Plain White Flour $1.19" in store.act(Step(SEARCH, argument="flour")).effect

    def test_what_is_seen_says_where_things_are(self, store):
        store.act(add("whole-milk", 2))
        seen = {item.id: item for item in store.observe()}
        assert seen["whole-milk"].inside == ("cart",)
        assert seen["whole-milk"].state["quantity"] == 2
        assert seen["whole-milk"].type == "milk"
        store.act(Step(BUY))
        seen = {item.id: item for item in store.observe()}
        assert seen["whole-milk"].inside == ("bags", "cart")
        assert predicates.holds({"in": ["milk", "Cart"]}, store.observe())

    def test_offered_is_only_what_would_change_something(self, store):
        store.act(add("whole-milk"))
        labels = [s.label for s in store.possible_actions(["whole-milk", "medium-eggs"])]
        assert "add Whole Milk" not in labels
        assert {"add 2 of Whole Milk", "add Medium Eggs", "buy the basket"} <= set(labels)
        assert len(labels) == len(set(labels))

    @given(
        st.lists(
            st.tuples(
                st.sampled_from([ADD, REMOVE, BUY]),
                st.sampled_from(["a", "b", "c", "nothing"]),
                st.integers(1, 6),
            ),
            max_size=25,
        )
    )
    def test_no_money_and_no_item_appears_or_is_lost(self, moves):
        world = GroceryWorld(LEXICAL)
        items = {n: Item(n, n, n, "", 7 * k, stock=k) for k, n in enumerate("abc", start=3)}
        world._state = type(world.state)(Inventory("three", items))
        spent = 0
        for action, item_id, count in moves:
            before, snapshot = world.state, world.snapshot()
            object_id = "" if action == BUY else item_id
            step = Step(action, object_id, argument=str(count) if action == ADD else "")
            outcome = world.act(step)
            if not outcome.success:
                assert world.state == before
            else:
                assert world.verify(step) is None
                spent += before.total_cents if action == BUY else 0
            state = world.state
            assert state.total_cents == sum(items[i].price_cents * n for i, n in state.cart.items())
            assert state.paid_cents == spent
            for item in items.values():
                assert 0 <= state.cart.get(item.id, 0) <= state.left(item)
                assert state.left(item) + state.sold.get(item.id, 0) == item.stock
            world.restore(snapshot)
            assert world.state == before
            world._state = state


class TestFiles:
    def test_headings_are_known_by_many_names_and_bad_rows_told_by_line(self, tmp_path):
        rows = [
            ["Product", "Unit Price", "Department", "Contains"],
            ["Rye Bread", "$2.50", "Bakery", "gluten; sesame"],
            ["", "1.00", "Bakery", ""],
            ["Free Lunch", "free", "Deli", ""],
            [],
            ["Rye Bread", "3", "Bakery", "gluten"],
            ["Evil\x1b[2J", "1", "Bakery", ""],
            ["Short row"],
        ]
        inventory = load_inventory(write(tmp_path / "mine.csv", rows))
        assert [(i.name, i.price_cents) for i in inventory.items.values()] == [
            ("Rye Bread", 250),
            ("Rye Bread (2)", 300),
        ]
        assert "contains sesame" in next(iter(inventory.items.values())).tags
        lines = [problem.partition(":")[0] for problem in inventory.problems]
        assert lines == ["line 3", "line 4", "line 7", "line 8"]

    def test_columns_can_be_mapped(self, tmp_path):
        write(tmp_path / "mine.csv", [["Artikel", "Preis in Cent"], ["Brot", "250"], ["Ei", "x"]])
        mapping = tmp_path / "mine.yaml"
        mapping.write_text("file: mine.csv\ncolumns: {name: Artikel, price_cents: Preis in Cent}\n")
        inventory = load_inventory(str(mapping))
        assert [i.price_cents for i in inventory.items.values()] == [250]
        assert inventory.problems == ("line 3: the price 'x' is no whole number of cents",)

    @pytest.mark.parametrize(
        ("rows", "match"),
        [
            ([], "no column for name and price"),
            ([["name", "colour"], ["x", "red"]], "no column for price"),
            ([["name", "price"]], "no row"),
            ([["name", "price"], ["x", "free"]], "line 2"),
        ],
    )
    def test_where_nothing_is_left_it_is_an_error_in_one_line(self, tmp_path, rows, match):
        with pytest.raises(WorldError, match=match) as error:
            load_inventory(write(tmp_path / "mine.csv", rows))
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize(
        ("text", "match"),
        [
            ("columns: {}", "must have file"),
            ("file: mine.csv\ncolumns: {colour: x}", "columns says"),
            ("file: mine.csv\ncolumns: {name: Title}", "no column 'Title'"),
            ("file: other.csv", "cannot be read"),
            ("file: [", "not YAML"),
        ],
    )
    def test_a_wrong_mapping_is_an_error(self, tmp_path, text, match):
        write(tmp_path / "mine.csv", [["name", "price"], ["x", "1"]])
        (tmp_path / "mine.yaml").write_text(text)
        with pytest.raises(WorldError, match=match):
            load_inventory(str(tmp_path / "mine.yaml"))

    def test_an_unknown_scene_names_ours_and_a_file_of_bytes_is_no_csv(self, tmp_path):
        with pytest.raises(WorldError, match="'store'"):
            load_inventory("FloorPlan1")
        (tmp_path / "bad.csv").write_bytes(b"name,price\n\xff\xfe,1\n")
        with pytest.raises(WorldError, match="UTF-8"):
            load_inventory(str(tmp_path / "bad.csv"))

    def test_a_store_of_other_people_is_loaded(self):
        inventory = load_inventory(str(shared_data("grocery_inventory.csv")))
        assert len(inventory.items) > 1500
        assert len(inventory.items) + len(inventory.problems) == 1603

    def test_what_is_not_marked_with_allergens_is_not_known_to_be_free_of_them(self, tmp_path):
        path = write(tmp_path / "mine.csv", [["name", "price"], ["Gluten-Free Bread", "1"]])
        (item,) = load_inventory(path).items.values()
        assert not item.allergens_known
        assert "gluten-free" in item.tags


class TestPredicate:
    def test_it_counts_what_fits(self, store):
        store.act(add("plain-white-flour", 2))
        store.act(add("gluten-free-flour-blend"))

        def so(**basket) -> bool:
            return predicates.holds({"basket": basket}, store.observe())

        assert so(kind="flour", at_least=3)
        assert not so(kind="flour", at_least=4)
        assert so(kind=["eggs", "flour"], without=["contains gluten"])
        assert not so(kind="flour", without=["contains gluten"], at_least=2)
        assert so(tags=["contains gluten"], category="baking")
        assert not so(paid=True)
        store.act(Step(BUY))
        assert so(kind="flour", at_least=3, paid=True)

    @pytest.mark.parametrize(
        "value", ["flour", {"colour": "red"}, {"at_least": 0}, {"paid": 1}, {"tags": "vegan"}]
    )
    def test_another_form_is_refused(self, value):
        with pytest.raises(InputError, match="basket"):
            predicates.explain({"basket": value})

    def test_it_is_told_in_words(self):
        value = {"kind": ["eggs", "milk"], "tags": ["organic"], "at_least": 2, "paid": True}
        words = predicates.explain({"basket": value})
        assert words == "at least 2 of eggs or milk (organic) is bought"


def test_the_registry_makes_it():
    assert "grocery" in WORLDS
    world = make_world("grocery")
    assert world.name == "grocery"
    with pytest.raises(WorldError, match="snapshot"):
        world.restore("something else")
