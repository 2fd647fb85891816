"""WebArena needs its web sites, live: this adapter says so, and drives what a lab gives it.

The task descriptions come as packages, the sites do not (six servers of several hundred GB). A lab
that runs them names, by ``GOOD_ROS_WEBARENA``, a function ``package.module:function`` that takes a
layout and returns an object with ``observe() -> str``, ``step(action: str) -> str``, ``score() ->
float`` and ``close()``.
"""

from __future__ import annotations

import importlib
import os
import random
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from good_ros.core.errors import InputError
from good_ros.optimize.environments.base import Environment, Kind, Layout, WrongReply

SITE = "GOOD_ROS_WEBARENA"
TASKS = 812
ACTION = re.compile(r"@([^@]+)@")
FORMS = re.compile(
    r"(click|hover|tab_focus) \[\d+\]|type \[\d+\] \[.*\]|press \[.+\]|scroll \[(down|up)\]"
    r"|new_tab|close_tab|goto \[.+\]|go_back|go_forward|stop \[.*\]",
    re.DOTALL,
)


class WebArena(Environment):
    """Web pages as text; an action stands between two @ signs."""

    name: ClassVar[str] = "webarena"
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.SYNTAX, Kind.STUCK, Kind.LIMIT, Kind.INVALID)
    max_steps = 30
    stuck_after = 4
    start_prompt = (
        "You fulfil a person's wish on web pages. Actions are: click [id], type [id] [text], hover "
        "[id], press [keys], scroll [down] or scroll [up], new_tab, tab_focus [number], close_tab, "
        "goto [address], go_back, go_forward, and stop [answer] once all is done.\n"
        "Reply with one action between @ signs, such as @click [12]@."
    )

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._site = _site()(layout)
        self._stopped = False

    @classmethod
    def draw(cls, size: Mapping[str, Any], rng: random.Random) -> Layout:
        return {"task": rng.randrange(TASKS)}

    def state_text(self) -> str:
        return str(self._site.observe())

    def do(self, reply: str) -> str:
        actions = {action.strip() for action in ACTION.findall(reply)}
        if len(actions) != 1:
            raise WrongReply(Kind.SYNTAX, "there must be one action between @ signs.")
        action = actions.pop()
        if not FORMS.fullmatch(action):
            raise WrongReply(Kind.INVALID, f"'{action}' is not one of the actions.", ends=False)
        self._stopped = action.startswith("stop ")
        return str(self._site.step(action))

    def progress(self) -> float:
        return float(self._site.score())

    def done(self) -> bool:
        return self._stopped or self.progress() >= 1.0

    def solution(self) -> list[str]:
        """None is known: raises InputError."""
        raise InputError("WebArena has no solver: give the instances' layouts by hand")

    def close(self) -> None:
        self._site.close()


def _site() -> Any:
    path = os.environ.get(SITE, "")
    module, colon, function = path.partition(":")
    if not colon:
        raise InputError(
            f"WebArena needs live web sites: run them, and name by {SITE}=package.module:function "
            "what opens a task on them"
        )
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{SITE}={path} cannot be imported: {error}") from error
