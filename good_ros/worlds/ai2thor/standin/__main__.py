"""``python -m good_ros.worlds.ai2thor.standin``: what the client starts in Unity's place."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys

from good_ros.worlds.ai2thor.standin import trouble as kinds
from good_ros.worlds.ai2thor.standin.engine import Engine, Said
from good_ros.worlds.ai2thor.standin.protocol import Line, connect
from good_ros.worlds.ai2thor.standin.trouble import KINDS, Trouble, crash
from good_ros.worlds.household.faults import NO_FAULTS, Faults


def main() -> int:
    # The client adds the Unity player's own arguments.
    options, _ = _parser().parse_known_args()
    if "AI2THOR_SERVER_TYPE" not in os.environ:
        print("the stand-in is started by AI2-THOR's client, not by hand", file=sys.stderr)
        return 2
    trouble = Trouble(options.trouble, options.at, options.number, options.delay, options.once)
    engine = Engine(Faults.from_json(options.faults) if options.faults else NO_FAULTS)
    if trouble.at_start(kinds.DEAD):
        return 1
    if trouble.at_start(kinds.MUTE):
        trouble.wait()
    line = connect()
    line.say_hello(_envelope(engine, "", Said(), 0))
    if trouble.at_start(kinds.DEAD_AFTER_HELLO):
        return 1
    # A broken pipe means that the client is gone.
    with contextlib.suppress(BrokenPipeError):
        serve(engine, line, trouble)
    return 0


def serve(engine: Engine, line: Line, trouble: Trouble) -> None:
    """Answer actions until the client ends."""
    while (action := line.hear()) is not None:
        name, number = str(action.get("action")), int(action.get("sequenceId", 0))
        kind = trouble.kind if trouble.is_due(action) else ""
        if kind == kinds.CRASH:
            crash()
        if kind in (kinds.HANG, kinds.LATE):
            trouble.wait()
        said = Said() if kind == kinds.LIE else engine.act(action)
        if kind == kinds.WRONG_NUMBER:
            number += 1
        envelope = _envelope(engine, name, said, number)
        if kind == kinds.CUT:
            line.cut(envelope)
            crash()
        if kind == kinds.GARBAGE:
            line.say_bytes(b"\x01\x00\x00\x00\x04none\xff\x00\x00\x00\x00")
        else:
            line.say(envelope)


def _envelope(engine: Engine, action: str, said: Said, number: int) -> dict[str, object]:
    return {
        "agents": [engine.metadata(action, said)],
        "thirdPartyCameras": [],
        "activeAgentId": 0,
        "sequenceId": number,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="stand-in", allow_abbrev=False)
    parser.add_argument("--trouble", default="", choices=["", *KINDS])
    parser.add_argument("--at", default="", help="the action with which the trouble comes")
    parser.add_argument("--number", type=int, default=1, help="the how manieth of these actions")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds of a late answer")
    parser.add_argument("--once", default="", help="a file; while it is there, no trouble comes")
    parser.add_argument("--faults", default="", help="faults to put in, as JSON")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
