"""Teaching, commands and suggestions on a real graph."""

import io
import json

import pytest
from rich.console import Console

from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.language.scripted import ScriptedGenerator
from good_ros.msg import Suggestion, TaskStatus
from good_ros.node_names import NODES
from good_ros.nodes.console import ConsoleNode
from good_ros.srv import AnswerSuggestion, Teach

from .harness import ScriptedStack, all_fit

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]

GOAL = "pack a lunch bag with the skittles, the rice krispie and the hand sanitizer"
PACK = "pack the skittles"


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    def build(*said, nodes=NODES, script=None, taught_nats=-10.0, **keywords):
        said = (PACK, *said)
        texts = {UNSPECIFIED_TEXT: -15.0, GOAL: taught_nats, "lunch": -16.0, "tea": -17.0}
        scores = {(g, u): v for u in said for g, v in texts.items()}
        script = script or {
            "dialog": [f"Question {n}?" for n in range(len(said) + 1)],
            "goal_manager": [all_fit] * len(said),
        }
        monkeypatch.setattr(
            "good_ros.nodes.teacher.make_generator", lambda *_: ScriptedGenerator([])
        )
        common = {
            "world": "table",
            "scene": "lunch_bag",
            "person": "confident",
            "people_folder": str(tmp_path / "people"),
            "suggestion_pause_s": 0.0,
            "help_deadline_s": 0.0,
            **keywords,
        }
        return ScriptedStack(monkeypatch, tmp_path, script, scores, nodes=nodes, **common)

    return build


def call(run, kind, name, request):
    client = run.probe.create_client(kind, name)
    run.wait(client.service_is_ready, name)
    answer = client.call_async(request)
    run.wait(answer.done, f"the answer of {name}")
    return answer.result()


def teach(run, text, person="anna"):
    return call(run, Teach, "teach", Teach.Request(person_id=person, text=text))


def offered(run, state=Suggestion.OFFERED, number=1):
    def is_there():
        last = run.probe.last("suggestion")
        return last is not None and (last.suggestion_id, last.state) == (number, state)

    run.wait(is_there, f"suggestion {number} in state {state}")
    return run.probe.last("suggestion")


def answer(run, accept, **fields):
    last = run.probe.last("suggestion")
    fields = {"session_id": last.session_id, "suggestion_id": last.suggestion_id, **fields}
    request = AnswerSuggestion.Request(accept=accept, **fields)
    return call(run, AnswerSuggestion, "answer_suggestion", request)


def done(run):
    return [r.step.label for r in run.probe.last("task_status").history if r.success]


def test_a_command_is_done_by_its_taught_meaning_and_the_goal_is_a_strong_prior(make):
    with make() as run:
        run.wait(lambda: run.probe.last("goals") is not None, "the first goals")
        goals = {g.text: g for g in run.probe.last("goals").goals}
        assert goals[GOAL].prior == 20.0
        assert not goals[GOAL].pinned
        run.turn(1, PACK)
        assert done(run) == [
            "pack Skittles: pick up Skittles",
            "pack Skittles: put Skittles in LunchBag",
        ]
        status = run.probe.last("task_status")
        assert status.state == TaskStatus.SUCCEEDED
        assert list(status.conditions_true) == [True, False, False]
        assert run.probe.heard["suggestion"] == []


def test_what_is_said_against_the_taught_goal_moves_the_belief(make):
    script = {
        "dialog": ["Question 1?", "Question 2?"],
        "goal_manager": [json.dumps(["lunch", "tea", "lunch and tea"]), all_fit],
    }
    texts = {"lunch": -16.0, "tea": -17.0, "lunch and tea": -18.0}
    with make(script=script, taught_nats=-25.0) as run:
        run.scorer.table |= {(g, PACK): v for g, v in texts.items()}
        run.turn(1, PACK)
        belief = run.probe.settled()[-1]
        taught = next(h for h in belief.hypotheses if h.goal.text == GOAL)
        assert taught.probability < 0.01
        # The command is done all the same.
        assert len(done(run)) == 2


def test_a_person_teaches_on_the_graph_and_their_words_count_at_once(make):
    with make("stow the milk", nodes=(*NODES, "teacher"), person="") as run:
        run.wait_asked(1)
        refused = teach(run, "stow X means fly X")
        assert not refused.success
        assert "I do not know how to 'fly X'" in refused.reply
        kept = teach(run, "stow X means pick up X and put it in the bin")
        assert kept.success
        assert "in simulation, and it works" in kept.reply
        assert not teach(run, "stow X", person="../anna").success
        run.scorer.table |= {(UNSPECIFIED_TEXT, "stow the milk"): -1.0}
        run.generators["goal_manager"]._lines = iter(
            [json.dumps(["milk stowed", "tea", "lunch"]), all_fit]
        )
        for text in ("milk stowed", "tea", "lunch"):
            run.scorer.table |= {(text, "stow the milk"): -5.0}
        run.wait_asked(1)
        run.probe.say("stow the milk", "u1", speaker_id="anna")
        run.wait_turn(1)
        # 'Unspecified' is the likeliest still: a command is done whatever it is for.
        assert run.probe.settled()[-1].hypotheses[0].goal.text == UNSPECIFIED_TEXT
        assert done(run) == ["stow Milk: pick up Milk", "stow Milk: put Milk in Bin"]


def test_a_person_who_taught_nothing_is_told_of(make, capfd):
    with make(nodes=("goal_manager", "dialog"), person="ana") as run:
        run.wait(lambda: bool(run.probe.heard["goals"]), "the goals")
    (line,) = [x for x in capfd.readouterr().err.splitlines() if "ana has taught nothing" in x]
    assert "careful, confident" in line


class TestSuggestions:
    def test_one_is_offered_accepted_and_done_and_then_the_next(self, make):
        with make(proactive=True) as run:
            run.turn(1, PACK)
            suggestion = offered(run)
            assert suggestion.text == "Shall I pack RiceKrispie?"
            assert (suggestion.goal, suggestion.turn) == (GOAL, 1)
            assert suggestion.probability > 0.9
            assert len(done(run)) == 2
            assert answer(run, True).success
            following = offered(run, number=2)
            assert following.text == "Shall I pack HandSanitizer?"
            assert done(run)[-1] == "pack RiceKrispie: put RiceKrispie in LunchBag"
            states = [(s.suggestion_id, s.state) for s in run.probe.heard["suggestion"]]
            assert states == [(1, 0), (1, 1), (2, 0)]
            monitor = run.stack.nodes["monitor"]
            run.wait(lambda: len(monitor.view.sections["suggestions"]) == 2, "the view")
            shown = [s["state"] for s in monitor.view.sections["suggestions"]]
            assert shown == ["accepted", "offered"]
            assert len((monitor.folder / "suggestions.jsonl").read_text().splitlines()) == 3

    @pytest.mark.parametrize("restarts", [False, True])
    def test_a_refused_one_is_not_offered_again(self, make, restarts):
        with make("pack the fork", proactive=True) as run:
            run.turn(1, PACK)
            offered(run)
            assert answer(run, False).success
            offered(run, Suggestion.REFUSED)
            if restarts:
                run.restart("executor")
            run.turn(2, "pack the fork")
            assert offered(run, number=2).text == "Shall I pack HandSanitizer?"

    def test_one_that_stood_is_answered_after_a_restart(self, make):
        with make("Yes please.", proactive=True) as run:
            run.turn(1, PACK)
            offered(run)
            run.restart("executor")
            run.wait(lambda: len(run.probe.heard["suggestion"]) == 2, "that it still stands")
            run.turn(2, "Yes please.")
            assert done(run)[-1] == "pack RiceKrispie: put RiceKrispie in LunchBag"
            states = [s.state for s in run.probe.heard["suggestion"] if s.suggestion_id == 1]
            assert states == [Suggestion.OFFERED, Suggestion.OFFERED, Suggestion.ACCEPTED]

    @pytest.mark.parametrize(
        ("said", "state", "steps"),
        [
            ("Yes please.", Suggestion.ACCEPTED, 4),
            ("No.", Suggestion.REFUSED, 2),
            ("pack the fork", Suggestion.IGNORED, 4),
        ],
    )
    def test_a_word_of_mouth_answers_it(self, make, said, state, steps):
        with make(said, proactive=True) as run:
            run.turn(1, PACK)
            offered(run)
            run.turn(2, said)
            assert len(done(run)) == steps
            states = [s.state for s in run.probe.heard["suggestion"] if s.suggestion_id == 1]
            assert states == [Suggestion.OFFERED, state]
            if state == Suggestion.ACCEPTED:
                assert done(run)[-1] == "pack RiceKrispie: put RiceKrispie in LunchBag"

    def test_nobody_answers_in_time(self, make):
        with make(proactive=True, suggestion_deadline_s=0.1) as run:
            run.turn(1, PACK)
            offered(run, Suggestion.IGNORED)
            assert len(done(run)) == 2

    def test_an_answer_to_what_does_not_stand_is_refused_with_a_reason(self, make):
        with make(proactive=True) as run:
            run.turn(1, PACK)
            offered(run)
            for wrong in ({"session_id": "another"}, {"suggestion_id": 7}):
                refused = answer(run, True, **wrong)
                assert not refused.success
                assert "does not wait for an answer" in refused.message
            assert len(done(run)) == 2

    def test_in_the_terminal_yes_is_typed(self, make):
        console = Console(file=io.StringIO(), width=200)
        with make(proactive=True) as run:
            view = ConsoleNode(console, context=run.stack.context)
            run.stack.add(view)
            run.turn(1, PACK)
            run.wait(lambda: "Shall I pack RiceK" in console.file.getvalue(), "the offer")
            view.say("Yes")
            offered(run, number=2)
            assert len(done(run)) == 4
