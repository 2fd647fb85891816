"""The table, and people who teach at it."""

import pytest

from good_ros.teaching.profile import ProfileStore
from good_ros.teaching.room import Room
from good_ros.teaching.teacher import Teacher
from good_ros.worlds.table import TableWorld


@pytest.fixture
def table():
    world = TableWorld()
    world.reset("lunch_bag")
    return world


@pytest.fixture
def room(table):
    return Room(table.observe())


@pytest.fixture
def store(tmp_path):
    return ProfileStore(tmp_path / "people")


@pytest.fixture
def teach(store, table):
    """Has a person say sentences, all of which must be understood; gives the profile."""

    def say(person, *sentences):
        for sentence in sentences:
            answer = Teacher(store, table).hear(person, sentence)
            assert answer.success, answer.reply
        return store.load(person)

    return say
