"""Two layouts as one."""

import pytest

from good_ros.core.errors import InputError, ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.inference.backends import BOTH, make_scorer
from good_ros.inference.layout import Layout
from good_ros.inference.pooling import GOAL_LAST_SHARE, PooledScorer, pooled
from good_ros.inference.scripted_scorer import ScriptedScorer

GOALS = (unspecified_goal(), Goal("g1", "tea made"))
LAST = {("Unspecified", "tea"): -4.0, ("tea made", "tea"): -1.0}
FIRST = {("Unspecified", "tea"): -8.0, ("tea made", "tea"): -3.0}


def scorer(failures=0):
    unspecified = unspecified_goal().text
    tables = [
        {(unspecified if g == "Unspecified" else g, u): v for (g, u), v in t.items()}
        for t in (LAST, FIRST)
    ]
    return PooledScorer(
        [ScriptedScorer(tables[0]), ScriptedScorer(tables[1], failures)], (0.25, 0.75)
    )


def test_log_likelihoods_are_the_weighted_mean():
    session = scorer().session()
    session.set_goals(GOALS)
    session.append("What?", "tea")
    unspecified, tea = (goal.id for goal in GOALS)
    assert session.log_likelihoods() == {unspecified: (-7.0,), tea: (-2.5,)}
    assert session.what_if("What?", ["tea", "tea"]) == {unspecified: (-7.0,) * 2, tea: (-2.5,) * 2}
    assert session.tokens_scored == 2 * (2 + 4)
    session.close()


def test_one_that_fails_can_be_asked_again():
    session = scorer(failures=1).session()
    session.set_goals(GOALS)
    session.append("What?", "tea")
    with pytest.raises(ModelError, match="down"):
        session.log_likelihoods()
    assert session.log_likelihoods()[GOALS[1].id] == (-2.5,)


def test_pooling_nothing_is_nothing_and_unlike_rows_are_refused():
    assert pooled([(), ()], (0.5, 0.5)) == ()
    with pytest.raises(ValueError, match="zip"):
        pooled([(1.0,), ()], (0.5, 0.5))


@pytest.mark.model
@pytest.mark.timeout(300)
def test_both_layouts_of_a_real_model(small_model):
    made = {layout: make_scorer(str(small_model), layout=layout) for layout in (*Layout, BOTH)}
    found = {}
    for layout, one in made.items():
        session = one.session()
        session.set_goals(GOALS)
        session.append("What would you like?", "A cup of tea, please.")
        found[layout] = session.log_likelihoods()
        session.close()
    for goal in GOALS:
        (last,), (first,), (both,) = (
            found[layout][goal.id] for layout in (*reversed(Layout), BOTH)
        )
        expected = GOAL_LAST_SHARE * last + (1 - GOAL_LAST_SHARE) * first
        assert both == pytest.approx(expected, abs=1e-6)
    made[BOTH].self_test()
    for one in made.values():
        one.close()


def test_there_is_no_other_layout():
    with pytest.raises((ValueError, InputError)):
        make_scorer("small", layout="goal_nowhere")
