"""The tracker gives, for any jump of transcript and goals, the belief of a full recompute."""

import math
from dataclasses import replace

import pytest

from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import ModelCancelled, ModelError
from good_ros.core.goals import UNSPECIFIED_TEXT, Goal, GoalSet, unspecified_goal
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.inference.tracker import MAX_TRACKERS, BeliefTracker, SpeakerTrackers

TABLE = {
    (UNSPECIFIED_TEXT, "hot"): -4.0,
    ("tea", "hot"): -2.0,
    ("ice", "hot"): -9.0,
    (UNSPECIFIED_TEXT, "cold"): -4.0,
    ("tea", "cold"): -8.0,
    ("ice", "cold"): -1.0,
}


def transcript(*said: str, session: str = "s") -> Transcript:
    return Transcript(session, tuple(Turn(i, "q", u) for i, u in enumerate(said, start=1)))


def goals(*texts: str, turn: int = 1, session: str = "s") -> GoalSet:
    named = tuple(Goal(f"g{text}", text) for text in texts)
    return GoalSet(session, turn, 1, (unspecified_goal(), *named))


def probabilities(belief):
    return {h.goal.text: h.probability for h in belief.hypotheses}


def test_a_late_goal_is_scored_over_the_whole_dialog():
    tracker = BeliefTracker(ScriptedScorer(TABLE))
    tracker.update(transcript("hot"), goals("tea"))
    late = tracker.update(transcript("hot", "cold"), goals("tea", "ice", turn=2))
    whole = BeliefTracker(ScriptedScorer(TABLE)).update(
        transcript("hot", "cold"), goals("tea", "ice", turn=2)
    )
    assert probabilities(late) == pytest.approx(probabilities(whole))
    assert late.top.log_likelihood == pytest.approx(-8.0)


def test_a_session_is_gone_on_with_and_a_new_one_begins_anew():
    scorer = ScriptedScorer(TABLE)
    tracker = BeliefTracker(scorer)
    tracker.update(transcript("hot"), goals("tea"))
    tracker.update(transcript("hot", "cold"), goals("tea", turn=2))
    assert scorer.sessions == 1
    fresh = tracker.update(transcript("cold", session="n"), goals("tea", session="n"))
    assert scorer.sessions == 2
    assert (fresh.session_id, fresh.turn) == ("n", 1)
    assert fresh.top.goal.is_unspecified


def test_a_transcript_that_differs_in_the_past_begins_anew():
    scorer = ScriptedScorer(TABLE)
    tracker = BeliefTracker(scorer)
    tracker.update(transcript("hot"), goals("tea"))
    belief = tracker.update(transcript("cold"), goals("tea"))
    assert scorer.sessions == 2
    assert belief.top.goal.is_unspecified


def test_a_failure_leaves_the_next_call_right():
    tracker = BeliefTracker(ScriptedScorer(TABLE, failures=1))
    with pytest.raises(ModelError, match="down"):
        tracker.update(transcript("hot"), goals("tea"))
    belief = tracker.update(transcript("hot", "cold"), goals("tea", "ice", turn=2))
    whole = BeliefTracker(ScriptedScorer(TABLE)).update(
        transcript("hot", "cold"), goals("tea", "ice", turn=2)
    )
    assert probabilities(belief) == pytest.approx(probabilities(whole))


def test_a_closed_tracker_scores_no_more():
    tracker = BeliefTracker(ScriptedScorer(TABLE))
    tracker.close()
    with pytest.raises(ModelCancelled):
        tracker.update(transcript("hot"), goals("tea"))


def test_of_many_speakers_only_the_last_are_held_and_all_are_believed_alike():
    scorer = ScriptedScorer(TABLE)
    trackers = SpeakerTrackers(lambda: BeliefTracker(scorer))
    said = [Turn(n, "q", "hot", f"person {n}") for n in range(1, 3 * MAX_TRACKERS)]
    for turn in said:
        mine = replace(goals("tea", turn=turn.turn), speaker_id=turn.speaker_id)
        whole = Transcript("s", tuple(said[: turn.turn]))
        belief = trackers.update(whole, mine)
        assert probabilities(belief)["tea"] == pytest.approx(1 / (1 + math.exp(-2.0)))
        assert trackers.held <= MAX_TRACKERS
    again = Transcript("s", (*said, Turn(len(said) + 1, "q", "cold", "person 1")))
    mine = replace(goals("tea", turn=again.turn), speaker_id="person 1")
    belief = trackers.update(again, mine)
    assert probabilities(belief)["tea"] == pytest.approx(1 / (1 + math.exp(2.0)))
    trackers.close()
    assert trackers.held == 0
