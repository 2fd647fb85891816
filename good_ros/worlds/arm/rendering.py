"""Pictures of the physics, made by a process of their own.

OpenGL can end the process in which it fails, keeps to the thread that began with it, and is
chosen when MuJoCo is loaded: none of this may touch a node.
"""

from __future__ import annotations

import io
import math
import os
import pickle
import struct
import subprocess
import sys
import weakref
from collections.abc import Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from good_ros.core.errors import WorldError
from good_ros.worlds.arm.config import BOX, Place
from good_ros.worlds.arm.scene import Thing, engine, scene_model
from good_ros.worlds.arm.sim import SimBody

HELP = "sudo apt-get install -y libegl1 libgl1-mesa-dri; pip install pillow"
LOOKED_AT = (0.28, 0.0, 0.08)
LABELS_FROM = 300
"""Height in pixels from which on there is room for names."""


@dataclass(frozen=True)
class View:
    """Size in pixels; the camera's distance (m), its degrees about the table and above it."""

    width: int = 640
    height: int = 480
    distance: float = 1.75
    azimuth: float = 180.0
    elevation: float = -38.0


STANDARD = View()


class Pictures:
    """Renders the states of one scene; the process is begun with the first picture."""

    def __init__(self, things: Sequence[Thing], places: Sequence[Place], view: View) -> None:
        self._order = pickle.dumps((tuple(things), tuple(places), view))
        self._process: subprocess.Popen[bytes] | None = None

    def png(self, body: SimBody) -> bytes:
        """The table as it is now. Raises WorldError where it cannot be rendered here."""
        try:
            process = self._process or self._begin()
            assert process.stdin is not None
            assert process.stdout is not None
            _send(process.stdin, body.data.qpos.tobytes())
            return _receive(process.stdout)
        except (OSError, EOFError) as error:
            self.close()
            raise WorldError(f"no picture can be rendered here: {HELP}") from error

    def _begin(self) -> subprocess.Popen[bytes]:
        environment = dict(os.environ)
        if "MUJOCO_GL" not in environment and not environment.get("DISPLAY"):
            # Without a display only EGL can render.
            environment["MUJOCO_GL"] = "egl" if find_library("EGL") else "osmesa"
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._process = process
        self._end = weakref.finalize(self, _end, process)
        assert process.stdin is not None
        _send(process.stdin, self._order)
        return process

    def close(self) -> None:
        if self._process is not None:
            self._process = None
            self._end()


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe:
                pipe.close()
        except OSError:
            continue
    try:
        process.wait(5.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _send(pipe: BinaryIO | Any, content: bytes) -> None:
    pipe.write(struct.pack("<Q", len(content)) + content)
    pipe.flush()


def _receive(pipe: BinaryIO | Any) -> bytes:
    """Raises EOFError where the other side has ended."""
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError
    (length,) = struct.unpack("<Q", head)
    content = bytes(pipe.read(length))
    if len(content) < length:
        raise EOFError
    return content


# The process.


def main() -> int:
    """Answers each state on standard input with a picture on standard output, until its end."""
    from PIL import Image

    things, places, view = pickle.loads(_receive(sys.stdin.buffer))
    mujoco = engine()
    model = scene_model(things, places)
    # Pixels and shadows are drawn by the CPU where there is no graphics card.
    model.vis.global_.offwidth, model.vis.global_.offheight = view.width, view.height
    model.vis.quality.shadowsize, model.vis.quality.offsamples = 1024, 2
    data = mujoco.MjData(model)
    camera = mujoco.MjvCamera()
    camera.distance, camera.azimuth, camera.elevation = view.distance, view.azimuth, view.elevation
    camera.lookat[:] = LOOKED_AT
    renderer = mujoco.Renderer(model, view.height, view.width)
    while True:
        try:
            state = _receive(sys.stdin.buffer)
        except EOFError:
            break
        data.qpos[:] = np.frombuffer(state)
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, camera)
        picture = Image.fromarray(renderer.render())
        if view.height >= LABELS_FROM:
            named = {t.name: data.body(t.name).xpos for t in things}
            named |= {p.name: (p.x, p.y, 0.0) for p in places if p.kind == BOX}
            _label(picture, renderer.scene.camera, float(model.vis.global_.fovy), named)
        file = io.BytesIO()
        picture.save(file, format="png")
        _send(sys.stdout.buffer, file.getvalue())
    # What OpenGL has to say while it is taken down is of no use to anybody.
    os._exit(0)


def _label(picture: Any, cameras: Any, fovy: float, named: dict[str, Any]) -> None:
    """Write the names beside what they name (points in m)."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    position = np.mean([np.array(c.pos) for c in cameras], axis=0)
    forward, up = np.array(cameras[0].forward), np.array(cameras[0].up)
    right = np.cross(forward, up)
    focal = picture.height / 2 / math.tan(math.radians(fovy) / 2)
    for name, point in named.items():
        seen = np.array(point) - position
        scale = focal / float(seen @ forward)
        place = (
            picture.width / 2 + scale * float(seen @ right),
            picture.height / 2 - scale * float(seen @ up) + 9,
        )
        draw.text(
            place, name, fill=(20, 20, 20), anchor="mt", stroke_width=1, stroke_fill=(255, 255, 255)
        )


if __name__ == "__main__":
    raise SystemExit(main())
