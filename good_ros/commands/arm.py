"""``good arm``: pictures and films of the arm, its stop, and its stand-in."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path
from typing import Any

from good_ros.core.errors import GoodError, InputError
from good_ros.worlds.arm.options import arm_packages

DISCOVERY_S = 5.0


def add(commands: Any) -> None:
    """Add the subcommands to ``good``'s."""
    arm = commands.add_parser("arm", help="pictures and films of the arm; stop it")
    actions = arm.add_subparsers(required=True, metavar="ACTION")
    show = actions.add_parser("show", help="a picture of the table")
    show.add_argument("--scene", default="lunch_bag")
    show.add_argument("--seed", type=int, default=0, help="seed of the scene's start")
    show.add_argument("--session", default="", help="a session's folder: after what was done in it")
    show.add_argument("--out", required=True, help="the picture's file, .png")
    show.set_defaults(command=_show)
    film = actions.add_parser("film", help="a film (GIF) of a profile's wish, or of a session")
    film.add_argument("--profile", default="lunch_bag", help="whose wish is fulfilled")
    film.add_argument("--seed", type=int, default=0, help="seed of the scene's start")
    film.add_argument("--session", default="", help="a session's folder: do its steps again")
    film.add_argument("--out", required=True, help="the film's file, .gif")
    film.set_defaults(command=_film)
    stop = actions.add_parser("stop", help="halt the arm of a running stack")
    stop.add_argument("--release", action="store_true", help="let it move again instead")
    stop.add_argument("--namespace", default="", help="namespace of the stack")
    stop.set_defaults(command=_stop)
    stand_in = actions.add_parser(
        "stand-in", help="a stand-in for a real arm's controllers, in front of physics"
    )
    stand_in.add_argument("--arm-file", default="", help="the arm's YAML file")
    stand_in.add_argument("--scene", default="lunch_bag")
    stand_in.add_argument("--rate", type=float, default=1.0, help="times as fast as the clock")
    stand_in.set_defaults(command=_stand_in)


def _show(options: argparse.Namespace) -> int:
    from good_ros.recording import steps_done
    from good_ros.worlds.arm.picture import as_png
    from good_ros.worlds.arm.world import ArmWorld

    out = Path(options.out)
    if out.suffix != ".png":
        raise InputError(f"a picture is a .png, not {out.name!r}")
    world = ArmWorld()
    world.reset(options.scene, options.seed)
    for step in steps_done(Path(options.session)) if options.session else ():
        world.act(step)
    try:
        out.write_bytes(as_png(world))
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}") from error
    print(out)
    return 0


def _film(options: argparse.Namespace) -> int:
    from good_ros.experiments.profiles import load_profile
    from good_ros.recording import steps_done
    from good_ros.worlds.arm.picture import film
    from good_ros.worlds.arm.wishes import steps_for
    from good_ros.worlds.arm.world import ArmWorld

    profile = load_profile(options.profile)
    world = ArmWorld()
    world.reset(profile.scene, options.seed)
    if options.session:
        steps = steps_done(Path(options.session))
    else:
        steps = steps_for(profile.conditions, world)
    if not steps:
        raise InputError("there is nothing to film: no step was done, or is wanted")
    frames = film(
        world,
        steps,
        Path(options.out),
        on_step=lambda step, words: print(f"{step.label}: {words}", file=sys.stderr),
    )
    print(f"{options.out}: {frames} pictures")
    return 0


def _stop(options: argparse.Namespace) -> int:
    import rclpy
    from rclpy.context import Context
    from std_msgs.msg import Bool

    from good_ros.nodes.qos import COMMAND
    from good_ros.nodes.stack import check_namespace
    from good_ros.nodes.topics import STOP_TOPIC

    check_namespace(options.namespace)
    context = Context()
    rclpy.init(context=context)
    try:
        node = rclpy.create_node("arm_stop", context=context, namespace=options.namespace or None)
        topic = node.create_publisher(Bool, STOP_TOPIC, COMMAND)
        end = time.monotonic() + DISCOVERY_S
        while not topic.get_subscription_count():
            if time.monotonic() > end:
                raise GoodError(f"nobody listens to {topic.topic_name}: is the stack running?")
            time.sleep(0.005)
        topic.publish(Bool(data=not options.release))
        topic.wait_for_all_acked()
        print("the arm may move again" if options.release else "the arm is halted")
    finally:
        context.try_shutdown()
    return 0


def _stand_in(options: argparse.Namespace) -> int:
    with arm_packages("the stand-in"):
        from good_ros.nodes.arm_stand_in import run

    # An interrupt is how it ends; a launch file would tell of a process that died otherwise.
    with contextlib.suppress(KeyboardInterrupt):
        return run(options.arm_file, options.scene, options.rate)
    return 0
