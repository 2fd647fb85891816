"""Where the scenes come from, and what becomes of them in the cache."""

import gzip
import importlib.metadata
import json

import pytest

from good_ros.core.errors import WorldError
from good_ros.worlds.household import scenes
from good_ros.worlds.household.world import HouseholdWorld


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def cache(folder, monkeypatch):
    """A cache of these tests' own, in which every scene is; the path of FloorPlan1's file."""
    monkeypatch.setenv("GOOD_ROS_CACHE", str(folder))
    scenes.load_objects.cache_clear()
    scenes.load_objects("FloorPlan1")
    scenes.load_objects.cache_clear()
    yield scenes._cached_path("FloorPlan1")
    scenes.load_objects.cache_clear()


def refuse_to_read():
    raise AssertionError("the package was read again")


def test_a_second_start_does_not_read_the_package(cache, monkeypatch):
    monkeypatch.setattr(scenes, "_read_package", refuse_to_read)
    assert len(scenes.load_objects("FloorPlan1")) == 77
    assert len(scenes.load_objects("FloorPlan430")) > 0
    assert not list(cache.parent.glob("tmp*"))


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw[:200] + bytes(50) + raw[250:],
        lambda raw: b"not gzip at all",
        lambda raw: gzip.compress(b"{}"),
        lambda raw: gzip.compress(b"[1]"),
        lambda raw: gzip.compress(b"[]"),
        lambda raw: gzip.compress(b"\xff\xfe"),
    ],
    ids=["empty", "cut", "flipped", "text", "mapping", "numbers", "no objects", "not UTF-8"],
)
def test_a_damaged_file_is_made_anew(cache, damage):
    cache.write_bytes(damage(cache.read_bytes()))
    assert len(scenes.load_objects("FloorPlan1")) == 77
    with gzip.open(cache, "rt") as file:
        assert len(json.load(file)) == 77


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("GOOD_ROS_CACHE", str(blocker))
    scenes.load_objects.cache_clear()
    assert len(scenes.load_objects("FloorPlan1")) == 77
    scenes.load_objects.cache_clear()


def test_a_write_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError("no space left")

    monkeypatch.setattr(scenes.json, "dump", full)
    with pytest.raises(OSError, match="no space"):
        scenes._write_cached(tmp_path / "FloorPlan1.json.gz", [])
    assert not list(tmp_path.iterdir())


def test_without_the_package_the_command_to_install_it_is_named(monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(scenes.importlib.metadata, "version", missing)
    scenes.load_objects.cache_clear()
    with pytest.raises(WorldError, match="pip install --no-deps procthor=="):
        HouseholdWorld().reset("FloorPlan1")
    scenes.load_objects.cache_clear()
