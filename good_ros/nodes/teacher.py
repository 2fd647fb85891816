"""The teacher node: takes a person's goal and behaviours, and keeps them (ProVox).

It tries what it is taught in a world of its own, so that nothing of the session moves.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from rclpy.task import Future

from good_ros.language.backends import make_generator
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.parameters import (
    DEADLINE,
    MODEL,
    PEOPLE_FOLDER,
    SEED,
    SERVED_MODEL,
    WORLD_SEED,
    Parameter,
)
from good_ros.nodes.waiting import until_done
from good_ros.srv import Teach
from good_ros.teaching.profile import ProfileStore
from good_ros.teaching.teacher import Answer, Teacher
from good_ros.worlds.registry import WORLDS, make_world

TRIED_IN = {"ai2thor": "household"}
"""By world the one in which what is taught is tried, where it is another one."""


class TeacherNode(GoodNode):
    """Serves ``teach``: a sentence of a person who teaches, and what was understood."""

    NAME = "teacher"
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        PEOPLE_FOLDER,
        Parameter(
            "use_model",
            True,
            "Read what is in no explicit form with the language model; false understands the "
            "explicit forms alone.",
        ),
        Parameter(
            "world",
            "household",
            "The executor's world: what is taught is tried in one like it.",
            choices=WORLDS,
        ),
        Parameter("scene", "FloorPlan1", "The executor's scene."),
        WORLD_SEED,
    )

    def setup(self, values: SimpleNamespace) -> None:
        world = self.keep(make_world(TRIED_IN.get(values.world, values.world)))
        world.reset(values.scene, values.world_seed)
        generator = None
        if values.use_model:
            generator = self.keep(make_generator(values.model, values.served_model))
        self.teacher = Teacher(
            ProfileStore(values.people_folder),
            world,
            generator,
            seed=values.seed,
            deadline_s=values.deadline_s,
        )
        self.serve(Teach, "teach", self.on_teach)

    def facts(self) -> Mapping[str, str]:
        return {"people": ", ".join(self.teacher.store.people()) or "none"}

    async def on_teach(self, request: Teach.Request, response: Teach.Response) -> Teach.Response:
        if not self.active:
            response.reply = "the teacher is not active: activate it, then teach"
            return response
        done: Any = Future()

        def job(cancel: threading.Event) -> Answer:
            return self.teacher.hear(request.person_id, request.text, cancel)

        def then(answer: Answer | None, error: BaseException | None) -> None:
            done.set_result(answer or Answer(False, f"that failed: {error}"))

        cancel = self.worker.submit(job, then)
        await until_done(_Either(done, cancel))
        answer: Answer = (
            done.result() if done.done() else Answer(False, "the teacher was stopped; nothing kept")
        )
        response.success, response.reply = answer.success, answer.reply
        return response


class _Either:
    """Done once the answer is there, or the job was given up."""

    def __init__(self, answer: Any, cancel: threading.Event) -> None:
        self._answer = answer
        self._cancel = cancel

    def done(self) -> bool:
        return bool(self._answer.done()) or self._cancel.is_set()


def main() -> int:
    return run(TeacherNode)


if __name__ == "__main__":
    raise SystemExit(main())
