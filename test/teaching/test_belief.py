"""ProVox joined with GOOD: the taught goal is a strong prior in the belief, not a certainty."""

import pytest

from good_ros.core.dialog import Transcript, Turn
from good_ros.core.goals import UNSPECIFIED_TEXT, Goal, GoalOrigin, GoalSet, unspecified_goal
from good_ros.inference.goal_management import nothing_explains
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.inference.tracker import BeliefTracker
from good_ros.teaching.profile import TAUGHT_WEIGHT

OTHER = "the fork put in the bin"
FITS, AGAINST = "And the hand sanitizer, please", "Never mind lunch, throw the fork away"
NEUTRAL = "Good morning"


@pytest.fixture
def believe(store):
    taught = store.load("confident").goal.hypothesis()
    nats = {
        # utterance: under the taught goal, under the other one, under none.
        NEUTRAL: (-10.0, -10.0, -10.0),
        FITS: (-8.0, -14.0, -12.0),
        AGAINST: (-25.0, -15.0, -18.0),
    }
    texts = (taught.text, OTHER, UNSPECIFIED_TEXT)
    scores = {(g, u): v for u, row in nats.items() for g, v in zip(texts, row, strict=True)}
    goals = (unspecified_goal(), taught, Goal("g1", OTHER))

    def belief(*said):
        tracker = BeliefTracker(ScriptedScorer(scores))
        turns = tuple(Turn(n, "?", u) for n, u in enumerate(said, start=1))
        try:
            return tracker.update(Transcript("s", turns), GoalSet("s", len(said), 1, goals))
        finally:
            tracker.close()

    return belief


def share(belief, goal_id):
    return next(h.probability for h in belief.hypotheses if h.goal.id == goal_id)


def test_what_says_nothing_leaves_the_taught_goal_as_likely_as_its_weight(believe):
    belief = believe(NEUTRAL)
    assert share(belief, "taught") == pytest.approx(TAUGHT_WEIGHT / (TAUGHT_WEIGHT + 2))
    assert belief.top.goal.origin is GoalOrigin.PERSON


def test_what_fits_makes_it_surer(believe):
    assert share(believe(NEUTRAL, FITS), "taught") > share(believe(NEUTRAL), "taught") > 0.9


def test_a_conversation_that_contradicts_it_moves_the_belief(believe):
    belief = believe(NEUTRAL, AGAINST)
    assert belief.top.goal.text == OTHER
    assert share(belief, "taught") < 0.01
    # New goals are looked for as soon as nothing in the set explains what was said.
    assert not nothing_explains(belief)


def test_one_taught_goal_yields_after_the_other_was_supported(believe):
    # It had been confirmed before: then a single contradiction moves it less, two of them more.
    once, twice = believe(FITS, AGAINST), believe(FITS, AGAINST, AGAINST)
    assert share(twice, "taught") < share(once, "taught") < share(believe(FITS), "taught")
    assert twice.top.goal.text == OTHER


def test_it_is_not_pinned_so_that_it_can_be_removed(store):
    goal = store.load("careful").goal.hypothesis(5.0)
    assert (goal.pinned, goal.prior, goal.id) == (False, 5.0, "taught")
