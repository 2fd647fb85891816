"""The bench of the belief, on a stand-in that counts."""

import pytest

from good_ros.experiments.bench_belief import BeliefCost, TurnCost, make_workload, run
from good_ros.inference.scorer import Score


class CountingSession:
    """Every utterance has -1 nats under every goal; a turn reads 10 tokens a goal."""

    def __init__(self):
        self.goals, self.turns, self.tokens_scored, self.tokens_reused = [], 0, 0, 0

    def set_goals(self, goals):
        self.goals = list(goals)

    def append(self, question, utterance):
        self.turns += 1

    def log_likelihoods(self, cancel=None):
        self.tokens_scored += 10 * len(self.goals)
        return {g.id: (-1.0,) * self.turns for g in self.goals}

    def close(self):
        """Nothing is held."""


class CountingBench:
    baseline = "again"

    def __init__(self):
        self.recomputed = []
        self.bare = []
        self.scorer = self

    def session(self):
        return CountingSession()

    def score(self, contexts, continuation):
        return [Score(-1.0, (-1.0,))] * len(contexts)

    def chat(self, goal, dialog):
        return list(range(20 * len(dialog))), 20 * len(dialog) - 4

    def recompute(self, chats):
        self.recomputed.append([len(tokens) for tokens, _ in chats])
        return [-1.0 - 0.08 * (len(self.recomputed) == 2)] * len(chats)

    def bare_forward(self, chats):
        self.bare.append([(len(tokens), start) for tokens, start in chats])


def test_every_turn_is_measured_against_the_same_scores():
    bench, work = CountingBench(), make_workload(3, 3, seed=0)
    *_, cost = run(bench, work)
    assert bench.recomputed == [[20] * 3, [40] * 3, [60] * 3]
    assert bench.bare == [[(10, 6)] * 3] * 3
    assert [t.new_tokens for t in cost.turns] == [30, 30, 30]
    assert [t.largest_difference for t in cost.turns] == pytest.approx([0, 0.02, 0])


def test_some_turns_can_be_passed_over():
    bench = CountingBench()
    *_, cost = run(bench, make_workload(2, 5, seed=0), every=2)
    assert [t.turn for t in cost.turns] == [2, 4, 5]


def test_ratios():
    cost = BeliefCost(
        [
            TurnCost(1, {"ours": 4.0, "bare_forward": 2.0, "again": 4.0}, 9, 0.0),
            TurnCost(2, {"ours": 1.0, "bare_forward": 1.0, "again": 8.0}, 9, 0.1),
            TurnCost(3, {"ours": 2.0, "bare_forward": 1.0, "again": 20.0}, 9, 0.0),
        ]
    )
    result = cost.as_json("again")
    assert result["ratio_last_turn"] == 10.0
    assert result["ratio_total"] == pytest.approx(32 / 7)
    assert result["ratio_to_bare_forward"] == 2.0
    assert result["turn_growth"] == 2.0
    assert result["max_abs_logprob_diff_per_token"] == 0.1


def test_the_workload_is_the_same_for_a_seed():
    assert make_workload(20, 20, 1) == make_workload(20, 20, 1)
    assert make_workload(20, 20, 1) != make_workload(20, 20, 2)
    work = make_workload(20, 20, 1)
    assert len({g.text for g in work.goals}) == 20
    assert work.goals[0].is_unspecified
