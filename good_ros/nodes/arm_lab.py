"""A physical arm's whole chain in one process: the world, the driver, and the stand-in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import rclpy
from rclpy.context import Context
from rclpy.signals import SignalHandlerOptions

from good_ros.nodes.arm_body import RosBody
from good_ros.nodes.arm_stand_in import StandInController
from good_ros.worlds.arm.config import ArmConfig, load_config
from good_ros.worlds.arm.scene import engine
from good_ros.worlds.arm.world import ArmWorld


@dataclass(frozen=True)
class ArmLab:
    """``world`` acts through ``driver``, which only speaks to ``controller`` by messages."""

    world: ArmWorld
    driver: RosBody
    controller: StandInController
    scene: str

    def set_table(self, seed: int) -> None:
        """Set the things anew, with the arm at home, and let the world look at them."""
        self.controller.set_table(self.scene, seed)
        self.driver.look_anew()
        self.world.reset(self.scene, seed)


@contextmanager
def arm_lab(
    scene: str,
    config: ArmConfig | None = None,
    *,
    run: bool = True,
    namespace: str | None = None,
) -> Iterator[ArmLab]:
    """The chain on a graph of its own on this host; ``run`` says whether the stand-in ticks by
    itself, as fast as it goes, or by its ``tick`` alone. Without ``namespace`` it is in one of its
    own."""
    config = config or load_config()
    engine()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    context = Context()
    rclpy.init(context=context, signal_handler_options=SignalHandlerOptions.NO)
    namespace = f"arm_lab_{os.getpid()}" if namespace is None else namespace
    controller = StandInController(config, context, namespace, scene)
    world = ArmWorld(config, partial(RosBody, context=context, namespace=namespace))
    try:
        controller.run()
        world.reset(scene)
        driver = world.body
        assert isinstance(driver, RosBody)
        if not run:
            controller.pause()
        yield ArmLab(world, driver, controller, scene)
    finally:
        world.close()
        controller.close()
        context.try_shutdown()
