"""good eval proactive: the simulated person, the belief without a model, the figure."""

import json

import pytest

from good_ros.cli import main
from good_ros.core.errors import InputError
from good_ros.experiments.proactive import (
    CommandScorer,
    Person,
    Table,
    run_sessions,
    summary,
)
from good_ros.teaching.room import Room
from good_ros.worlds.table import TableWorld


@pytest.fixture
def world():
    result = TableWorld()
    result.reset("lunch_bag")
    return result


def test_over_twenty_seeded_people_suggestions_save_commands(capsys):
    assert main(["eval", "proactive", "--json"]) == 0
    measures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert list(measures) == [
        *("n", "accepted_share", "commands_with", "commands_without", "reduction"),
    ]
    assert measures["n"] == 20
    assert measures["reduction"] >= 0.3
    assert 0.5 < measures["accepted_share"] < 1
    share = 1 - measures["commands_with"] / measures["commands_without"]
    assert measures["reduction"] == pytest.approx(share)


def test_every_session_ends_with_what_was_wanted_and_nothing_else(world):
    for without, having in run_sessions(range(8), world):
        assert without.complete
        assert having.complete
        assert without.offered == 0
        assert having.commands <= without.commands


def test_people_differ_from_their_words_and_are_the_same_for_a_seed():
    people = [Person.draw(seed) for seed in range(20)]
    assert people == [Person.draw(seed) for seed in range(20)]
    assert any(set(p.wanted) - set(p.named) for p in people)
    assert any(set(p.named) - set(p.wanted) for p in people)
    assert any(p.particular for p in people)
    assert {p.kind for p in people} == {"confident", "careful"}


def test_the_robot_never_sees_what_was_not_said(world, tmp_path, monkeypatch):
    """The same words and answers, with other wishes behind them, lead to the same offers."""

    def offers(wanted):
        named = ("Milk", "Fork", "Spoon")
        person = Person(0, "confident", wanted, named, particular=False)
        table = Table(person, world, str(tmp_path / wanted[-1]), suggests=True)
        table.obey("pack the milk")
        monkeypatch.setattr(Person, "answer", lambda *_: table_answer)
        while table.suggest():
            continue
        return [s.label for s in table.memory.suggestions]

    from good_ros.planning.proactive import SuggestionState

    table_answer = SuggestionState.REFUSED
    first = offers(("Milk", "Carrots", "Cheerios"))
    assert first == offers(("Milk", "Spoon", "Goldfish")) == ["pack Fork"]


def test_commands_beside_the_goal_move_the_belief_and_end_the_offers(world, tmp_path):
    person = Person(0, "confident", ("Carrots", "Goldfish", "Cheerios"), ("Milk",), False)
    table = Table(person, world, str(tmp_path), suggests=True)
    sure = []
    for thing in ("carrots", "goldfish", "cheerios"):
        table.obey(f"pack the {thing}")
        belief = table.belief()
        sure.append(next(h.probability for h in belief.hypotheses if h.goal.id == "taught"))
    assert sure == sorted(sure, reverse=True)
    assert sure[-1] < 0.5
    assert table.suggest() is False
    assert table.memory.suggestions == []


def test_the_scorer_is_a_distribution_over_commands(world):
    import math

    from good_ros.core.goals import Goal, unspecified_goal

    room = Room(world.observe())
    scorer = CommandScorer(room)
    for goal in (Goal("g", "pack a lunch bag with milk and the fork"), unspecified_goal()):
        commands = [f"pack the {room.spoken(name)}" for name in scorer.things]
        total = sum(math.exp(scorer.log_likelihood(goal, c)) for c in commands)
        assert total == pytest.approx(1.0)


def test_no_sessions_are_no_figure(capsys):
    with pytest.raises(InputError):
        summary([])
    assert main(["eval", "proactive", "--sessions", "0"]) == 1
