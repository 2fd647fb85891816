"""Plans with a person's own behaviours: labels in constrained JSON, functions on a server."""

import json

import pytest

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import ModelError
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.core.plan import ErrorCode, TaskState
from good_ros.language.openai_generator import OpenAIGenerator
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning.turn import TurnActor
from good_ros.teaching.planner import People, TaughtPlanner, examples_text, tools

from ..model_server import Server

GOAL = "the milk put in the lunch bag"
PACKED = ["pack Milk: pick up Milk", "pack Milk: put Milk in LunchBag"]


def transcript(said="I would like the milk to come along", speaker="confident", turn=1):
    return Transcript("s", (Turn(turn, "What now?", said, speaker),))


def belief(*goals, turn=1, unspecified=0.1):
    share = (1 - unspecified) / max(len(goals), 1)
    hypotheses = [Hypothesis(Goal(f"g{n}", text), share, 0, 0) for n, text in enumerate(goals)]
    hypotheses.append(Hypothesis(unspecified_goal(), unspecified, 0, 0))
    hypotheses.sort(key=lambda h: -h.probability)
    return Belief("s", turn, 1, True, tuple(hypotheses), 0.3)


def plan(planner, table, said=None):
    spoken = said or transcript()
    return [step.label for step in planner.plan(table, belief(GOAL), spoken, ())]


@pytest.fixture
def people(store):
    return People(store)


def test_taught_behaviours_are_labels_that_come_to_primitive_steps(table, people):
    model = ScriptedGenerator([json.dumps(["pack Milk"])])
    assert plan(TaughtPlanner(model, people, task="help"), table) == PACKED
    system, user = (m.content for m in model.calls[0])
    assert "pop thing in': pack(thing)" in system
    assert "pack a lunch bag with the skittles" in system
    assert "pack Milk; " in user
    assert "pack Fork" not in user


def test_somebody_who_taught_nothing_gets_the_plain_prompt(table, people):
    model = ScriptedGenerator([json.dumps(["put Milk in LunchBag"])])
    planner = TaughtPlanner(model, people, task="help")
    assert plan(planner, table, transcript(speaker="stranger")) == ["put Milk in LunchBag"]
    assert "pack" not in model.calls[0][0].content
    assert "pack Milk" not in model.calls[0][1].content


def test_whose_words_count_is_the_speaker_else_the_one_that_is_set(store):
    def name(person, speaker):
        found = People(store, person).profile(transcript(speaker=speaker))
        return found.person if found else None

    assert name("careful", "confident") == "confident"
    assert name("careful", "stranger") == "careful"
    assert name("careful", "../../etc") == "careful"
    assert name("", "stranger") is None


def test_behaviours_as_function_schemas(room, store):
    profile = store.load("confident")
    by_name = {t["function"]["name"]: t["function"] for t in tools(profile.vocabulary(), room)}
    pack = by_name["pack"]
    assert pack["parameters"]["properties"]["thing"]["enum"][:2] == ["Carrots", "AppleSlices"]
    assert len(pack["parameters"]["properties"]["thing"]["enum"]) == 11
    assert pack["parameters"]["required"] == ["thing"]
    assert "pick up thing then put thing in LunchBag" in pack["description"]
    assert by_name["put"]["parameters"]["properties"]["place"]["enum"] == [
        *("LunchBag", "Bin", "Table")
    ]
    assert by_name["go_home"]["parameters"]["properties"] == {}
    assert "put_place" not in examples_text(profile)


def called(*calls):
    """A reply of a server that calls functions."""
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": str(n), "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls)
        ],
    }
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "served",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        }
    ).encode()


@pytest.fixture
def served(people):
    servers = []

    def make(*script):
        server = Server(*script)
        servers.append(server)
        return server, TaughtPlanner(OpenAIGenerator(server.url), people, task="help")

    yield make
    for server in servers:
        server.released.set()
        server.shutdown()
        server.server_close()


def test_on_a_server_with_tools_behaviours_are_called(table, served):
    server, planner = served(called(("pack", '{"thing": "Milk"}'), ("go_home", "{}")))
    assert plan(planner, table) == [*PACKED, "go home"]
    (request,) = server.requests
    names = [tool["function"]["name"] for tool in request["tools"]]
    assert names[0] == "pack"
    assert request["tool_choice"] == "auto"


@pytest.mark.parametrize(
    "first",
    [
        called(("fly", "{}")),
        called(("pack", '{"thing": "Moon"}')),
        called(("pack", "not JSON")),
        "no tools",
    ],
)
def test_a_call_that_cannot_be_or_a_server_without_tools_leads_to_json(table, served, first):
    answer = json.dumps({"reply": ["pack Milk"]})
    server, planner = served(first, answer)
    assert plan(planner, table) == PACKED
    assert ["tools" in request for request in server.requests] == [True, False]
    assert "response_format" in server.requests[-1]
    if first == "no tools":
        # It is not tried again.
        assert plan(planner, table) == PACKED
        assert "tools" not in server.requests[-1]


def test_a_server_that_fails_otherwise_is_an_error(table, served):
    _, planner = served(401)
    with pytest.raises(ModelError, match="401"):
        plan(planner, table)


class Asked:
    """A person who answers by a script; notes what they were asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.questions = []

    def __call__(self, text, stop):
        self.questions.append(text)
        return self.answers.pop(0)


def obey(table, people, said, *answers, history=(), speaker="confident", sure=GOAL):
    asked = Asked(*answers)
    actor = TurnActor(
        table, TaughtPlanner(ScriptedGenerator([]), people, task="help"), ask_person=asked
    )
    actor.read_command = people.hear
    goals = (sure,) if sure else ()
    status = actor.act(
        belief(*goals, unspecified=0.1 if sure else 1.0), transcript(said, speaker), history
    )
    return status, asked.questions


def test_a_command_is_done_as_it_is_without_a_model(table, people):
    status, asked = obey(table, people, "pack the milk")
    assert (status.state, asked) == (TaskState.SUCCEEDED, [])
    assert [r.step.label for r in status.history] == PACKED
    assert all(r.success and r.effect for r in status.history)


def test_a_command_is_an_instruction_whatever_the_goal(table, people):
    status, _ = obey(table, people, "pack the milk", sure="")
    assert status.state is TaskState.SUCCEEDED


@pytest.mark.parametrize(
    ("said", "answer", "done"),
    [
        ("pack the silk", "yes", PACKED),
        ("pack the silk", "no", []),
        ("pack the silk", None, []),
        ("pack the silk", "pack the milk", PACKED),
        ("pack the yoghurt", "the milk", PACKED),
        ("pack the yoghurt", "never mind", []),
        ("carrots in the back", "yes", ["pick up Carrots", "put Carrots in LunchBag"]),
    ],
)
def test_what_is_not_clear_is_asked_and_done_only_on_an_answer(table, people, said, answer, done):
    status, asked = obey(table, people, said, answer)
    assert len(asked) == 1
    assert [r.step.label for r in status.history if r.success] == done
    if not done:
        assert status.state is TaskState.NO_ACTION
        new = "yoghurt" in said
        assert status.error_code is (ErrorCode.NOT_FOUND if new else ErrorCode.NONE)
        assert ("'yoghurt' is new to me" in status.error_msg) is new


def test_a_command_that_fails_is_undone_with_the_worlds_reason(table, people):
    before = table.snapshot()
    status, _ = obey(table, people, "put it in the bag", speaker="careful")
    assert (status.state, status.error_code) == (TaskState.FAILED, ErrorCode.MISSED_GRASP)
    assert table.snapshot() == before


def test_safety_lists_hold_for_commands_too(table, people, tmp_path):
    from good_ros.planning.safety import Safety, SafetyRule, SafetyRules

    actor = TurnActor(
        table,
        TaughtPlanner(ScriptedGenerator([]), people, task="help"),
        safety=Safety(SafetyRules(refused=(SafetyRule("PutObject"),))),
    )
    actor.read_command = people.hear
    status = actor.act(belief(GOAL), transcript("pack the milk"), ())
    assert status.error_code is ErrorCode.PLAN_REFUSED
    assert table.state.held == ""
