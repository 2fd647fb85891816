"""The simulated human: answers from a profile and knows when it is content (GOOD, IV-B1)."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from good_ros.core.errors import WorldError
from good_ros.core.plan import Step, StepResult
from good_ros.experiments.profiles import Profile
from good_ros.experiments.temperament import CHANGED, Temperament
from good_ros.language import conversation
from good_ros.language.generator import Generator
from good_ros.planning.execution import replay
from good_ros.planning.shopping import closes, closing_step
from good_ros.worlds import predicates
from good_ros.worlds.base import World

OTHER_WISH = " You first ask for one thing that is not among what you want."
POLICIES = ("what_helps", "everything", "nothing")
"""What a simulated human approves: plans after which more of the profile's conditions are true,
every plan, or none."""


class SimulatedHuman:
    """A person with ``profile`` who sees ``room``, a world of their own that follows what the
    robot did; ``world_seed`` is that of the robot's world."""

    def __init__(
        self,
        profile: Profile,
        generator: Generator,
        room: World,
        *,
        task: str = "",
        world_seed: int = 0,
        temperature: float = 0.7,
        seed: int = 0,
        approves: str = "what_helps",
        temperament: Temperament | None = None,
        deadline_s: float | None = None,
    ) -> None:
        self.profile = profile
        self.generator = generator
        self.room = room
        self.task = task or profile.task
        self.world_seed = world_seed
        self.temperature = temperature
        self.seed = seed
        self.approves = approves
        self.temperament = temperament or Temperament()
        self.deadline_s = deadline_s
        self.problem = ""
        """Why the room could not be followed, empty where it could."""

    def answer(
        self,
        question: str,
        turn: int,
        history: Sequence[StepResult],
        cancel: threading.Event | None = None,
    ) -> str:
        """What the person says to a question; that all is done once it is so, and that there is
        nothing more where only the step that ends the task is left.

        Raises ModelError where the generator fails.
        """
        if self.is_content(history):
            return self.profile.completion_phrase
        if history and (last := self._last_step(history)):
            return f"That is everything. Please {last.label}."
        temperament = self.temperament
        if distracted := temperament.distracted_answer(self.seed, turn):
            return distracted
        manner = temperament.manner
        if temperament.changes_mind and turn == 1:
            manner += OTHER_WISH
        said = conversation.answer(
            self.generator,
            self.profile.profile,
            self.task,
            question,
            self._seen(history),
            world=self.room.name,
            temperature=self.temperature,
            seed=self.seed + turn,
            manner=manner,
            deadline_s=self.deadline_s,
            cancel=cancel,
        )
        return f"{CHANGED} {said}" if temperament.changes_mind and turn == 2 else said

    def _seen(self, history: Sequence[StepResult]) -> str:
        """What was done, and what of the profile is so already, as the person sees it.

        Without the second a small model asks again for what it has, or takes it back.
        """
        done = conversation.status_text(history)
        if not (history and self._follow(history)):
            return done
        objects = self.room.observe()
        so = [
            predicates.explain(condition)
            for condition in self.profile.conditions
            if predicates.holds(condition, objects)
        ]
        return f"{done}. Already as you want it: {'; '.join(so)}" if so else done

    def is_content(self, history: Sequence[StepResult]) -> bool:
        """Whether the room, as the person would see it, is as the profile wants it."""
        return bool(history) and self._follow(history) and self._fulfilled() == self._wanted

    def would_approve(self, plan: Sequence[Step], history: Sequence[StepResult]) -> bool:
        """The person's yes or no to a plan that waits for approval; to one that ends the task,
        such as buying, only where every condition is true after it."""
        if self.approves != "what_helps":
            return self.approves == "everything"
        if not self._follow(history):
            return False
        before = self._fulfilled()
        for step in plan:
            if not self.room.act(step).success:
                return False
        if closes(self.room, plan):
            return self._fulfilled() == self._wanted
        return self._fulfilled() > before

    def _last_step(self, history: Sequence[StepResult]) -> Step | None:
        """The step that ends the task, where it is all that is left to do."""
        if not self._follow(history) or (step := closing_step(self.room)) is None:
            return None
        self.room.act(step)
        return step if self._fulfilled() == self._wanted else None

    @property
    def _wanted(self) -> int:
        return len(self.profile.conditions)

    def _fulfilled(self) -> int:
        objects = self.room.observe()
        return sum(predicates.holds(c, objects) for c in self.profile.conditions)

    def _follow(self, history: Sequence[StepResult]) -> bool:
        self.problem = ""
        try:
            self.room.reset(self.profile.scene, self.world_seed)
            replay(self.room, history)
        except WorldError as error:
            self.problem = f"the room could not be followed: {error}"
        return not self.problem
