"""Files are written whole or not at all."""

import pytest

from good_ros.core.files import write_whole


def test_what_was_there_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a.json"
    write_whole(path, "first")
    write_whole(path, "é second")
    assert path.read_text(encoding="utf-8") == "é second"
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.json"
    write_whole(path, "first")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half of it \udcff")
    assert path.read_text() == "first"
    with pytest.raises(OSError, match="none"):
        write_whole(tmp_path / "none" / "a.json", "text")
