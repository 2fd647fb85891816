"""Session records: written as it happens, readable after a crash."""

import json
import math

import pytest

from good_ros.core.errors import InputError
from good_ros.recording import SessionRecord, read


def test_what_is_written_is_there_at_once(tmp_path):
    record = SessionRecord(tmp_path / "s", {"session_id": "s"})
    record.write("beliefs", {"turn": 1, "text": "Grüße", "gain": math.nan, "rows": [math.inf, 2]})
    line = read(tmp_path / "s", "beliefs")[0]
    assert (line["turn"], line["text"]) == (1, "Grüße")
    assert line["gain"] is None
    assert line["rows"] == [None, 2]
    assert line["time"] > 0
    record.close()
    assert json.loads((tmp_path / "s" / "session.json").read_text()) == {"session_id": "s"}


def test_a_line_that_a_crash_cut_short_is_left_out(tmp_path):
    record = SessionRecord(tmp_path, {})
    record.write("actions", {"number": 1})
    record.close()
    with (tmp_path / "actions.jsonl").open("a") as file:
        file.write('{"number": 2, "st')
    assert [line["number"] for line in read(tmp_path, "actions")] == [1]


def test_a_damaged_line_within_is_named(tmp_path):
    SessionRecord(tmp_path, {}).close()
    (tmp_path / "goals.jsonl").write_text('{"a": 1}\n{broken\n{"a": 2}\n')
    with pytest.raises(InputError, match="line 2"):
        read(tmp_path, "goals")


def test_a_session_can_be_gone_on_with(tmp_path):
    for turn in (1, 2):
        record = SessionRecord(tmp_path, {})
        record.write("status", {"turn": turn})
        record.close()
    assert [line["turn"] for line in read(tmp_path, "status")] == [1, 2]


def test_what_is_no_session_is_named(tmp_path):
    with pytest.raises(InputError, match="not a session"):
        read(tmp_path / "nothing", "status")
    with pytest.raises(InputError, match="transcript"):
        read(tmp_path, "weather")
