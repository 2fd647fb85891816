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


def test_a_session_that_a_crash_cut_short_can_be_gone_on_with(tmp_path):
    record = SessionRecord(tmp_path, {})
    record.write("actions", {"number": 1})
    record.close()
    whole = '{"number": 2, "effect": "ü'.encode()
    with (tmp_path / "actions.jsonl").open("ab") as file:
        file.write(whole[:-1])  # In the middle of a character.
    assert [line["number"] for line in read(tmp_path, "actions")] == [1]
    record = SessionRecord(tmp_path, {})
    record.write("actions", {"number": 3})
    record.close()
    assert [line["number"] for line in read(tmp_path, "actions")] == [1, 3]


def test_what_a_session_began_with_stays_where_it_is_gone_on_with(tmp_path):
    for began in (100.0, 200.0):
        SessionRecord(tmp_path, {"session_id": "s", "began": began}).close()
    about = json.loads((tmp_path / "session.json").read_text())
    assert about == {"session_id": "s", "began": 100.0}


@pytest.mark.parametrize("content", ["", '{"session_id"', "[]"])
def test_a_session_file_that_was_cut_short_is_written_anew(tmp_path, content):
    (tmp_path / "session.json").write_text(content)
    SessionRecord(tmp_path, {"session_id": "s"}).close()
    assert json.loads((tmp_path / "session.json").read_text()) == {"session_id": "s"}


def test_bytes_that_are_no_text_are_named(tmp_path):
    SessionRecord(tmp_path, {}).close()
    (tmp_path / "goals.jsonl").write_bytes(b'{"a": 1}\n\xff\xfe\n{"a": 2}\n')
    with pytest.raises(InputError, match="line 2"):
        read(tmp_path, "goals")


def test_a_record_on_a_full_disk_can_be_closed(tmp_path):
    (tmp_path / "transcript_past.jsonl").symlink_to("/dev/full")
    record = SessionRecord(tmp_path, {})
    with pytest.raises(OSError, match="No space left"):
        record.write("transcript_past", {"turn": 1})
    record.write("goals", {"turn": 1})
    record.close()
    assert read(tmp_path, "goals")[0]["turn"] == 1
