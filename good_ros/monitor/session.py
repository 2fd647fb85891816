"""A session as it is shown: built up from its messages, in sections that a page can draw.

The messages come as the dictionaries that a session's record holds, so that a running session
and a recorded one are shown by the same code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from good_ros.core.goals import UNSPECIFIED_ID, GoalOrigin, RemovalReason
from good_ros.core.plan import ErrorCode, TaskState
from good_ros.turns.window import STATUS_TURNS

Fields = Mapping[str, Any]
Sections = dict[str, Any]
LOG_LINES = 50

ORIGINS = {
    GoalOrigin.UNSPECIFIED: "always there",
    GoalOrigin.CONFIG: "from the configuration",
    GoalOrigin.PROPOSED: "proposed by the model",
    GoalOrigin.PERSON: "added by a person",
}
REASONS = {
    RemovalReason.MODEL: "ruled out by the model",
    RemovalReason.LEAST_LIKELY: "least likely for too long",
    RemovalReason.UNSAFE: "unsafe",
    RemovalReason.PERSON: "removed by a person",
    RemovalReason.OVER_CAP: "too many goals",
}
OFFERED = 0
SUGGESTION_STATES = {OFFERED: "offered", 1: "accepted", 2: "refused", 3: "ignored"}
"""By the values of ``Suggestion.msg``."""


class SessionView:
    """The sections of the session that is shown.

    ``hear`` takes one message and returns the sections that it changed, whole, by name;
    ``sections`` holds all of them:

    ``session``  id, namespace, ended, end_reason, and the topic's last turn
    ``question``  text, turn, expects_reply
    ``turns``  the transcript's turns, each with its question, utterance and actions
    ``goals``  version, and the goals with their origin in words
    ``edits``  every change of the goals: turn, version, added, removed with the reason in words
    ``belief``  the last belief, settled or not
    ``history``  one entry a turn, of its settled belief: turn, entropy (nats), seconds, tokens
      scored and reused, shares (goal id to probability)
    ``texts``  goal id to text, for every goal that was ever there
    ``status``  the executor's state in words, its plan with what became of each step
    ``suggestions``  what the robot offered: id, turn, text, goal, probability, state in words,
      and whether it waits for an answer
    ``timing``  by turn: seconds of the belief (both passes), seconds from answer to report
    ``nodes``  by name, how each node is
    ``log``  the last warnings and errors
    ``room``  counts up where the room may look another way
    """

    def __init__(self, namespace: str = "") -> None:
        self.namespace = namespace
        self.sections: Sections = {"nodes": {}, "log": []}
        self._begin("")

    @property
    def session_id(self) -> str:
        return str(self.sections["session"]["id"])

    def _begin(self, session_id: str) -> None:
        self._beliefs_heard: set[tuple[int, int, bool]] = set()
        self._done: Counter[int] = Counter()
        self.sections |= {
            "session": {
                "id": session_id,
                "namespace": self.namespace,
                "ended": False,
                "end_reason": "",
                "turn": 0,
            },
            "question": None,
            "turns": [],
            "goals": {"version": 0, "goals": []},
            "edits": [],
            "belief": None,
            "history": [],
            "texts": {UNSPECIFIED_ID: "Unspecified"},
            "status": None,
            "suggestions": [],
            "timing": {},
            "room": self.sections.get("room", 0) + 1,
        }

    def begin(self, session_id: str) -> Sections:
        """Show another session; what was shown goes."""
        self._begin(session_id)
        return self.sections

    def load(self, records: Iterable[tuple[str, Fields]]) -> None:
        """Take in what was recorded of the session, as (kind, line)."""
        for kind, fields in records:
            self.hear(kind, fields)

    def hear(self, kind: str, fields: Fields) -> Sections:
        """One message of the session by the record's name of its kind (``good_ros.recording``)."""
        handler = self._handlers.get(kind)
        if handler is None:
            return {}
        changed = handler(self, fields)
        return {name: self.sections[name] for name in changed}

    def _transcript(self, fields: Fields) -> tuple[str, ...]:
        self.sections["session"] |= {
            "ended": fields["ended"],
            "end_reason": fields["end_reason"],
            "turn": fields["turn"],
        }
        self._take_turns(fields["turns"], is_last=True)
        return "session", "turns"

    def _past(self, fields: Fields) -> tuple[str, ...]:
        self._take_turns(fields["turns"], is_last=False)
        return ("turns",)

    def _take_turns(self, shown: Sequence[Fields], is_last: bool) -> None:
        """The turns of a message in their places among those of earlier ones."""
        numbers = [turn["turn"] for turn in shown] or [1]
        known = self.sections["turns"]
        after = [] if is_last else [t for t in known if t["turn"] > numbers[-1]]
        before = [t for t in known if t["turn"] < numbers[0]]
        self.sections["turns"] = [*before, *shown, *after]

    def _question(self, fields: Fields) -> tuple[str, ...]:
        self.sections["question"] = {
            name: fields[name] for name in ("turn", "text", "expects_reply")
        } | {"gain": fields["expected_information_gain"]}
        return ("question",)

    def _goals(self, fields: Fields) -> tuple[str, ...]:
        if fields["version"] <= self.sections["goals"]["version"]:
            return ()
        texts = self.sections["texts"]
        texts |= {goal["id"]: goal["text"] for goal in fields["goals"]}
        self.sections["goals"] = {
            "version": fields["version"],
            "goals": [_goal(goal) for goal in fields["goals"]],
        }
        if fields["added"] or fields["removed"]:
            self.sections["edits"] = [
                *self.sections["edits"],
                {
                    "turn": fields["turn"],
                    "version": fields["version"],
                    "added": [_goal(goal) for goal in fields["added"]],
                    "removed": [
                        {
                            "text": removal["goal"]["text"],
                            "reason": _in_words(REASONS, RemovalReason, removal["reason"]),
                            "detail": removal["detail"],
                        }
                        for removal in fields["removed"]
                    ],
                },
            ]
        return "goals", "edits", "texts"

    def _belief(self, fields: Fields) -> tuple[str, ...]:
        self.sections["belief"] = {
            name: fields[name]
            for name in (
                "turn",
                "goals_version",
                "settled",
                "entropy",
                "model",
                "seconds",
                "tokens_scored",
                "tokens_reused",
            )
        } | {
            "hypotheses": [
                {
                    "id": h["goal"]["id"],
                    "text": h["goal"]["text"],
                    "probability": h["probability"],
                    "log_likelihood": h["log_likelihood"],
                }
                for h in fields["hypotheses"]
            ]
        }
        self.sections["texts"] |= {h["goal"]["id"]: h["goal"]["text"] for h in fields["hypotheses"]}
        # One that a monitor which was started again hears once more counts once.
        key = (fields["turn"], fields["goals_version"], fields["settled"])
        if key not in self._beliefs_heard:
            self._beliefs_heard.add(key)
            timing = self._timing_of(fields["turn"])
            timing["belief_s"] = timing.get("belief_s", 0.0) + (fields["seconds"] or 0.0)
        if fields["settled"]:
            entry = {
                name: fields[name]
                for name in ("turn", "entropy", "seconds", "tokens_scored", "tokens_reused")
            } | {"shares": {h["goal"]["id"]: h["probability"] for h in fields["hypotheses"]}}
            earlier = [e for e in self.sections["history"] if e["turn"] != fields["turn"]]
            self.sections["history"] = sorted([*earlier, entry], key=lambda e: int(e["turn"]))
        return "belief", "history", "texts", "timing"

    def _status(self, fields: Fields) -> tuple[str, ...]:
        state = TaskState(fields["state"])
        done = [r for r in fields["history"] if r["turn"] == fields["turn"]]
        self.sections["status"] = {
            "turn": fields["turn"],
            "state": state.name,
            "waits": state is TaskState.WAITING_APPROVAL,
            "error": ErrorCode(fields["error_code"]).name if fields["error_code"] else "",
            "error_msg": fields["error_msg"],
            "plan": [step["label"] for step in fields["plan"]],
            "done": [
                {
                    "label": r["step"]["label"],
                    "success": r["success"],
                    "effect": r["effect"],
                    "error_msg": r["error_msg"],
                }
                for r in done
            ],
            "steps_done": self._steps_done(fields),
            "scene": fields["scene"],
        }
        changed = ["status", "room"]
        self.sections["room"] += 1
        answered = next(
            (t["answered"] for t in self.sections["turns"] if t["turn"] == fields["turn"]), 0.0
        )
        stamp = fields["header"]["stamp"]
        if state.ends_turn and fields["turn"] and answered and stamp >= answered:
            self._timing_of(fields["turn"]).setdefault("turn_s", stamp - answered)
            changed.append("timing")
        return tuple(changed)

    def _steps_done(self, fields: Fields) -> int:
        """Steps of the session that worked; a status carries those of its last turns."""
        history = fields["history"]
        first = min([fields["turn"] - STATUS_TURNS + 1, *(r["turn"] for r in history)])
        for turn in [turn for turn in self._done if turn >= first]:
            del self._done[turn]
        for result in history:
            self._done[result["turn"]] += result["success"]
        return self._done.total()

    def _suggestion(self, fields: Fields) -> tuple[str, ...]:
        shown = {
            "id": fields["suggestion_id"],
            "turn": fields["turn"],
            "text": fields["text"],
            "goal": fields["goal"],
            "probability": fields["probability"],
            "state": SUGGESTION_STATES.get(fields["state"], f"code {fields['state']}"),
            "waits": fields["state"] == OFFERED,
        }
        others = [s for s in self.sections["suggestions"] if s["id"] != shown["id"]]
        self.sections["suggestions"] = sorted([*others, shown], key=lambda s: int(s["id"]))
        return ("suggestions",)

    def _timing_of(self, turn: int) -> dict[str, float]:
        # Keys are text, as JSON has no others.
        result: dict[str, float] = self.sections["timing"].setdefault(str(turn), {})
        return result

    def node_is(self, name: str, level: str, message: str, facts: Mapping[str, str]) -> Sections:
        """A node's diagnostics; nothing where they are as before."""
        now = {"level": level, "message": message, "facts": dict(facts)}
        if self.sections["nodes"].get(name) == now:
            return {}
        self.sections["nodes"][name] = now
        return {"nodes": self.sections["nodes"]}

    def logged(self, level: str, node: str, message: str, stamp: float) -> Sections:
        """A warning or an error of a node; ``stamp`` in seconds since the epoch."""
        line = {
            "time": stamp,
            "level": level,
            "node": node,
            "message": message,
        }
        self.sections["log"] = [*self.sections["log"], line][-LOG_LINES:]
        return {"log": self.sections["log"]}

    _handlers: Mapping[str, Callable[[SessionView, Fields], tuple[str, ...]]] = {
        "transcript_past": _past,
        "transcript": _transcript,
        "questions": _question,
        "goals": _goals,
        "beliefs": _belief,
        "status": _status,
        "suggestions": _suggestion,
    }


def _goal(goal: Fields) -> dict[str, Any]:
    return {
        "id": goal["id"],
        "text": goal["text"],
        "origin": _in_words(ORIGINS, GoalOrigin, goal["origin"]),
        "created_turn": goal["created_turn"],
        "pinned": goal["pinned"],
        "fixed": goal["id"] == UNSPECIFIED_ID,
    }


def _in_words(words: Mapping[Any, str], kind: Any, value: int) -> str:
    """The words for a code; the code itself where a newer peer sends one that is not known."""
    try:
        return words[kind(value)]
    except (ValueError, KeyError):
        return f"code {value}"
