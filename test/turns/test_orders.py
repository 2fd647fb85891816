"""Belief, goal manager and executor: each answers every turn once, whatever is lost or late."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn, TurnOutcome
from good_ros.core.goals import Goal, GoalSet, unspecified_goal
from good_ros.core.plan import Step, StepResult, TaskState
from good_ros.turns.belief import BeliefOrder
from good_ros.turns.executor import ExecutorOrder
from good_ros.turns.goals import GoalOrder


def transcript(turns: int, session: str = "s", outcome=TurnOutcome.PENDING) -> Transcript:
    return Transcript(
        session, tuple(Turn(t, "q", f"u{t}", outcome=outcome) for t in range(1, turns + 1))
    )


def goals(turn: int, version: int, session: str = "s") -> GoalSet:
    return GoalSet(session, turn, version, (unspecified_goal(), Goal("g1", "tea")))


def belief(turn: int, version: int, settled: bool, session: str = "s") -> Belief:
    hypotheses = tuple(
        Hypothesis(goal, 0.5, -1.0, -0.7) for goal in (unspecified_goal(), Goal("g1", "tea"))
    )
    return Belief(session, turn, version, settled, hypotheses, 0.69)


class TestBeliefOrder:
    def test_a_turn_is_due_twice_pass_1_and_settled(self):
        order = BeliefOrder()
        order.hear_goals(goals(0, 1))
        order.hear_transcript(transcript(1))
        due = order.due()
        assert (due[0].turn, due[1].version) == (1, 1)
        order.done(*due)
        assert order.due() is None
        order.hear_goals(goals(1, 2))
        assert order.due()[1].version == 2

    def test_nothing_is_due_before_the_first_utterance(self):
        order = BeliefOrder()
        order.hear_goals(goals(0, 1))
        order.hear_transcript(transcript(0))
        assert order.due() is None

    def test_messages_of_another_session_do_not_mix(self):
        order = BeliefOrder()
        order.hear_goals(goals(0, 1, session="old"))
        order.hear_transcript(transcript(1))
        assert order.due() is None

    def test_goals_of_a_later_turn_wait_for_their_transcript(self):
        order = BeliefOrder()
        order.hear_transcript(transcript(1))
        order.hear_goals(goals(2, 3))
        assert order.due() is None
        order.hear_transcript(transcript(2))
        assert order.due() is not None

    def test_older_messages_are_ignored(self):
        order = BeliefOrder()
        order.hear_transcript(transcript(2))
        order.hear_transcript(transcript(1))
        order.hear_goals(goals(2, 3))
        order.hear_goals(goals(1, 2))
        assert order.due()[0].turn == 2
        assert order.due()[1].version == 3

    def test_a_transcript_with_the_executors_report_is_not_a_new_turn(self):
        order = BeliefOrder()
        order.hear_goals(goals(1, 2))
        order.hear_transcript(transcript(1))
        order.done(*order.due())
        order.hear_transcript(transcript(1, outcome=TurnOutcome.ACTED))
        assert order.due() is None

    @given(st.data())
    def test_any_order_of_arrival_ends_with_the_same_belief(self, data):
        messages = [transcript(t) for t in (0, 1, 2, 3)] + [
            goals(turn, version) for turn, version in ((0, 1), (1, 2), (2, 3), (3, 4))
        ]
        order = BeliefOrder()
        last = None
        for message in data.draw(st.permutations([*messages, *messages])):
            if isinstance(message, Transcript):
                order.hear_transcript(message)
            else:
                order.hear_goals(message)
            while due := order.due():
                last = due
                order.done(*due)
        assert last is not None
        assert (last[0].turn, last[1].turn, last[1].version) == (3, 3, 4)


class TestGoalOrder:
    def test_answers_pass_1_once(self):
        order = GoalOrder()
        assert order.hear_transcript(transcript(0))
        order.begin(goals(0, 1))
        order.hear_transcript(transcript(1))
        order.hear_belief(belief(1, 1, settled=False))
        assert order.due() is not None
        assert order.answer(goals(1, 2))
        assert order.due() is None
        order.hear_belief(belief(1, 1, settled=False))
        assert order.due() is None

    def test_a_settled_belief_is_not_answered(self):
        order = GoalOrder()
        order.begin(goals(0, 1))
        order.hear_transcript(transcript(1))
        order.hear_belief(belief(1, 1, settled=True))
        assert order.due() is None

    def test_a_persons_edit_in_between_makes_the_answer_void(self):
        order = GoalOrder()
        order.begin(goals(0, 1))
        order.hear_transcript(transcript(1))
        order.hear_belief(belief(1, 1, settled=False))
        assert order.answer(goals(0, 2))  # the person's
        assert not order.answer(goals(1, 2))  # the model's, made for version 1
        assert order.due() is None
        order.hear_belief(belief(1, 2, settled=False))
        assert order.due() is not None

    @pytest.mark.parametrize("settled", [False, True])
    def test_goals_are_recovered_from_the_latched_belief(self, settled):
        order = GoalOrder()
        assert order.hear_transcript(transcript(3))
        order.begin(goals(0, 1))
        assert order.hear_belief(belief(3, 7, settled=settled))
        assert order.goals.version == 7
        assert [g.id for g in order.goals.goals] == ["unspecified", "g1"]
        assert (order.due() is None) == settled

    def test_a_late_belief_of_an_old_session_is_ignored(self):
        order = GoalOrder()
        order.hear_transcript(transcript(1))
        order.begin(goals(0, 1))
        assert not order.hear_belief(belief(9, 12, settled=False, session="old"))
        assert order.goals == goals(0, 1)
        assert order.due() is None

    def test_unchanged_answers_the_turn(self):
        order = GoalOrder()
        order.begin(goals(0, 1))
        answer = order.unchanged(belief(1, 1, settled=False))
        assert (answer.turn, answer.version) == (1, 2)
        assert answer.goals == goals(0, 1).goals


class TestExecutorOrder:
    def test_acts_once_on_each_settled_belief(self):
        order = ExecutorOrder()
        assert order.hear_transcript(transcript(1))
        order.hear_belief(belief(1, 2, settled=False))
        assert order.due() is None
        order.hear_belief(belief(1, 2, settled=True))
        assert order.due()[0].turn == 1
        order.begin(1)
        order.hear_belief(belief(1, 3, settled=True))
        assert order.due() is None

    def test_a_belief_waits_for_its_transcript(self):
        order = ExecutorOrder()
        order.hear_transcript(transcript(1))
        order.hear_belief(belief(2, 3, settled=True))
        assert order.due() is None
        order.hear_transcript(transcript(2))
        assert order.due() is not None

    def test_started_again_it_does_not_act_twice_on_a_reported_turn(self):
        done = StepResult(Step("OpenObject", "Fridge|1"), True, turn=1)
        reported = Turn(1, "q", "u", outcome=TurnOutcome.ACTED, actions=(done,))
        order = ExecutorOrder()
        assert order.hear_transcript(Transcript("s", (reported,)))
        order.hear_belief(belief(1, 2, settled=True))
        assert order.due() is None
        assert order.history == (done,)
        status = order.resumed_status()
        assert (status.turn, status.state, status.history) == (1, TaskState.SUCCEEDED, (done,))

    def test_started_again_it_acts_on_the_turn_that_was_cut_off(self):
        reported = Turn(1, "q", "u", outcome=TurnOutcome.ACTED)
        pending = Turn(2, "q", "u2")
        order = ExecutorOrder()
        order.hear_transcript(Transcript("s", (reported, pending)))
        order.hear_belief(belief(2, 3, settled=True))
        assert order.due()[0].turn == 2

    def test_a_turn_that_was_abandoned_is_due_again(self):
        order = ExecutorOrder()
        order.hear_transcript(transcript(1))
        order.hear_belief(belief(1, 2, settled=True))
        order.begin(1)
        order.abandon()
        assert order.due() is not None
        order.begin(1)
        order.finish(())
        order.abandon()
        assert order.due() is None

    def test_a_new_session_starts_from_nothing(self):
        order = ExecutorOrder()
        order.hear_transcript(transcript(3))
        order.hear_belief(belief(3, 4, settled=True))
        order.begin(3)
        assert order.hear_transcript(replace(transcript(1), session_id="new"))
        assert order.due() is None
        order.hear_belief(belief(1, 2, settled=True, session="new"))
        assert order.due() is not None
