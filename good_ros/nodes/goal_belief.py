"""The goal belief node: a posterior over goals for each transcript and goal set (GOOD, III-C)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import SimpleNamespace

from rclpy.clock import Clock, ClockType
from rclpy.timer import Timer

from good_ros.core.belief import Belief
from good_ros.core.dialog import Transcript
from good_ros.core.errors import ModelCancelled
from good_ros.inference.backends import AUTO, BACKENDS, DTYPES, LAYOUTS, make_scorer
from good_ros.inference.layout import DEFAULT_LAYOUT
from good_ros.inference.scorer import DEFAULT_CACHE_MIB
from good_ros.inference.tracker import BeliefTracker, SpeakerTrackers
from good_ros.language.acts import CHANGED_MIND
from good_ros.msg import GoalBelief, GoalSet
from good_ros.nodes.base import GoodNode, run
from good_ros.nodes.convert import belief_to_msg, goal_set_from_msg
from good_ros.nodes.parameters import DEADLINE, SCORING_MODEL, SERVED_MODEL, Parameter
from good_ros.nodes.qos import LATCHED, LATCHED_STREAM
from good_ros.nodes.transcripts import TranscriptReader
from good_ros.turns.belief import BeliefOrder

RETRY_S = 5.0


class GoalBeliefNode(GoodNode):
    """Publishes the belief for each new pair of transcript and goals."""

    NAME = "goal_belief"
    PARAMETERS = (
        SCORING_MODEL,
        SERVED_MODEL,
        DEADLINE,
        Parameter(
            "backend",
            AUTO,
            "What runs the scoring model; auto takes vllm for a URL, transformers for a folder, "
            "else llama_cpp.",
            choices=BACKENDS,
        ),
        Parameter(
            "layout",
            DEFAULT_LAYOUT.value,
            "Where the prompt tells the goal: goal_last beside the question that is answered, "
            "goal_first before the dialog (the paper's); both pools the two, at the cost of both.",
            choices=LAYOUTS,
        ),
        Parameter(
            "cache_mib",
            DEFAULT_CACHE_MIB,
            "Keys and values kept between turns at most, in MiB; past it the least likely goals "
            "are read anew.",
            1.0,
            1_000_000.0,
        ),
        Parameter("device", "cpu", "Device of the transformers back end, such as cuda or cuda:1."),
        Parameter(
            "dtype",
            DTYPES[0],
            "Number format of the transformers back end.",
            choices=DTYPES,
        ),
        Parameter(
            "evidence",
            "dialog",
            "What counts: the whole dialog, or the last turn alone (the paper's experiments).",
            choices=("dialog", "last_turn"),
        ),
        Parameter(
            "temper",
            1.0,
            "Factor on every log-likelihood; under 1 makes the belief less sure.",
            0.0,
            10.0,
        ),
        Parameter(
            "forgetting",
            1.0,
            "Factor on a turn's log-likelihood for each turn since; 1 forgets nothing.",
            0.0,
            1.0,
        ),
        Parameter(
            "changed_mind",
            CHANGED_MIND,
            "Factor on what was said before a person says that they changed their mind; 1 counts "
            "it in full.",
            0.0,
            1.0,
        ),
    )

    def setup(self, values: SimpleNamespace) -> None:
        self.scorer = self.keep(
            make_scorer(
                values.model,
                values.backend,
                values.layout,
                cache_mib=values.cache_mib,
                device=values.device,
                dtype=values.dtype,
                served_model=values.served_model,
                deadline_s=values.deadline_s,
            )
        )
        self.scorer.self_test()
        self.tracker = self.keep(
            SpeakerTrackers(
                lambda: BeliefTracker(
                    self.scorer,
                    temper=values.temper,
                    forgetting=values.forgetting,
                    evidence=values.evidence,
                    changed_mind=values.changed_mind,
                )
            )
        )
        self.order = BeliefOrder()
        self.busy = False
        self.retry: Timer | None = None
        self.at_cleanup(self.end_retry)
        self.last: Belief | None = None
        self.belief = self.publisher(GoalBelief, "goal_belief", LATCHED)
        TranscriptReader(self.listen, self.on_transcript)
        self.listen(GoalSet, "goals", self.on_goals, LATCHED_STREAM)

    def start(self) -> None:
        self.busy = False
        self.compute()

    def facts(self) -> Mapping[str, str]:
        facts = {"model": self.scorer.model_name}
        if self.last is not None:
            facts |= {
                "turn": str(self.last.turn),
                "seconds of the last belief": f"{self.last.seconds:.2f}",
                "tokens scored": str(self.last.tokens_scored),
                "tokens reused": str(self.last.tokens_reused),
            }
        return facts

    def on_transcript(self, transcript: Transcript) -> None:
        if not self.order.hear_transcript(transcript):
            self.get_logger().warning(f"transcript ignored: turn {transcript.turn} is an older one")
        self.compute()

    def on_goals(self, message: GoalSet) -> None:
        if not self.order.hear_goals(goal_set_from_msg(message)):
            self.get_logger().warning(f"goals ignored: version {message.version} is an older one")
        self.compute()

    def compute(self) -> None:
        """Compute the belief that is due, if one is and none is being computed."""
        due = self.order.due()
        if due is None or self.busy or not self.active:
            return
        transcript, goals = due
        self.busy = True

        def job(cancel: threading.Event) -> Belief:
            return self.tracker.update(transcript, goals, cancel)

        def then(belief: Belief | None, error: BaseException | None) -> None:
            self.busy = False
            if belief is not None:
                if self.order.is_current(transcript):
                    self.order.done(transcript, goals)
                    self.last = belief
                    self.belief.publish(belief_to_msg(belief, self.header()))
                self.compute()
            elif not isinstance(error, ModelCancelled):
                self.get_logger().error(
                    f"the belief is unchanged: {error}; trying again in {RETRY_S:.0f} s"
                )
                self.retry_later()

        self.worker.submit(job, then)

    def retry_later(self) -> None:
        """Compute again after a while, by a clock that does not stand still in a simulation."""
        self.end_retry()
        self.retry = self.create_timer(
            RETRY_S, self.try_again, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def try_again(self) -> None:
        """Compute the belief that failed."""
        self.end_retry()
        self.compute()

    def end_retry(self) -> None:
        """Nothing is to be tried again."""
        if self.retry is not None:
            self.destroy_timer(self.retry)
            self.retry = None


def main() -> int:
    return run(GoalBeliefNode)


if __name__ == "__main__":
    raise SystemExit(main())
