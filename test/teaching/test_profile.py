"""Profiles as files: checked, versioned, editable, each person's own."""

import pytest
import yaml

from good_ros.core.errors import InputError
from good_ros.core.resources import config_folder
from good_ros.teaching.profile import ProfileStore, TaughtGoal, check_person, from_text, to_text

PACK = "pack X means pick up X and put it in the bag"


def test_a_profile_survives_the_way_through_its_file(teach, store):
    kept = teach("anna", "my goal is the milk put in the lunch bag", PACK)
    assert from_text(to_text(kept), "anna") == kept
    assert ProfileStore(store.folder).load("Anna ") == kept
    assert kept.revision == 2
    assert kept.goal == TaughtGoal("the milk put in the lunch bag", ({"in": ["Milk", "LunchBag"]},))


def test_every_revision_is_kept_and_the_last_change_can_be_undone(teach, store):
    teach("anna", PACK, "my goal is the milk put in the bin", "forget pack")
    assert store.load("anna").behaviours == ()
    assert [b.name for b in store.undo("anna").behaviours] == ["pack"]
    assert store.load("anna").revision == 4
    assert sorted(p.name for p in store.folder.glob(".older/*")) == [
        f"anna.{n}.yaml" for n in range(4)
    ]
    with pytest.raises(InputError, match="nothing to undo"):
        store.undo("bob")


def test_a_change_by_hand_counts_at_once_and_a_wrong_one_is_refused(teach, store):
    teach("anna", PACK)
    path = store.path("anna")
    text = path.read_text()
    path.write_text(text.replace("put(thing, LunchBag)", "put(thing, Bin)"))
    assert str(store.load("anna").behaviours[0].steps[1]) == "put(thing, Bin)"
    for wrong, reason in {
        text.replace("put(thing, LunchBag)", "put(thing)"): "needs 2",
        text.replace("pickup(thing)", "pack(thing)"): "for ever",
        text.replace("format: 1", "format: 2"): "format: 1",
        text.replace("person: anna", "person: bob"): "that of 'bob'",
        text + "more: 1\n": "fields",
        "{": "not YAML",
        "- 1": "fields",
    }.items():
        path.write_text(wrong)
        with pytest.raises(InputError, match=reason):
            store.load("anna")


@pytest.mark.parametrize("name", ["", "..", "../bob", "a/b", "a b", ".older", "x" * 41, "ä"])
def test_a_name_cannot_lead_out_of_the_folder(store, name):
    with pytest.raises(InputError, match="no name of a person"):
        check_person(name)
    with pytest.raises(InputError):
        store.load(name)


def test_a_folder_that_cannot_be_written_is_named(tmp_path, teach):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="people_folder"):
        ProfileStore(tmp_path / "file" / "people").save(teach("anna", PACK))


def test_the_two_people_of_the_figure_are_there_for_everybody(store, room):
    for name in ("confident", "careful"):
        data = yaml.safe_load((config_folder() / "people" / f"{name}.yaml").read_text())
        profile = store.load(name)
        profile.vocabulary().validate(room.types)
        assert [b["name"] for b in data["behaviours"]] == [b.name for b in profile.behaviours]
    assert {"confident", "careful"} <= set(store.people())


def test_an_example_that_is_taught_more_becomes_a_copy(teach, store):
    teach("confident", "stow X means pack X and go home")
    assert store.path("confident").exists()
    assert [b.name for b in store.load("confident").behaviours] == ["pack", "stow"]
    assert len(ProfileStore(store.folder / "other").load("confident").behaviours) == 1
