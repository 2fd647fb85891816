"""The goal manager node: answers each pass-1 belief with the goals to go on with (GOOD, III-D)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace

from std_msgs.msg import Empty

from good_ros.core.dialog import Transcript
from good_ros.core.errors import InputError
from good_ros.core.goals import Goal, GoalOrigin, GoalSet, unspecified_goal
from good_ros.inference.backends import make_scorer
from good_ros.inference.goal_management import GoalManager, GoalNumbers
from good_ros.inference.sameness import Same, ScoredSameness, same_words
from good_ros.language.backends import make_generator
from good_ros.msg import GoalBelief, TaskStatus
from good_ros.msg import GoalSet as GoalSetMsg
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import (
    belief_from_msg,
    goal_set_to_msg,
)
from good_ros.nodes.kept import Kept
from good_ros.nodes.parameters import (
    DEADLINE,
    MODEL,
    PEOPLE_FOLDER,
    PERSON,
    SEED,
    SERVED_MODEL,
    SESSIONS_FOLDER,
    TASK,
    WORLD,
    Parameter,
    sessions_folder,
)
from good_ros.nodes.qos import LATCHED, LATCHED_STREAM, SPEECH_IN
from good_ros.nodes.transcripts import TranscriptReader
from good_ros.srv import EditGoals
from good_ros.teaching.profile import TAUGHT_WEIGHT, ProfileStore
from good_ros.turns.goals import GoalOrder

MERGE_BY = ("words", "scorer")


class GoalManagerNode(GoodNode):
    """Owns the goal sets: edits them once a turn, and as people ask for it."""

    NAME = "goal_manager"
    PARAMETERS = (
        MODEL,
        SERVED_MODEL,
        DEADLINE,
        SEED,
        TASK,
        WORLD,
        Parameter("initial_goals", [""], "Goals that stand before the first turn."),
        Parameter("unspecified_prior", 1.0, "Weight of 'Unspecified' among the goals.", 1e-6, 1e6),
        Parameter(
            "least_likely_rounds",
            3,
            "A goal that was least likely for more rounds than this is removed.",
            1,
            1000,
        ),
        PERSON,
        PEOPLE_FOLDER,
        SESSIONS_FOLDER,
        Parameter(
            "taught_weight",
            TAUGHT_WEIGHT,
            "Weight of the goal that `person` taught, where each other goal has 1: a strong prior, "
            "not a certainty.",
            1e-6,
            1e6,
        ),
        Parameter("max_goals", 8, "Most goals in the set, 'Unspecified' not counted.", 1, 200),
        Parameter(
            "belief_per_speaker",
            False,
            "Keep goals, and so the belief, apart for each speaker_id of the utterances.",
        ),
        Parameter(
            "merge_by",
            MERGE_BY[0],
            "What says whether two goals mean the same: their words, or these and the scoring "
            "model.",
            choices=MERGE_BY,
        ),
        Parameter(
            "scoring_model",
            "",
            "The scoring model of merge_by, as `model` of goal_belief; empty takes `model`.",
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.values = values
        self.generator = self.keep(make_generator(values.model, values.served_model))
        texts = [text for text in values.initial_goals if text.strip()]
        if len(texts) > values.max_goals:
            raise InputError(
                f"there are {len(texts)} initial_goals, the set holds max_goals = "
                f"{values.max_goals}: name fewer, or raise max_goals"
            )
        self.same: Same = same_words
        if values.merge_by == "scorer":
            scorer = self.keep(make_scorer(values.scoring_model or values.model))
            scorer.self_test()
            self.same = ScoredSameness(scorer)
        self.numbers = GoalNumbers()
        self.managers: dict[str, GoalManager] = {}
        self.kept = Kept(self, sessions_folder(values.sessions_folder))
        self.unwanted: dict[str, list[str]] = {}
        """By speaker what must not be proposed again, as it is kept."""
        self.scene_text = ""
        self.order = GoalOrder(values.belief_per_speaker)
        self.busy = False
        self.asked_to_propose = False
        self.goals = self.publisher(GoalSetMsg, "goals", LATCHED)
        TranscriptReader(self.listen, self.on_transcript)
        self.listen(GoalBelief, "goal_belief", self.on_belief, LATCHED_STREAM)
        self.listen(TaskStatus, "task_status", self.on_status, LATCHED_STREAM)
        self.listen(Empty, "propose_goals", self.on_propose, SPEECH_IN)
        self.serve(EditGoals, "edit_goals", self.on_edit)

    def start(self) -> None:
        self.busy = False
        if self.order.goals is not None:
            self.publish()
        self.answer()

    def facts(self) -> Mapping[str, str]:
        return {
            "model": self.generator.model_name,
            "goals": str(len(self.order.goals.goals)) if self.order.goals else "0",
        }

    def on_transcript(self, transcript: Transcript) -> None:
        if self.order.hear_transcript(transcript):
            self.recover(transcript.session_id)
            self.order.begin(self.first_goals(transcript.session_id))
            self.publish()
        if speaker := self.order.new_speaker():
            assert self.order.goals is not None
            known = self.order.knows(speaker)
            first = self.order.goals if known else self.first_goals(transcript.session_id)
            self.order.turn_to(speaker, first)
            self.publish()
        self.answer()

    @property
    def manager(self) -> GoalManager:
        """That of the speaker whose goals are the current ones."""
        speaker = self.order.goals.speaker_id if self.order.goals else ""
        if speaker not in self.managers:
            self.managers[speaker] = GoalManager(
                n_least_likely=self.values.least_likely_rounds,
                max_goals=self.values.max_goals,
                world=self.values.world,
                same=self.same,
                numbers=self.numbers,
            )
            self.managers[speaker].unwanted = list(self.unwanted.get(speaker, ()))
        return self.managers[speaker]

    def recover(self, session_id: str) -> None:
        """A session begins, or goes on after this node was killed: what was kept of it counts."""
        kept = self.kept.of(session_id)
        self.managers = {}
        try:
            self.numbers.last = int(kept["last"]) if kept else 0
            unwanted = kept["unwanted"] if kept else {}
            self.unwanted = {str(who): [str(g) for g in said] for who, said in unwanted.items()}
        except (KeyError, TypeError, ValueError, AttributeError):
            self.numbers.last, self.unwanted = 0, {}

    def keep_unwanted(self) -> None:
        """Keep what was removed for good, where that has changed."""
        now = {who: list(m.unwanted) for who, m in self.managers.items() if m.unwanted}
        if self.order.goals is not None and any(self.unwanted.get(w) != g for w, g in now.items()):
            self.unwanted |= now
            value = {"last": self.numbers.last, "unwanted": self.unwanted}
            self.kept.keep(self.order.goals.session_id, value)

    def on_belief(self, message: GoalBelief) -> None:
        if self.order.hear_belief(belief_from_msg(message)):
            self.get_logger().info("the goals were recovered from the belief")
            self.recover(message.session_id)
            self.publish()
        self.answer()

    def on_status(self, message: TaskStatus) -> None:
        self.scene_text = message.scene

    def first_goals(self, session_id: str) -> GoalSet:
        texts = [text for text in self.values.initial_goals if text.strip()]
        goals = [unspecified_goal(self.values.unspecified_prior)]
        ids = self.numbers.new_ids((), len(texts))
        goals += [
            Goal(goal_id, text, GoalOrigin.CONFIG) for goal_id, text in zip(ids, texts, strict=True)
        ]
        goals += self.taught_goal()
        return GoalSet(session_id, 0, 1, tuple(goals), added=tuple(goals))

    def taught_goal(self) -> list[Goal]:
        """What ``person`` taught the robot that they want, where they did."""
        if not self.values.person:
            return []
        store = ProfileStore(self.values.people_folder)
        try:
            profile = store.load(self.values.person)
        except InputError as error:
            self.get_logger().error(f"the taught goal is left out: {error}")
            return []
        if not profile.revision:
            self.get_logger().warning(
                f"{self.values.person} has taught nothing yet; there is "
                f"{', '.join(store.people())} (good teach)"
            )
        goal = profile.goal
        return [goal.hypothesis(self.values.taught_weight)] if goal else []

    def answer(self) -> None:
        """Answer the pass-1 belief that is due, if one is."""
        if self.busy or not self.active:
            return
        due = self.order.due()
        if due is None:
            self.propose()
            return
        belief, transcript = due
        if transcript.ended:
            self.order.answer(self.order.unchanged(belief))
            self.publish()
            return
        self.busy = True
        scene, manager = self.scene_text, self.manager

        def job(cancel: threading.Event) -> GoalSet:
            return manager.edit(
                belief,
                transcript,
                self.generator,
                self.values.task,
                scene=scene,
                seed=self.values.seed + belief.turn,
                deadline_s=self.values.deadline_s,
                cancel=cancel,
            )

        def then(edited: GoalSet | None, error: BaseException | None) -> None:
            self.busy = False
            if edited is None:
                self.get_logger().error(f"the goals are unchanged: {error}")
                edited = self.order.unchanged(belief)
            if self.order.answer(edited):
                self.publish()
            self.answer()

        self.worker.submit(job, then)

    def on_propose(self, message: Empty) -> None:
        self.asked_to_propose = True
        self.answer()

    def propose(self) -> None:
        """New goals because a person asks for them, once the turn is answered."""
        goals, belief, transcript = self.order.goals, self.order.belief, self.order.transcript
        if not self.asked_to_propose or goals is None or transcript is None:
            return
        self.asked_to_propose = False
        if belief is None or not transcript.turns or belief.session_id != goals.session_id:
            self.get_logger().warning("no goals are proposed before anything was said")
            return
        self.busy = True
        known, about = belief, transcript.of_speaker(goals.speaker_id)
        scene, manager = self.scene_text, self.manager

        def job(cancel: threading.Event) -> GoalSet:
            return manager.propose(
                known,
                about,
                self.generator,
                self.values.task,
                goals,
                scene=scene,
                seed=self.values.seed + known.turn,
                deadline_s=self.values.deadline_s,
                cancel=cancel,
            )

        def then(edited: GoalSet | None, error: BaseException | None) -> None:
            self.busy = False
            if edited is None:
                self.get_logger().error(f"no goals could be proposed: {error}")
            elif self.order.answer(edited):
                self.publish()
            self.answer()

        self.worker.submit(job, then)

    def on_edit(
        self, request: EditGoals.Request, response: EditGoals.Response
    ) -> EditGoals.Response:
        """Answers ``edit_goals``: a person's edit, at once."""
        goals = self.order.goals
        if goals is None or not self.active:
            response.message = "no session is running: start dialog, then edit its goals"
            return response
        try:
            edited = self.manager.edit_by_person(
                goals,
                add=list(request.add),
                remove=list(request.remove),
                pin=list(request.pin),
                unpin=list(request.unpin),
                likeliest=[h.goal.id for h in self.order.belief.hypotheses]
                if self.order.belief
                else (),
            )
        except InputError as error:
            response.message = str(error)
            return response
        self.order.answer(edited)
        self.publish()
        response.success = True
        response.goals = goal_set_to_msg(edited, self.header())
        return response

    def publish(self) -> None:
        assert self.order.goals is not None
        self.keep_unwanted()
        self.goals.publish(goal_set_to_msg(self.order.goals, self.header()))


def main() -> int:
    return run(GoalManagerNode)


if __name__ == "__main__":
    raise SystemExit(main())
