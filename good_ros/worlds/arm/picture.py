"""Pictures and films of the arm, rendered by MuJoCo where the machine can (EGL, or a display)."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from good_ros.core.errors import InputError, WorldError
from good_ros.core.plan import Step
from good_ros.worlds.arm.config import BOX
from good_ros.worlds.arm.kinematics import Joints
from good_ros.worlds.arm.scene import engine
from good_ros.worlds.arm.sim import SimBody
from good_ros.worlds.arm.world import ArmWorld

GL = "sudo apt-get install -y libegl1 libgl1-mesa-dri"
FRAMES_A_SECOND = 8
FILM_SPEED = 2.0
"""A film shows so many simulated seconds in one."""
LOOKED_AT = (0.28, 0.0, 0.08)
LABELS_FROM = 300
"""Height in pixels from which on there is room for names."""


@dataclass(frozen=True)
class View:
    """Where the camera is: metres from what it looks at, degrees about it and above it."""

    distance: float = 1.75
    azimuth: float = 180.0
    elevation: float = -38.0


@contextmanager
def renderer(body: SimBody, width: int, height: int, view: View = View()) -> Iterator[Any]:
    """A function that gives the picture (height × width × 3) as the physics is then; it is used
    in the thread that made it. Raises WorldError where nothing can be rendered here."""
    mujoco = engine()
    try:
        made = mujoco.Renderer(body.model, height, width)
    except Exception as error:
        raise WorldError(f"no picture can be rendered here ({error}): {GL}") from error
    camera = mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = (
        view.distance,
        view.azimuth,
        view.elevation,
    )
    camera.lookat[:] = LOOKED_AT

    def render() -> Any:
        made.update_scene(body.data, camera)
        pixels = made.render()
        return _labelled(pixels, made.scene.camera, body) if height >= LABELS_FROM else pixels

    try:
        yield render
    finally:
        made.close()


def as_png(world: ArmWorld, width: int = 640, height: int = 480) -> bytes:
    """The table as it is now. Raises WorldError where it cannot be rendered."""
    with renderer(_simulated(world), width, height) as render:
        file = io.BytesIO()
        _image(render()).save(file, format="png")
        return file.getvalue()


def film(
    world: ArmWorld,
    steps: Sequence[Step],
    out: Path,
    width: int = 400,
    height: int = 300,
    on_step: Callable[[Step, str], None] = lambda step, words: None,
) -> int:
    """Do the steps and write what is seen of it as a GIF; the number of its pictures.

    ``on_step`` is told each step's effect, or failure. Raises InputError where the file is none
    that can be written, WorldError where nothing can be rendered.
    """
    if out.suffix != ".gif":
        raise InputError(f"a film is a .gif, not {out.name!r}")
    body = _simulated(world)
    every = max(round(FILM_SPEED / FRAMES_A_SECOND / body.period_s), 1)
    frames: list[Any] = []
    ticks = 0
    before = body.on_tick
    with renderer(body, width, height) as render:

        def watch(setpoint: Joints) -> None:
            nonlocal ticks
            ticks += 1
            if ticks % every == 0:
                frames.append(_image(render()))
            before(setpoint)

        body.on_tick = watch
        try:
            for step in steps:
                outcome = world.act(step)
                on_step(step, outcome.effect or outcome.error_msg)
            frames.append(_image(render()))
        finally:
            body.on_tick = before
    palette = frames[0].quantize(colors=96)
    small = [frame.quantize(palette=palette, dither=0) for frame in frames]
    try:
        small[0].save(
            out,
            save_all=True,
            append_images=small[1:],
            duration=1000 // FRAMES_A_SECOND,
            loop=0,
            optimize=True,
        )
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}") from error
    return len(small)


def _simulated(world: ArmWorld) -> SimBody:
    body = world.body
    if not isinstance(body, SimBody):
        raise WorldError("a picture is rendered of an arm in physics, not of a real one")
    return body


def _labelled(pixels: Any, cameras: Any, body: SimBody) -> Any:
    """The picture with the things' names beside them."""
    try:
        from PIL import ImageDraw
    except ImportError:
        return pixels
    picture = _image(pixels)
    draw = ImageDraw.Draw(picture)
    position = np.mean([np.array(c.pos) for c in cameras], axis=0)
    forward, up = np.array(cameras[0].forward), np.array(cameras[0].up)
    right = np.cross(forward, up)
    height, width = pixels.shape[:2]
    focal = height / 2 / math.tan(math.radians(float(body.model.vis.global_.fovy)) / 2)
    named = {name: pose.position for name, pose in body.poses().items()}
    for place in body.config.places.values():
        if place.kind == BOX:
            named[place.name] = (place.x, place.y, 0.0)
    for name, point in named.items():
        seen = np.array(point) - position
        depth = float(seen @ forward)
        x = width / 2 + focal * float(seen @ right) / depth
        y = height / 2 - focal * float(seen @ up) / depth
        draw.text(
            (x, y + 9),
            name,
            fill=(20, 20, 20),
            anchor="mt",
            stroke_width=1,
            stroke_fill=(255, 255, 255),
        )
    return np.asarray(picture)


def _image(pixels: Any) -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise WorldError("a picture needs Pillow: pip install pillow") from error
    return Image.fromarray(pixels)
