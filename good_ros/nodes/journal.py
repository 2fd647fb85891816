"""What dialog alone knows of its session, on disk, so that it goes on after it was killed.

A file of JSON lines, one for each change, handed to the operating system at once. It is there
only while a session is under way: a dialog that ends in good order takes it away.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from std_msgs.msg import Header

from good_ros import msg
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.files import write_whole
from good_ros.nodes.convert import (
    dict_to_message,
    message_to_dict,
    transcript_from_msg,
    transcript_to_msg,
)
from good_ros.turns.dialog import DialogFlow


class Journal:
    """The journal of the session that runs, in the file ``path``.

    ``keep`` and ``begin`` raise OSError where the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last: dict[str, Any] = {}
        self._turn: Turn | None = None
        self._ids = 0
        self._asked = 0

    def begin(self, flow: DialogFlow) -> None:
        """A session begins, or goes on; what was kept of another is gone."""
        self._last, self._turn = {}, None
        self._ids = self._asked = 0
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lines: list[dict[str, Any]] = [{"session_id": flow.transcript.session_id}]
        lines += [{"turn": _turn_to_dict(turn)} for turn in flow.transcript.turns]
        write_whole(self.path, "".join(json.dumps(line) + "\n" for line in lines))
        self._turn = flow.transcript.turns[-1] if flow.transcript.turns else None
        self.keep(flow)

    def keep(self, flow: DialogFlow) -> None:
        """Write what has changed since the last call; its cost does not grow with the session."""
        line: dict[str, Any] = {}
        turns = flow.transcript.turns
        if turns and turns[-1] is not self._turn:
            line["turn"] = _turn_to_dict(turns[-1])
        standing = flow.standing()
        changed = {name: value for name, value in standing.items() if value != self._last.get(name)}
        if changed:
            line["standing"] = changed
        if heard := flow.heard_ids[self._ids :]:
            line["heard"] = heard
        if asked := flow.all_asked[self._asked :]:
            line["asked"] = asked
        if line:
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")
        self._turn = turns[-1] if turns else None
        self._last = standing
        self._ids, self._asked = len(flow.heard_ids), len(flow.all_asked)

    def remove(self) -> None:
        """The session is over, or cannot go on."""
        self.path.unlink(missing_ok=True)


def load(path: Path, max_turns: int) -> DialogFlow | None:
    """The session of a journal as it stood; None where there is none that was under way.

    A last line that was cut short is left out, as is a file that is no journal.
    """
    try:
        lines = path.read_text().split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    session_id = ""
    turns: dict[int, Turn] = {}
    standing: dict[str, Any] = {}
    heard: list[str] = []
    asked: list[str] = []
    try:
        for text in lines[:-1]:
            line = json.loads(text)
            session_id = line.get("session_id", session_id)
            if "turn" in line:
                turn = _turn_from_dict(line["turn"])
                turns[turn.turn] = turn
            standing |= line.get("standing", {})
            heard += line.get("heard", [])
            asked += line.get("asked", [])
        whole = tuple(turns[number] for number in range(1, len(turns) + 1))
        if not session_id or not standing or standing["ended"]:
            return None
        return DialogFlow.resumed(Transcript(session_id, whole), max_turns, standing, heard, asked)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _turn_to_dict(turn: Turn) -> dict[str, Any]:
    message = transcript_to_msg(Transcript("", (turn,)), Header())
    return message_to_dict(message.turns[0])


def _turn_from_dict(fields: dict[str, Any]) -> Turn:
    message = msg.Transcript(turns=[dict_to_message(msg.TranscriptTurn, fields)])
    return transcript_from_msg(message).turns[0]
