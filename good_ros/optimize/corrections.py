"""What people said and did against the robot in recorded sessions, as feedback on its planner.

Taken from a session's folder (``good_ros.recording``): plans that a person refused, plans that were
stopped and undone, and utterances after a plan such as 'that is wrong'.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError
from good_ros.core.plan import ErrorCode
from good_ros.language.wording import plain
from good_ros.optimize.environments.base import Feedback, Kind
from good_ros.recording import read, turns

AGAINST = re.compile(
    r"\b(th(at|is) (is|was) wrong|that s wrong|not what i (wanted|asked|meant|said)"
    r"|that (is|was|s) not (right|what)|i did(n t| not) (ask|want|mean|say)"
    r"|wrong (one|thing|place)|put (it|that|them) back|undo"
    r"|take (it|that) back|no not that|you should not have)\b"
)
"""Words, without punctuation, by which a person corrects what was done."""


def read_corrections(folder: Path) -> list[Feedback]:
    """The corrections in a session's folder, or in all of the sessions in a folder, each once.

    Raises InputError where there is no session.
    """
    folder = folder.expanduser()
    if (folder / "session.json").exists():
        sessions = [folder]
    else:
        sessions = sorted(path.parent for path in folder.glob("*/session.json"))
    if not sessions:
        raise InputError(f"{folder} is not the folder of a session, and holds none")
    return list(dict.fromkeys(f for session in sessions for f in _of_session(session)))


def _of_session(folder: Path) -> Iterator[Feedback]:
    utterances = _utterances(folder)
    plans: dict[int, str] = {}
    told: set[tuple[int, int]] = set()
    for status in read(folder, "status"):
        turn, code = int(status["turn"]), int(status["error_code"])
        steps = "; ".join(step["label"] for step in status["plan"])
        if steps:
            plans[turn] = steps
        if not code or (turn, code) in told:
            continue
        asked = utterances.get(turn, "")
        reason = str(status["error_msg"])
        steps = plans.get(turn, "")
        if code in (ErrorCode.NOT_APPROVED, ErrorCode.PLAN_REFUSED) and steps:
            told.add((turn, code))
            yield _feedback(f"the plan '{steps}' was refused ({reason}).", asked)
        elif any(str(r["error_msg"]).startswith("undone") for r in _done_in(status, turn)):
            told.add((turn, code))
            undone = "; ".join(r["step"]["label"] for r in _done_in(status, turn))
            yield _feedback(f"'{undone}' was begun and had to be undone ({reason}).", asked)
    for turn, said in sorted(utterances.items()):
        before = max((t for t in plans if t < turn), default=None)
        if before is not None and AGAINST.search(plain(said)):
            text = f"after the plan '{plans[before]}' the person said: {said}"
            yield _feedback(text, utterances.get(before, ""))


def _utterances(folder: Path) -> dict[int, str]:
    """What the person said, by turn."""
    return {int(t["turn"]): str(t["utterance"]) for t in turns(folder)}


def _done_in(status: Mapping[str, Any], turn: int) -> list[Mapping[str, Any]]:
    return [r for r in status["history"] if r["turn"] == turn]


def _feedback(what: str, asked: str) -> Feedback:
    begin = f"When the person had said '{asked}', " if asked else ""
    text = f"{begin}{what}"
    return Feedback(Kind.CORRECTION, text[0].upper() + text[1:])
