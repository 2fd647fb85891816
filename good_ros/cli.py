"""The ``good`` command."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from good_ros.core.errors import GoodError, InputError, one_line
from good_ros.launch_arguments import LOG_LEVELS, TABLES, WITHOUT_PROFILE

DEFAULT_WORLD = "household"
DEFAULT_PROFILE = "put_away_food"
DEFAULT_PROFILES = {"grocery": "chocolate_cake", "arm": "lunch_bag", "table": "lunch_bag"}
LAST_RECORD_S = 10.0
"""How long the end of a session is waited for on disk; what it waits for has been published."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 where it ran to its end, 1 where it could not."""
    try:
        options = _parser().parse_args(arguments)
        return int(options.command(options))
    except GoodError as error:
        print(f"good: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    # Here and not above: importing takes long, and only main() is quiet about a Ctrl-C.
    from good_ros.commands import (
        arm,
        bench_belief,
        bench_fleet,
        bench_monitor,
        bench_world,
        eval_arm,
        eval_belief,
        eval_dialog,
        eval_merging,
        eval_proactive,
        eval_speech,
        experiment,
        optimize,
        sessions,
        soak,
        tasks,
        teach,
        worlds,
    )

    parser = argparse.ArgumentParser(
        prog="good", description="Goal inference from open-ended dialog on ROS 2."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    up = commands.add_parser("up", help="run the stack in one process")
    _add_stack_options(up)
    up.add_argument("--profile", default="", help="add a simulated human with this profile")
    up.add_argument(
        "--without",
        nargs="+",
        default=[],
        metavar="NODE",
        help="leave out nodes that run as processes of their own",
    )
    up.add_argument(
        "--speech",
        nargs="*",
        choices=("in", "out", "adapters"),
        metavar="PART",
        help="hear a microphone (in), speak (out), hear other packages' speech (adapters); alone: "
        "in and out",
    )
    up.set_defaults(command=_up)

    demo = commands.add_parser(
        "demo", help="a whole session with a simulated human, shown as it goes"
    )
    _add_stack_options(demo)
    demo.add_argument(
        "--profile",
        default="",
        help="the simulated human (config/profiles); put_away_food, or chocolate_cake where the "
        "world is grocery",
    )
    demo.set_defaults(command=_demo)

    chat = commands.add_parser("chat", help="talk to the robot in this terminal")
    _add_stack_options(chat)
    chat.add_argument("--attach", action="store_true", help="join a stack that is running already")
    chat.set_defaults(command=_chat)

    sessions.add(commands)
    teach.add_to(commands)

    evaluate = commands.add_parser("eval", help="measure how well a part does")
    measures = evaluate.add_subparsers(required=True, metavar="WHAT")
    replay = measures.add_parser("replay", help="do recorded expert runs again in a world")
    replay.add_argument("--data", required=True, help="a JSON file of runs")
    worlds.add_world_options(replay, worlds.ROOMS)
    replay.add_argument("--limit", type=int, default=0, help="only the first so many runs")
    replay.add_argument("--json", action="store_true", help="one JSON object as the last line")
    replay.set_defaults(command=_eval_replay)
    eval_belief.add_to(measures)
    eval_proactive.add_to(measures)
    eval_arm.add_to(measures)
    eval_speech.add_to(measures)
    eval_dialog.add_to(measures)
    eval_merging.add_to(measures)
    tasks.add(measures)

    bench = commands.add_parser("bench", help="what a part costs, as ratios within one run")
    parts = bench.add_subparsers(required=True, metavar="WHAT")
    for part in (bench_belief, bench_fleet, bench_monitor, bench_world):
        part.add_to(parts)

    worlds.add_commands(commands)
    soak.add(commands)
    arm.add(commands)
    optimize.add(commands)
    experiment.add(commands)

    model = commands.add_parser("model", help="fetch and check language and speech models")
    actions = model.add_subparsers(required=True, metavar="ACTION")
    pull = actions.add_parser("pull", help="fetch a model into the cache, once")
    pull.add_argument("name", nargs="?", default="default")
    pull.set_defaults(command=_model_pull)
    actions.add_parser("list", help="the known models, and which are there").set_defaults(
        command=_model_list
    )
    check = actions.add_parser("check", help="read a model's file again and check its digest")
    check.add_argument("name", nargs="?", default="default")
    check.set_defaults(command=_model_check)
    return parser


def _add_stack_options(parser: argparse.ArgumentParser) -> None:
    from good_ros.commands.options import add_web

    parser.add_argument(
        "--model",
        default="default",
        help="default, small, a .gguf file, or the URL of an OpenAI-compatible server",
    )
    parser.add_argument(
        "--scoring-model",
        default="",
        help="the belief's own model, where it is not --model; default where that is a URL",
    )
    parser.add_argument(
        "--served-model",
        default="",
        metavar="NAME",
        help="the model's name on the server, where that serves several",
    )
    parser.add_argument("--world", default="", help="world to act on; the profile's, or household")
    parser.add_argument(
        "--scene", default="", help="scene of the world, such as FloorPlan1 or store"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of every random draw")
    parser.add_argument("--turns", type=int, default=20, help="turns after which a session ends")
    parser.add_argument("--namespace", default="", help="namespace of all nodes")
    parser.add_argument("--params-file", default="", help="a ROS 2 parameter file")
    parser.add_argument("--sessions", default="", help="folder that sessions are recorded in")
    add_web(parser, "the session")
    parser.add_argument(
        "--person", default="", help="whose taught goal and behaviours count (good teach)"
    )
    parser.add_argument("--people", default="", help="folder of people's profiles")
    parser.add_argument(
        "--proactive", action="store_true", help="offer helpful actions after each turn"
    )
    parser.add_argument(
        "--log-level",
        default="info",
        choices=LOG_LEVELS,
        help="lowest level that is logged: debug, info, warn, error or fatal",
    )


def _stack_options(
    options: argparse.Namespace, nodes: Sequence[str], quiet: bool = False, profile: str = ""
) -> Any:
    from good_ros.language.backends import is_url
    from good_ros.nodes.stack import StackOptions

    common: dict[str, Any] = {
        "model": options.model,
        "seed": options.seed,
        "max_turns": options.turns,
        "sessions_folder": os.path.abspath(options.sessions) if options.sessions else "",
    }
    if options.served_model:
        common["served_model"] = options.served_model
    if options.people:
        common["people_folder"] = os.path.abspath(options.people)
    person = options.person
    if options.proactive:
        common["proactive"] = True
    if options.web >= 0:
        common["web_port"] = options.web
    scoring_model = options.scoring_model
    if not scoring_model:
        scoring_model = "default" if is_url(options.model) else options.model
    scoring = {"model": scoring_model}
    if options.served_model and scoring_model != options.model:
        # It is the name on the other server.
        scoring["served_model"] = ""
    scene, world = options.scene, options.world
    if profile:
        from good_ros.experiments.profiles import load_profile

        loaded = load_profile(profile)
        world = loaded.check_world(world)
        common |= {
            "profile": profile,
            "task": loaded.task,
            "completion_phrase": loaded.completion_phrase,
        }
        scene = scene or loaded.scene
    elif world in WITHOUT_PROFILE:
        common["task"], first_scene = WITHOUT_PROFILE[world]
        scene = scene or first_scene
    elif world in TABLES:
        scene = scene or TABLES[world]
    if profile:
        person = person or loaded.person
    if person:
        common["person"] = person
        if nodes and not profile:
            nodes = (*nodes, "teacher")
    common["world"] = world or DEFAULT_WORLD
    if scene:
        common["scene"] = scene
    ros_arguments = ["--log-level", options.log_level]
    if options.params_file:
        ros_arguments += ["--params-file", check_parameter_file(options.params_file)]
    if quiet:
        ros_arguments.append("--disable-stdout-logs")
    return StackOptions(
        nodes=nodes,
        namespace=options.namespace,
        parameters={"*": common, "goal_belief": scoring},
        ros_arguments=ros_arguments,
        handle_signals=True,
    )


def check_parameter_file(path: str) -> str:
    """The path of a ROS 2 parameter file. Raises InputError where it is none; ROS's own words
    would not say what is wrong with it."""
    import yaml

    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the parameter file {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"the parameter file {path} is not YAML: {one_line(error)}") from error

    def holds(part: Any) -> bool:
        return isinstance(part, dict) and all(
            isinstance(value, dict) if key == "ros__parameters" else holds(value)
            for key, value in part.items()
        )

    if not holds(content):
        raise InputError(
            f"the parameter file {path} must have, for each node, '/**/NODE:' with "
            "'ros__parameters:' below it and the parameters below that, as config/good.yaml"
        )
    return path


def _up(options: argparse.Namespace) -> int:
    from good_ros.node_names import NODES
    from good_ros.nodes.stack import Stack

    unknown = sorted(set(options.without) - set(NODES))
    if unknown:
        raise GoodError(f"--without knows no {', '.join(unknown)}; there are {', '.join(NODES)}")
    nodes = [name for name in NODES if name not in options.without]
    if options.profile:
        nodes.append("simulated_human")
    if options.speech is not None:
        nodes += [f"speech_{part}" for part in options.speech or ("in", "out")]
    stack = Stack(_stack_options(options, nodes, profile=options.profile))
    try:
        stack.start(strict=False)
        stack.spin()
    finally:
        stack.close()
    return 0


def _demo(options: argparse.Namespace) -> int:
    from rich.console import Console

    from good_ros.node_names import NODES
    from good_ros.nodes.console import ConsoleNode
    from good_ros.nodes.stack import Stack

    console = Console()
    profile = options.profile or DEFAULT_PROFILES.get(options.world, DEFAULT_PROFILE)
    console.print(f"[dim]profile {profile}, model {options.model}; loading …[/]")
    stack = Stack(_stack_options(options, (*NODES, "simulated_human"), quiet=True, profile=profile))
    try:
        view = ConsoleNode(console, context=stack.context, namespace=options.namespace or None)
        stack.add(view)
        stack.start()
        human: Any = stack.nodes["simulated_human"]
        monitor: Any = stack.nodes["monitor"]
        _show_page(console, monitor)
        console.print(f"[dim]The person's wish:[/] {human.profile.profile.strip()}")
        if not stack.spin(view.has_ended):
            return 1
        stack.spin(lambda: monitor.has_recorded(view.turn), LAST_RECORD_S)
        fulfilled = human.is_content(view.done.steps)
        console.print(
            f"[bold]{view.turn} turns, {view.steps_done} steps done; the person's wish is "
            f"{'fulfilled' if fulfilled else 'not fulfilled'}.[/]"
        )
        console.print(f"session folder: {monitor.folder}", soft_wrap=True)
        if monitor.page:
            console.print("[dim]The page stays until Ctrl-C.[/]")
            stack.spin()
    finally:
        stack.close()
    return 0


def _chat(options: argparse.Namespace) -> int:
    from rich.console import Console

    from good_ros.node_names import NODES
    from good_ros.nodes.console import ConsoleNode
    from good_ros.nodes.stack import Stack

    console = Console()
    nodes = () if options.attach else NODES
    stack = Stack(_stack_options(options, nodes, quiet=True))
    try:
        view = ConsoleNode(console, context=stack.context, namespace=options.namespace or None)
        stack.add(view)
        stack.start()
        if "monitor" in stack.nodes:
            _show_page(console, stack.nodes["monitor"])
        console.print("[dim]Type your answers; an empty line or Ctrl-D leaves.[/]")
        left = threading.Event()

        def read_lines() -> None:
            for line in sys.stdin:
                if not line.strip():
                    break
                view.say(line.strip())
            left.set()

        threading.Thread(target=read_lines, daemon=True).start()
        stack.spin(lambda: left.is_set() or view.has_ended())
    finally:
        stack.close()
    return 0


def _show_page(console: Any, monitor: Any) -> None:
    """Where the page is, if there is one; the node's own line is not shown with the rest."""
    if monitor.page:
        console.print(f"the page: {monitor.page.server.entry_url}", soft_wrap=True)


def _eval_replay(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import track

    from good_ros.commands.worlds import open_world
    from good_ros.experiments.replay import load_runs, replay_runs

    runs = load_runs(Path(options.data))
    runs = runs[: options.limit] if options.limit else runs
    shown = track(runs, "replay", console=Console(stderr=True))
    with open_world(options) as world:
        report = replay_runs(shown, world=world)
    for failure in report.failures:
        print(f"{failure.id}, step {failure.step}: {failure.reason}", file=sys.stderr)
    print(f"{report.passed} of {report.runs} runs passed", file=sys.stderr)
    if options.json:
        print(json.dumps(report.as_json()))
    return 0


def _store(name: str) -> Any:
    """The model store that ``name`` is of."""
    from good_ros.language import models
    from good_ros.speech import models as speech_models

    return speech_models if name in speech_models.CATALOGUE else models


def _model_pull(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    models = _store(options.name)
    columns = ("model {task.description}", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(options.name, total=None, visible=False)
        path = models.pull(
            options.name,
            lambda done, total: progress.update(task, completed=done, total=total, visible=True),
        )
    print(path)
    return 0


def _model_list(options: argparse.Namespace) -> int:
    from good_ros.language import models
    from good_ros.speech import models as speech_models

    there = {entry.name for entry in models.installed()}
    there |= {entry.name for entry in speech_models.installed()}
    entries: list[Any] = [*models.CATALOGUE.values(), *speech_models.CATALOGUE.values()]
    for entry in entries:
        state = "there" if entry.name in there else f"not there: good model pull {entry.name}"
        print(f"{entry.name:12} {entry.title:40} {entry.size / 1e6:7.0f} MB  {state}")
    return 0


def _model_check(options: argparse.Namespace) -> int:
    print(_store(options.name).check(options.name))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
