"""``good teach``: teach the robot a goal and behaviours in the terminal, without a graph."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from good_ros.language.generator import Generator, Message, Reply, Sampling
from good_ros.worlds.registry import make_world

SCENES = {"arm": "lunch_bag", "table": "lunch_bag", "household": "FloorPlan1"}
NO_MODEL = "none"


def add_to(commands: Any) -> None:
    """Add the command to ``good``'s."""
    parser = commands.add_parser(
        "teach", help="teach the robot your goal and behaviours in your own words"
    )
    parser.add_argument("--person", required=True, help="whose profile it goes into")
    parser.add_argument("--people", default="", help="folder of people's profiles")
    parser.add_argument(
        "--world", default="table", choices=tuple(SCENES), help="where what is taught is tried"
    )
    parser.add_argument("--scene", default="", help="scene of the world")
    parser.add_argument(
        "--model",
        default="default",
        help="reads what is in no explicit form; loaded when it is needed; none for no model",
    )
    parser.add_argument("text", nargs="*", help="what to teach, a sentence each; else typed")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    from good_ros.teaching.profile import ProfileStore, check_person
    from good_ros.teaching.teacher import HOW, Teacher, describe

    person = check_person(options.person)
    store = ProfileStore(options.people)
    world = make_world(options.world)
    generator = None if options.model == NO_MODEL else LateGenerator(options.model)
    understood = True
    try:
        world.reset(options.scene or SCENES[options.world])
        teacher = Teacher(store, world, generator)
        if not options.text:
            print(f"{describe(store.load(person))} {HOW}")
            print("An empty line or Ctrl-D leaves.")
        for said in options.text or _typed():
            answer = teacher.hear(person, said)
            understood &= answer.success
            print(f"Robot: {answer.reply}", flush=True)
    finally:
        world.close()
        if generator is not None:
            generator.close()
    print(f"profile: {store.path(person)}")
    # What is typed may be corrected; sentences of a script that failed are its failure.
    return 0 if understood or not options.text else 1


def _typed() -> Iterator[str]:
    while True:
        if sys.stdin.isatty():
            print("You: ", end="", flush=True)
        line = sys.stdin.readline()
        if not line.strip():
            return
        yield line.strip()


class LateGenerator:
    """A generator that is loaded when it is asked for the first time."""

    def __init__(self, model: str) -> None:
        self.model_name = model
        self._loaded: Generator | None = None

    def generate(
        self,
        messages: Sequence[Message],
        sampling: Sampling,
        json_schema: Mapping[str, Any] | None = None,
        deadline_s: float | None = None,
        cancel: threading.Event | None = None,
    ) -> Reply:
        """As of ``language.generator.Generator``."""
        if self._loaded is None:
            from good_ros.language.backends import make_generator

            print("(reading that with the language model …)", file=sys.stderr)
            self._loaded = make_generator(self.model_name)
        return self._loaded.generate(messages, sampling, json_schema, deadline_s, cancel)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
