"""Which goals are proposed, kept and removed."""

import json

import pytest

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import InputError, MalformedReply, ModelError
from good_ros.core.goals import Goal, GoalOrigin, RemovalReason, unspecified_goal
from good_ros.inference.goal_management import GoalManager
from good_ros.language.scripted import ScriptedGenerator

DIALOG = Transcript("s", (Turn(1, "What?", "Something hot"),))


def belief(*goals: tuple[Goal, float], turn: int = 1, version: int = 4) -> Belief:
    ordered = sorted(goals, key=lambda pair: -pair[1])
    hypotheses = tuple(Hypothesis(g, p, -1.0, -1.0) for g, p in ordered)
    return Belief("s", turn, version, False, hypotheses, 0.0)


def texts(goals) -> list[str]:
    return [goal.text for goal in goals]


def verdicts(**by_text: str) -> str:
    return json.dumps(by_text)


def all_fit(messages, schema) -> str:
    return json.dumps(dict.fromkeys(schema["properties"], "fits"))


def edit(manager, script, *goals, **keywords):
    return manager.edit(belief(*goals, **keywords), DIALOG, ScriptedGenerator(script), "help")


TEA, ICE, SOUP = (Goal(f"g{i}", text) for i, text in enumerate(("tea", "ice", "soup"), start=1))
UNSPECIFIED = unspecified_goal()


def test_the_first_turn_proposes_and_has_nothing_to_remove():
    edited = edit(
        GoalManager(), [json.dumps(["hot tea", "hot soup", "a bath"])], (UNSPECIFIED, 1.0)
    )
    assert texts(edited.goals) == ["Unspecified", "hot tea", "hot soup", "a bath"]
    assert [g.id for g in edited.added] == ["g1", "g2", "g3"]
    assert {g.origin for g in edited.added} == {GoalOrigin.PROPOSED}
    assert (edited.turn, edited.version) == (1, 5)


def test_nothing_is_proposed_while_a_goal_leads():
    edited = edit(GoalManager(), [all_fit], (TEA, 0.8), (ICE, 0.1), (UNSPECIFIED, 0.1))
    assert edited.added == ()
    assert edited.removed == ()
    assert edited.version == 5


def test_an_utterance_that_no_goal_explains_asks_for_goals_though_an_old_one_leads():
    """A second wish: the first goal has explained the dialog so far, not these words."""
    hypotheses = (
        Hypothesis(TEA, 0.99, -20.0, -0.7, last_log_likelihood=-13.6),
        Hypothesis(UNSPECIFIED, 0.01, -50.0, -0.7, last_log_likelihood=-12.6),
    )
    asked = Belief("s", 2, 4, False, hypotheses, 0.0)
    generator = ScriptedGenerator([json.dumps(["tea and cake", "only cake", "more tea"])])
    edited = GoalManager().edit(asked, DIALOG, generator, "help")
    together = "tea, and tea and cake"
    assert texts(edited.added) == [together, "tea and cake", "only cake", "more tea"]


def test_a_prior_counts_when_the_last_utterance_is_judged():
    hypotheses = (
        Hypothesis(TEA, 0.99, -20.0, -0.1, last_log_likelihood=-13.0),
        Hypothesis(UNSPECIFIED, 0.01, -50.0, -2.4, last_log_likelihood=-12.0),
    )
    asked = Belief("s", 2, 4, False, hypotheses, 0.0)
    assert GoalManager().edit(asked, DIALOG, ScriptedGenerator([]), "help").added == ()


def test_what_says_the_same_is_not_added_again():
    reply = json.dumps(["The tea", "a TEA.", "a bath"])
    edited = edit(GoalManager(), [all_fit, reply], (UNSPECIFIED, 0.9), (TEA, 0.1))
    assert texts(edited.added) == ["a bath"]


def test_that_it_is_wanted_is_left_out_of_a_goal():
    reply = json.dumps(["The person wants the cup put in the sink.", "a bath", "tea"])
    edited = edit(GoalManager(), [reply], (UNSPECIFIED, 1.0))
    assert texts(edited.added)[0] == "the cup put in the sink"


def test_the_model_removes_by_verdict_but_never_the_likeliest():
    generator = ScriptedGenerator([verdicts(tea="against", ice="fits", soup="against")])
    edited = GoalManager().edit(
        belief((TEA, 0.7), (ICE, 0.2), (SOUP, 0.1)), DIALOG, generator, "help"
    )
    assert [(r.goal.id, r.reason) for r in edited.removed] == [("g3", RemovalReason.MODEL)]
    shown = generator.calls[0][-1].content
    assert "- tea\n- ice\n- soup\n" in shown


def test_an_unsafe_goal_goes_for_that_reason():
    script = [verdicts(tea="fits", ice="fits", soup="unsafe")]
    edited = edit(GoalManager(), script, (TEA, 0.7), (ICE, 0.2), (SOUP, 0.1))
    assert [(r.goal.id, r.reason) for r in edited.removed] == [("g3", RemovalReason.UNSAFE)]


def test_a_model_that_finds_fault_with_every_goal_is_not_believed():
    script = [verdicts(tea="unsafe", ice="unsafe", soup="unsafe")]
    assert edit(GoalManager(), script, (TEA, 0.7), (ICE, 0.2), (SOUP, 0.1)).removed == ()


def test_pinned_goals_are_kept_whatever_the_model_says():
    pinned = Goal("g2", "ice", pinned=True)
    edited = edit(GoalManager(), [], (TEA, 0.9), (pinned, 0.1))
    assert texts(edited.goals) == ["tea", "ice"]


def test_an_unreadable_removal_removes_nothing():
    edited = edit(GoalManager(), ["I would remove soup"], (TEA, 0.7), (ICE, 0.3))
    assert edited.removed == ()


def test_an_unreadable_proposal_is_an_error():
    with pytest.raises(MalformedReply):
        edit(GoalManager(), ["let me think"], (UNSPECIFIED, 1.0))


def test_a_model_that_is_down_is_an_error():
    with pytest.raises(ModelError, match="down"):
        edit(GoalManager(), [ModelError("down")], (TEA, 0.7), (ICE, 0.3))


def test_least_likely_for_more_than_n_rounds_goes():
    manager = GoalManager(n_least_likely=2)
    goals = ((TEA, 0.7), (ICE, 0.2), (SOUP, 0.1))
    for turn in (1, 2):
        assert edit(manager, [all_fit], *goals, turn=turn).removed == ()
    third = edit(manager, [all_fit], *goals, turn=3)
    assert [(r.goal.id, r.reason) for r in third.removed] == [("g3", RemovalReason.LEAST_LIKELY)]


def test_coming_last_is_counted_in_a_row():
    manager = GoalManager(n_least_likely=1)
    edit(manager, [all_fit], (TEA, 0.7), (ICE, 0.2), (SOUP, 0.1))
    edit(manager, [all_fit], (TEA, 0.7), (SOUP, 0.2), (ICE, 0.1))
    again = edit(manager, [all_fit], (TEA, 0.7), (ICE, 0.2), (SOUP, 0.1))
    assert again.removed == ()


def test_the_cap_drops_the_least_likely_for_new_ones():
    reply = json.dumps(["run a bath", "make bread", "cut cake"])
    edited = edit(
        GoalManager(max_goals=4), [all_fit, reply], (UNSPECIFIED, 0.5), (TEA, 0.3), (ICE, 0.2)
    )
    assert texts(edited.goals) == ["Unspecified", "tea", "run a bath", "make bread", "cut cake"]
    assert [(r.goal.id, r.reason) for r in edited.removed] == [("g2", RemovalReason.OVER_CAP)]


@pytest.mark.parametrize("cap", [2, 3, 4])
def test_the_likeliest_goal_stays_however_many_are_proposed(cap):
    hypotheses = (
        Hypothesis(TEA, 0.99, -20.0, -0.7, last_log_likelihood=-13.6),
        Hypothesis(UNSPECIFIED, 0.01, -50.0, -0.7, last_log_likelihood=-12.6),
    )
    asked = Belief("s", 2, 4, False, hypotheses, 0.0)
    generator = ScriptedGenerator([json.dumps(["cake", "a bath", "a song"])])
    edited = GoalManager(max_goals=cap).edit(asked, DIALOG, generator, "help")
    assert edited.removed == ()
    proposed = ["tea, and cake", "cake", "a bath"][: cap - 1]
    assert texts(edited.goals) == ["Unspecified", "tea", *proposed]


def test_pinned_goals_count_against_the_cap():
    kept = [(Goal(f"g{i}", f"kept {i}", pinned=True), 0.1) for i in (1, 2)]
    loose = [(Goal(f"g{i}", f"loose {i}"), 0.01 * i) for i in (3, 4)]
    reply = json.dumps(["run a bath", "make bread", "cut cake"])
    manager = GoalManager(max_goals=4)
    edited = edit(manager, [all_fit, reply], (UNSPECIFIED, 0.5), *kept, *loose)
    assert texts(edited.goals) == ["Unspecified", "kept 1", "kept 2", "run a bath", "make bread"]
    assert {r.goal.id for r in edited.removed} == {"g3", "g4"}


def test_a_turn_that_is_edited_again_is_one_round():
    manager = GoalManager(n_least_likely=1)
    goals = ((TEA, 0.7), (ICE, 0.2), (SOUP, 0.1))
    for _ in range(3):
        assert edit(manager, [all_fit], *goals, turn=1).removed == ()
    assert [r.goal.id for r in edit(manager, [all_fit], *goals, turn=2).removed] == ["g3"]


def test_ids_are_not_used_again_after_a_restart():
    high = Goal("g7", "tea")
    reply = json.dumps(["run a bath", "make bread", "cut cake"])
    edited = edit(GoalManager(), [all_fit, reply], (UNSPECIFIED, 0.9), (high, 0.1))
    assert [g.id for g in edited.added] == ["g8", "g9", "g10"]


def test_ids_are_not_used_again_after_a_removal():
    manager = GoalManager()
    first = edit(
        manager, [json.dumps(["run a bath", "make bread", "cut cake"])], (UNSPECIFIED, 1.0)
    )
    kept = first.added[0]
    second = edit(
        manager,
        [all_fit, json.dumps(["dust shelf", "empty bin", "feed cat"])],
        (UNSPECIFIED, 0.9),
        (kept, 0.1),
    )
    assert [g.id for g in second.added] == ["g4", "g5", "g6"]


class TestPerson:
    goals = edit(GoalManager(), [json.dumps(["tea", "ice", "soup"])], (UNSPECIFIED, 1.0))

    def test_adds_pinned_and_removes_with_the_reason(self):
        manager = GoalManager()
        edited = manager.edit_by_person(self.goals, add=["  a   bath "], remove=["g2"], pin=["g1"])
        assert texts(edited.goals) == ["Unspecified", "tea", "soup", "a bath"]
        assert edited.goals[1].pinned
        assert edited.added[0].origin is GoalOrigin.PERSON
        assert edited.added[0].id == "g4"
        assert edited.removed[0].reason is RemovalReason.PERSON
        assert edited.version == self.goals.version + 1
        assert edited.turn == self.goals.turn
        assert not manager.edit_by_person(edited, unpin=["g1"]).goals[1].pinned

    def test_a_goal_may_be_in_any_script(self):
        edited = GoalManager().edit_by_person(self.goals, add=["パンを冷蔵庫に入れる"])
        assert edited.added[0].text == "パンを冷蔵庫に入れる"
        with pytest.raises(InputError, match="already"):
            GoalManager().edit_by_person(edited, add=["パンを冷蔵庫に入れる。"])

    @pytest.mark.parametrize(
        ("keywords", "match"),
        [
            ({"remove": ["g9"]}, "g9"),
            ({"pin": ["g9"]}, "g9"),
            ({"remove": ["unspecified"]}, "Unspecified"),
            ({"add": [""]}, "1 to"),
            ({"add": ["x" * 500]}, "1 to"),
            ({"add": ["put\x1b[31m it"]}, r"U\+001B"),
            ({"add": ["Tea"]}, "already"),
            ({"add": ["a bath", "the bath"]}, "already"),
        ],
    )
    def test_bad_edits_are_refused(self, keywords, match):
        with pytest.raises(InputError, match=match):
            GoalManager().edit_by_person(self.goals, **keywords)


BREAD = "the bread put in the fridge"
BOTH = "the bread and the tomato put in the fridge"


def test_what_was_just_removed_is_not_proposed_again():
    """Seen in a real session: unsafe, and back in the same edit under another number."""
    reply = json.dumps(["clean hands", "ice", "a bath"])
    said = verdicts(tea="fits", ice="unsafe", soup="against")
    manager = GoalManager()
    edited = edit(manager, [said, reply], (UNSPECIFIED, 0.5), (TEA, 0.3), (ICE, 0.1), (SOUP, 0.1))
    assert {r.goal.text for r in edited.removed} == {"ice", "soup"}
    assert texts(edited.added) == ["clean hands", "a bath"]
    # An unsafe one stays away; one that went against what was said may come back.
    reply = json.dumps(["ice", "soup", "a walk"])
    edited = edit(manager, [all_fit, reply], (UNSPECIFIED, 0.9), (TEA, 0.1), turn=2)
    assert texts(edited.added) == ["soup", "a walk"]


def explained_by(goal: Goal, *others: Goal) -> Belief:
    """A goal leads over the dialog, but 'Unspecified' explains the last utterance best."""
    hypotheses = [Hypothesis(goal, 0.8, -1.0, -1.0, -9.0)]
    hypotheses += [Hypothesis(other, 0.1, -3.0, -1.0, -9.0) for other in others]
    hypotheses.append(Hypothesis(UNSPECIFIED, 0.1, -3.0, -1.0, -2.0))
    return Belief("s", 2, 4, False, tuple(hypotheses), 0.5)


@pytest.mark.parametrize(
    ("leading", "further", "joined"),
    [
        (BREAD, "the milk put in the sink", f"{BREAD}, and the milk put in the sink"),
        (BREAD, BOTH, None),
        (
            "the watch put in the safe",
            "the watch put in the safe, and the ring put on the desk",
            None,
        ),
        (
            "the bread put in the fridge",
            "the bread put in the fridge, and the lamp switched on",
            None,
        ),
        (
            BOTH,
            "the tomato put in the fridge, and the egg put in the sink",
            f"{BOTH}, and the egg put in the sink",
        ),
    ],
)
def test_a_further_wish_is_joined_with_the_leading_one_each_thing_said_once(
    leading, further, joined
):
    """Seen in real sessions: 'X, and Y, and X'. Where the further wish says all of it already,
    nothing is joined."""
    reply = json.dumps([further, "a bath", "a walk"])
    edited = GoalManager().edit(
        explained_by(Goal("g1", leading)), DIALOG, ScriptedGenerator([reply]), "help"
    )
    wanted = [further, "a bath", "a walk"]
    assert texts(edited.added) == ([joined, *wanted] if joined else wanted)


class TestMerging:
    def test_of_two_that_mean_the_same_the_likeliest_stays(self):
        twin = Goal("g5", "the tea")
        edited = edit(GoalManager(), [all_fit], (TEA, 0.2), (twin, 0.5), (ICE, 0.3))
        (removal,) = edited.removed
        assert removal.goal == TEA
        assert removal.reason is RemovalReason.MODEL
        assert removal.detail == "means the same as g5: the tea"

    def test_one_that_a_person_pinned_stays_whichever_is_likelier(self):
        pinned = Goal("g5", "the tea", pinned=True)
        edited = edit(GoalManager(), [all_fit], (TEA, 0.6), (pinned, 0.1), (ICE, 0.3))
        assert [r.goal for r in edited.removed] == [TEA]

    def test_two_that_a_person_pinned_both_stay(self):
        goals = [(Goal(f"g{n}", "tea", pinned=True), 0.4) for n in (5, 6)]
        assert edit(GoalManager(), [all_fit], *goals, (ICE, 0.2)).removed == ()

    def test_what_means_the_same_is_for_whom_it_is_made_to_say(self):
        manager = GoalManager(same=lambda first, second: {first, second} == {"tea", "soup"})
        edited = edit(manager, [all_fit], (TEA, 0.6), (ICE, 0.3), (SOUP, 0.1))
        assert [r.goal for r in edited.removed] == [SOUP]


def test_goals_are_proposed_on_request_though_one_leads():
    reply = json.dumps(["a bath", "tea", "a walk"])
    current = belief((TEA, 0.9), (UNSPECIFIED, 0.1))
    goals = edit(GoalManager(), [json.dumps(["tea", "ice", "soup"])], (UNSPECIFIED, 1.0))
    edited = GoalManager().propose(current, DIALOG, ScriptedGenerator([reply]), "help", goals)
    assert texts(edited.added)[-2:] == ["a bath", "a walk"]
    assert (edited.turn, edited.version) == (goals.turn, goals.version + 1)
    assert {g.id for g in goals.goals} < {g.id for g in edited.goals}
