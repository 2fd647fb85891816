"""Turns until the robot knows: the goal sets, sessions with both ways of asking, the measure."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.cli import main
from good_ros.core.errors import InputError, ModelError
from good_ros.experiments.profiles import Profile
from good_ros.experiments.questions import (
    DialogModels,
    DialogResult,
    DialogRules,
    run_dialog,
    run_dialogs,
    summary,
)
from good_ros.experiments.tasks import choose_profiles
from good_ros.experiments.wishes import candidate_goals, inwords_of, wish_of
from good_ros.inference.question_choice import CHOSEN, PLAIN, ChoiceRules
from good_ros.inference.scripted_scorer import ScriptedScorer
from good_ros.language.scripted import ScriptedGenerator
from good_ros.worlds.registry import make_world

PROFILE = Profile(
    "cold",
    "robot",
    "FloorPlan1",
    "help",
    "The bread and the egg should be put in the fridge.",
    "the task is completed",
    ({"in": ["Bread", "Fridge"]}, {"in": ["Egg", "Fridge"]}),
)
TRUE = "the bread put in the fridge, and the egg put in the fridge"


class AnyAnswer(ScriptedScorer):
    """Scores an answer by which of 'bread' and 'egg' it names and the goal does not, or the
    other way round."""

    def __init__(self):
        super().__init__({})

    def look_up(self, goal, utterance):
        said = utterance.lower()
        wrong = sum((f"the {thing} " in f"{said} ") != (f"the {thing} put in the fridge" in goal)
                    for thing in ("bread", "egg"))  # fmt: skip
        return -3.0 * wrong - 0.1 * len(goal.split())


@given(st.integers(0, 10_000), st.integers(2, 8))
def test_goal_sets_differ_in_one_thing_from_what_is_wanted(seed, count):
    for profile in choose_profiles(["robot"]):
        room = make_world("household")
        room.reset(profile.scene)
        goals, true_id = candidate_goals(profile, room.observe(), seed, count)
        texts = [goal.text for goal in goals]
        assert len(set(texts)) == len({goal.id for goal in goals}) == count
        true = next(goal.text for goal in goals if goal.id == true_id)
        assert true == inwords_of(wish_of(profile))
        assert candidate_goals(profile, room.observe(), seed, count) == (goals, true_id)


def test_a_profile_that_wants_something_else_than_things_in_places_is_refused():
    with pytest.raises(InputError, match="only things in places"):
        wish_of(Profile("x", "robot", "FloorPlan1", "help", "", "", ({"cooked": "Egg"},)))


def sessions(arm, script):
    models = DialogModels(ScriptedGenerator(script), None, AnyAnswer())
    return run_dialog(
        PROFILE,
        0,
        arm,
        models,
        DialogRules(choice=ChoiceRules(candidates=1, top_goals=6, cost=0.0), max_turns=3),
    )


def test_a_plain_session_goes_on_until_the_goal_is_known_or_the_turns_are_over():
    result = sessions(PLAIN, ["What should I move?", "What else?", "And what else?"])
    assert [q for q, *_ in result.dialog] == ["What should I move?", "What else?", "And what else?"]
    assert all(math.isnan(gain) for *_, gain, _ in result.dialog)
    assert (result.turns, result.reached) == (3, result.dialog[-1][3] > 0.8)
    assert result.tokens_written == 0


def test_a_chosen_session_asks_what_was_weighed_and_counts_what_it_took():
    def answer(messages, schema):
        told = " ".join(message.content for message in messages)
        things = [t for t in ("bread", "egg") if f"the {t} put in the fridge" in told]
        return f"No, {' and '.join(f'the {thing} ' for thing in things)}"

    result = sessions(CHOSEN, [answer] * 18)
    first = result.dialog[0]
    assert first[0].endswith("and nothing more?")
    assert first[2] > 0
    assert result.tokens_scored > 0
    assert result.tokens_written >= 6 * result.turns


def test_results_are_kept_and_gone_on_from(tmp_path):
    path = tmp_path / "progress.jsonl"
    script = ["What should I move?", "What else?"]

    def run(lines):
        return run_dialogs(
            [PROFILE],
            [0],
            lambda: DialogModels(ScriptedGenerator(lines), None, AnyAnswer()),
            DialogRules(choice=ChoiceRules(candidates=1, top_goals=2), max_turns=2),
            progress=path,
        )

    with pytest.raises(ModelError):
        run([*script, ModelError("down")])
    assert len(path.read_text().splitlines()) == 1
    results = run(["Yes. The bread and the egg ."] * 4)
    assert [r.arm for r in results] == [PLAIN, CHOSEN]
    assert run_dialogs([PROFILE], [0], lambda: pytest.fail("loaded"), DialogRules(),
                       progress=path) == results  # fmt: skip


def test_the_measure_counts_sessions_that_did_not_get_there_with_their_cap():
    rows = [
        DialogResult("a", 0, PLAIN, 8, False),
        DialogResult("a", 0, CHOSEN, 2, True, 100, 10, (("q", "a", 0.5, 0.9),) * 2),
        DialogResult("b", 0, PLAIN, 4, True),
        DialogResult("b", 0, CHOSEN, 4, True, 20, 2, (("q", "a", 0.5, 0.9),) * 4),
    ]
    assert summary(rows) == {
        "n": 2,
        "turns_chosen": 3.0,
        "turns_plain": 6.0,
        "reduction": 0.5,
        "reached_chosen": 2,
        "reached_plain": 1,
        "tokens_scored_a_question": 20.0,
        "tokens_written_a_question": 2.0,
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--seeds", "0"], "--seeds must be 1 or more"),
        (["--turns", "0"], "--turns must be 1 or more"),
        (["--goals", "1"], "--goals must be 2 or more"),
        (["--profiles", "nobody"], "nobody"),
    ],
)
def test_options_that_make_no_sense_are_told_in_one_line(options, words, capsys):
    assert main(["eval", "dialog", *options]) == 1
    error = capsys.readouterr().err.strip()
    assert words in error
    assert "\n" not in error
