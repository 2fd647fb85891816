"""What is missing for a world, in plain words, and how to get it."""

from __future__ import annotations

import ctypes.util
import importlib.metadata
import importlib.util
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from good_ros.core.errors import GoodError, WorldError
from good_ros.worlds.ai2thor.options import (
    FETCH,
    INSTALL,
    NO_DISPLAY,
    STAND_IN,
    Ai2thorOptions,
    downloaded_build,
    releases_folder,
)
from good_ros.worlds.household import scenes

VULKAN = "sudo apt-get install -y libvulkan1"
VULKAN_TOOLS = "sudo apt-get install -y vulkan-tools"
XVFB = "sudo apt-get install -y xvfb && Xvfb :99 -screen 0 1280x1024x24 &"
FIRST_SCENE = "FloorPlan1"


@dataclass(frozen=True)
class Finding:
    """One thing that a world needs: whether it is there, in words, and what to do if not."""

    what: str
    fine: bool
    words: str
    remedy: str = ""


def check_world(name: str, options: Ai2thorOptions) -> list[Finding]:
    """What a world needs; where nothing is missing for ``ai2thor`` it is started once."""
    if name == "household":
        return [_scenes()]
    if name == "grocery":
        return [_store(), _search()]
    if name == "arm":
        return list(_arm())
    findings = list(_ai2thor(options))
    if all(finding.fine for finding in findings):
        findings.append(_start(options))
    return findings


def _arm() -> Iterator[Finding]:
    from good_ros.worlds.arm.picture import as_png
    from good_ros.worlds.arm.scene import INSTALL as INSTALL_ARM
    from good_ros.worlds.arm.scene import scene_names
    from good_ros.worlds.arm.world import ArmWorld

    world, scene = ArmWorld(), scene_names()[0]
    try:
        world.reset(scene)
    except WorldError as error:
        yield Finding("arm", False, str(error), INSTALL_ARM)
        return
    yield Finding("arm", True, f"scene {scene} was set, with {len(world.things)} things")
    try:
        as_png(world)
        yield Finding("pictures", True, "the table can be rendered")
    except WorldError as error:
        # The world works without.
        yield Finding("pictures", True, str(error))
    for package, used in (("trajectory_msgs", "topics"), ("control_msgs", "actions")):
        there = importlib.util.find_spec(package) is not None
        words = f"installed; {used} of a real arm's controllers work" if there else "not installed"
        remedy = "" if there else f"for {used} of a real arm: sudo apt-get install "
        apt = f"ros-$ROS_DISTRO-{package.replace('_', '-')}"
        yield Finding(package, True, words, remedy + apt if remedy else "")


def _scenes() -> Finding:
    try:
        count = len(scenes.load_objects(FIRST_SCENE))
    except WorldError as error:
        return Finding("scenes", False, str(error), scenes.INSTALL)
    words = f"{len(scenes.scene_names())} scenes, {count} objects in {FIRST_SCENE}"
    return Finding("scenes", True, words)


def _store() -> Finding:
    from good_ros.worlds.grocery.loading import OURS, load_inventory

    inventory = load_inventory(OURS)
    words = f"{len(inventory.items)} items in {len(inventory.categories)} categories"
    return Finding("inventory", True, words)


def _search() -> Finding:
    """Without embeddings the store is searched by words, which is enough."""
    from good_ros.worlds.grocery.embedding import missing

    if problem := missing():
        return Finding("search", True, f"by words; by embeddings where wanted: {problem}")
    return Finding("search", True, "by embeddings of all-MiniLM-L6-v2")


def _ai2thor(options: Ai2thorOptions) -> Iterator[Finding]:
    if importlib.util.find_spec("ai2thor") is None:
        yield Finding("package", False, "ai2thor's Python client is not installed", INSTALL)
    else:
        version = importlib.metadata.version("ai2thor")
        yield Finding("package", True, f"ai2thor {version} is installed")
    if options.player == STAND_IN:
        yield Finding("player", True, "a stand-in of ours, without physics and pictures")
        yield _scenes()
        return
    yield _build(options)
    yield _display(options)
    yield _vulkan(options)


def _build(options: Ai2thorOptions) -> Finding:
    try:
        return Finding("Unity build", True, f"{options.command()} is there")
    except WorldError:
        pass
    if options.build:
        path = Path(options.build).expanduser()
        words = "is not executable" if path.is_file() else "is not there"
        remedy = f"chmod +x {path}" if path.is_file() else "name the player's executable itself"
        return Finding("Unity build", False, f"{path} {words}", remedy)
    return Finding(
        "Unity build",
        False,
        f"there is none under {releases_folder()}, and none was named",
        f"with internet access: {FETCH}; or copy that folder from a machine that has it; or name "
        "one with --build (parameter ai2thor_build)",
    )


def _display(options: Ai2thorOptions) -> Finding:
    display = options.display or os.environ.get("DISPLAY", "")
    if options.headless:
        return Finding("display", True, "none is needed: the player runs headless")
    if not display:
        return Finding("display", False, "no X display was named", f"{XVFB} (then --display :99)")
    if not _answers(display):
        words = f"nothing answers on the X display {display}"
        return Finding("display", False, words, f"{XVFB} (then --display :99)")
    return Finding("display", True, f"{display} answers")


def _answers(display: str) -> bool:
    """Whether an X server listens on a display of this host; another host's is taken to."""
    host, _, number = (display or NO_DISPLAY).rpartition(":")
    if host not in ("", "unix"):
        return True
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(f"/tmp/.X11-unix/X{number.partition('.')[0]}")
        except OSError:
            return False
    return True


def _vulkan(options: Ai2thorOptions) -> Finding:
    """Builds for cloud rendering draw with Vulkan; so does a graphics card that is chosen."""
    path = options.build or str(downloaded_build() or "")
    chosen = bool(os.environ.get("CUDA_VISIBLE_DEVICES", "").strip(", ")) and not options.headless
    if chosen and not shutil.which("vulkaninfo"):
        words = "CUDA_VISIBLE_DEVICES is set, so that the client runs vulkaninfo, which is missing"
        return Finding("Vulkan", False, words, f"{VULKAN_TOOLS}; or unset CUDA_VISIBLE_DEVICES")
    if ctypes.util.find_library("vulkan") is not None:
        return Finding("Vulkan", True, "its library is installed")
    if options.headless and "CloudRendering" not in path:
        words = "not installed; it is not needed as long as the player draws nothing"
        return Finding("Vulkan", True, words)
    return Finding("Vulkan", False, "its library is not installed", VULKAN)


def _start(options: Ai2thorOptions) -> Finding:
    from good_ros.worlds.ai2thor.world import Ai2thorWorld

    world = Ai2thorWorld(options)
    try:
        world.reset(FIRST_SCENE)
        words = f"{FIRST_SCENE} was loaded, with {len(world.observe())} objects"
        return Finding("start", True, words)
    except GoodError as error:
        return Finding("start", False, str(error), "see the player's log")
    finally:
        world.close()
