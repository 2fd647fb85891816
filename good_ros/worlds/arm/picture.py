"""Pictures and films of the arm world."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from good_ros.core.errors import InputError, WorldError
from good_ros.core.plan import Step
from good_ros.worlds.arm.kinematics import Joints
from good_ros.worlds.arm.rendering import HELP, STANDARD, Pictures, View
from good_ros.worlds.arm.sim import SimBody
from good_ros.worlds.arm.world import ArmWorld

FRAMES_A_SECOND = 6
FILM_SPEED = 2.0
"""A film shows so many simulated seconds in one."""
FILM = View(360, 270)
COLOURS = 96


def pictures_of(world: ArmWorld, view: View = STANDARD) -> Pictures:
    """What renders this world's table; close it after use."""
    return Pictures(tuple(world.things.values()), tuple(world.config.places.values()), view)


def as_png(world: ArmWorld, view: View = STANDARD) -> bytes:
    """The table as it is now. Raises WorldError where it cannot be rendered."""
    with closing(pictures_of(world, view)) as pictures:
        return pictures.png(simulated(world))


def film(
    world: ArmWorld,
    steps: Sequence[Step],
    out: Path,
    view: View = FILM,
    on_step: Callable[[Step, str], None] = lambda step, words: None,
) -> int:
    """Do the steps and write what is seen of it as a GIF; the number of its pictures.

    ``on_step`` is told each step's effect, or failure. Raises InputError where the file is none
    that can be written, WorldError where nothing can be rendered.
    """
    if out.suffix != ".gif":
        raise InputError(f"a film is a .gif, not {out.name!r}")
    try:
        from PIL import Image
    except ImportError as error:
        raise WorldError(f"a film needs Pillow: {HELP}") from error
    body = simulated(world)
    every = max(round(FILM_SPEED / FRAMES_A_SECOND / body.period_s), 1)
    frames: list[Any] = []
    ticks = 0
    before = body.on_tick
    with closing(pictures_of(world, view)) as pictures:

        def take() -> None:
            frames.append(Image.open(io.BytesIO(pictures.png(body))))

        def watch(setpoint: Joints) -> None:
            nonlocal ticks
            ticks += 1
            if ticks % every == 0:
                take()
            before(setpoint)

        body.on_tick = watch
        try:
            for step in steps:
                outcome = world.act(step)
                on_step(step, outcome.effect or outcome.error_msg)
            take()
        finally:
            body.on_tick = before
    # Small things keep their colours only by this method.
    palette = frames[0].convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
    small = [frame.convert("RGB").quantize(palette=palette, dither=0) for frame in frames]
    pause_ms = 1000 // FRAMES_A_SECOND
    try:
        small[0].save(
            out, save_all=True, append_images=small[1:], duration=pause_ms, loop=0, optimize=True
        )
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}") from error
    return len(small)


def simulated(world: ArmWorld) -> SimBody:
    """The world's body. Raises WorldError where it is a real one."""
    body = world.body
    if not isinstance(body, SimBody):
        raise WorldError("a picture is rendered of an arm in physics, not of a real one")
    return body
