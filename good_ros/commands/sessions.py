"""``good watch``, ``record``, ``replay`` and ``report``: looking at sessions, live and recorded."""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path
from typing import Any

from good_ros.commands.options import add_web
from good_ros.core.errors import GoodError, InputError

LOOK_S = 0.25
WRITTEN_S = 1.0


def add(commands: Any) -> None:
    """Add the subcommands to ``good``'s."""
    watch = commands.add_parser("watch", help="show a running session in this terminal")
    watch.add_argument(
        "--namespace", default=None, help="of the stack, where more than one is running"
    )
    watch.add_argument("--once", action="store_true", help="print what is so now, and end")
    watch.add_argument(
        "--wait", type=float, default=0.0, metavar="S", help="give up after so many seconds"
    )
    watch.set_defaults(command=_watch)

    record = commands.add_parser("record", help="write a running session as an MCAP bag")
    record.add_argument("folder", nargs="?", default="", help="the bag's folder, made anew")
    record.add_argument("--namespace", default="", help="namespace of the stack")
    record.add_argument(
        "--from",
        dest="session",
        default="",
        metavar="SESSION",
        help="convert this recorded session instead",
    )
    record.set_defaults(command=_record)

    replay = commands.add_parser("replay", help="publish a recorded session again")
    replay.add_argument("session", help="the session's folder")
    replay.add_argument(
        "--rate", type=float, default=1.0, help="2 is twice as fast, 0 as fast as can be"
    )
    replay.add_argument(
        "--longest-pause", type=float, default=0.0, metavar="S", help="cut longer pauses to this"
    )
    replay.add_argument("--namespace", default="", help="namespace to publish in")
    add_web(replay, "it")
    replay.add_argument("--stay", action="store_true", help="stay after the last message")
    replay.set_defaults(command=_replay)

    report = commands.add_parser("report", help="one HTML page of a recorded session")
    report.add_argument("session", help="the session's folder")
    report.add_argument(
        "--output", default="", help="the file; report.html in the session's folder"
    )
    report.set_defaults(command=_report)


def _watch(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.live import Live

    from good_ros.monitor.terminal import session_panel
    from good_ros.nodes.stack import Stack, StackOptions
    from good_ros.nodes.watch import WatchNode

    console = Console()
    stack = Stack(StackOptions(nodes=(), namespace=options.namespace or "", handle_signals=True))
    end = time.monotonic() + options.wait if options.wait > 0 else None
    try:
        namespace = _find_namespace(stack, options.namespace, end)
        if namespace is None:
            return 1
        node = WatchNode(namespace, context=stack.context)
        stack.add(node)
        left = None if end is None else max(0.0, end - time.monotonic())
        if options.once:
            if not stack.spin(lambda: node.view.sections["belief"] is not None, left):
                raise GoodError("no belief came: is goal_belief active, and was anything said?")
            # The other latched topics are on their way too.
            stack.spin(lambda: False, LOOK_S)
            console.print(session_panel(node.view.sections))
            return 0
        with Live(console=console, auto_refresh=False, screen=console.is_terminal) as live:
            while stack.context.ok():
                seen = node.changes
                live.update(session_panel(node.view.sections), refresh=True)
                if not stack.spin(lambda seen=seen: node.changes != seen, left):  # type: ignore[misc]
                    break
    finally:
        stack.close()
    return 0


def _find_namespace(stack: Any, wanted: str | None, end: float | None) -> str | None:
    """The namespace to watch; None where a signal came first."""
    from rclpy.node import Node

    from good_ros.nodes.watch import belief_namespaces

    if wanted is not None:
        return wanted
    finder = Node("watch_finder", context=stack.context)
    stack.add(finder)
    found: list[str] = []

    def look() -> bool:
        found[:] = belief_namespaces(finder)
        return bool(found)

    left = None if end is None else end - time.monotonic()
    if not stack.spin(look, left):
        if stack.context.ok():
            raise GoodError("no belief is published anywhere: start a stack, such as good up")
        return None
    # Others may be about to be found.
    stack.spin(lambda: False, LOOK_S)
    look()
    if len(found) > 1:
        names = ", ".join(name or "/" for name in found)
        raise InputError(f"beliefs are published in {names}: name one with --namespace")
    return found[0]


def _record(options: argparse.Namespace) -> int:
    from good_ros.nodes.bag import BagWriter, RecordNode, convert_session
    from good_ros.nodes.stack import Stack, StackOptions

    folder = Path(options.folder or f"good_{time.strftime('%Y%m%d-%H%M%S')}")
    if options.session:
        session = Path(options.session)
        if not (session / "session.json").is_file():
            raise InputError(f"{session} is not a session's folder")
        bag = BagWriter(folder)
        try:
            convert_session(session, bag, options.namespace)
        finally:
            bag.close()
    else:
        stack = Stack(StackOptions(nodes=(), namespace=options.namespace, handle_signals=True))
        try:
            bag = BagWriter(folder)
        except GoodError:
            stack.close()
            raise
        try:
            stack.add(RecordNode(bag, context=stack.context, namespace=options.namespace or None))
            with contextlib.suppress(KeyboardInterrupt):
                print(f"recording in {folder}; end with Ctrl-C", flush=True)
                stack.spin()
        finally:
            stack.close()
            bag.close()
    print(f"{sum(bag.counts.values())} messages in {folder}")
    return 0


def _replay(options: argparse.Namespace) -> int:
    from good_ros.nodes.replay import ReplayNode
    from good_ros.nodes.stack import Stack, StackOptions

    if options.rate < 0 or options.longest_pause < 0:
        raise InputError("--rate and --longest-pause must not be negative")
    parameters = {"record": False, "web_port": options.web}
    stack = Stack(
        StackOptions(
            nodes=("monitor",),
            namespace=options.namespace,
            parameters={"monitor": parameters},
            handle_signals=True,
        )
    )
    try:
        stack.start()
        node = ReplayNode(
            Path(options.session),
            options.rate,
            options.longest_pause,
            context=stack.context,
            namespace=options.namespace or None,
        )
        stack.add(node)
        stack.spin(node.is_over)
        print(f"{node.published} messages published", flush=True)
        if options.stay:
            stack.spin()
        else:
            # Listeners of this process' last messages may still be fetching them.
            stack.spin(lambda: False, WRITTEN_S)
    finally:
        stack.close()
    return 0


def _report(options: argparse.Namespace) -> int:
    from good_ros.monitor.report import report

    session = Path(options.session)
    output = Path(options.output) if options.output else session / "report.html"
    page = report(session)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output} cannot be written ({error}): name another --output") from error
    print(output)
    return 0
