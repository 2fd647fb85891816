"""Whatever a model replies, no step of an invalid plan is done."""

import json

import pytest

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.errors import MalformedReply, ModelCancelled, ModelError, ModelTimeout
from good_ros.core.goals import Goal, unspecified_goal
from good_ros.core.plan import ErrorCode, TaskState
from good_ros.language.generator import Reply
from good_ros.language.scripted import ScriptedGenerator
from good_ros.planning import execution
from good_ros.planning.planner import Planner
from good_ros.planning.turn import Patience, TurnActor
from good_ros.worlds.household.world import HouseholdWorld

GOOD = '["put Bread in Fridge"]'
BAD = {
    "truncated": ('["put Bread in Fridge", "pick u', "cut short"),
    "truncated in its fence": ('```json\n["put Bread in Fridge"]', "cut short"),
    "prose": ("I would put the bread in the fridge.", "not JSON"),
    "prose around it": (f"Here you are: {GOOD}", "not JSON"),
    "an array of arrays": (json.dumps([["put Bread in Fridge"]]), "does not fit"),
    "an object": (json.dumps({"plan": ["put Bread in Fridge"]}), "does not fit"),
    "an unknown action": (json.dumps(["put Bread in Fridge", "fly to Fridge"]), "does not fit"),
    "an unknown object": (json.dumps(["put Bread in Fridge", "pick up Dragon"]), "does not fit"),
    "too many steps": (json.dumps(["put Bread in Fridge"] * 13), "does not fit"),
    "empty": ("", "empty"),
    "an empty list": ("[]", "does not fit"),
    "1 MB": ("[" + '"put Bread in Fridge",' * 50_000, "the limit"),
    "endless": (
        Reply("[" + '"put Bread in Fridge", ' * 200, 9, 4096, 1.0, finished=False),
        "cut short",
    ),
}


@pytest.fixture
def begun(monkeypatch) -> list[str]:
    """The labels of the steps that are begun for real."""
    labels: list[str] = []
    run = execution.run

    def watched(world, steps, *arguments, **keywords):
        labels.extend(step.label for step in steps)
        return run(world, steps, *arguments, **keywords)

    monkeypatch.setattr("good_ros.planning.turn.run", watched)
    return labels


@pytest.fixture
def kitchen() -> HouseholdWorld:
    world = HouseholdWorld()
    world.reset("FloorPlan1")
    return world


def act(world, *script, patience=None):
    hypotheses = (
        Hypothesis(Goal("g1", "the bread put in the fridge"), 0.9, -1.0, -1.0),
        Hypothesis(unspecified_goal(), 0.1, -3.0, -1.0),
    )
    belief = Belief("s", 1, 2, True, hypotheses, 0.3)
    said = Transcript("s", (Turn(1, "What?", "The bread should be cold"),))
    generator = ScriptedGenerator(script)
    actor = TurnActor(world, Planner(generator, task="help"), patience=patience)
    shown = []
    return actor.act(belief, said, (), on_status=shown.append), generator, shown


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_reply_is_asked_for_again_with_the_error(kitchen, begun, bad):
    reply, error = BAD[bad]
    status, generator, _ = act(kitchen, reply, GOOD)
    assert status.state is TaskState.SUCCEEDED
    repair = generator.calls[1][-1].content
    assert error in repair
    assert "\n" not in repair
    assert sum(len(m.content) for m in generator.calls[1]) < 5000
    assert begun == ["pick up Bread", "put Bread in Fridge"]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.faults("ROS-LLM PR #44")
def test_a_bad_reply_that_comes_again_is_a_typed_error_and_nothing_is_done(kitchen, begun, bad):
    reply, error = BAD[bad]
    before = kitchen.snapshot()
    status, _, _ = act(kitchen, reply, reply)
    assert (status.state, status.error_code) == (TaskState.FAILED, ErrorCode.MODEL_REPLY)
    assert error in status.error_msg
    assert begun == []
    assert status.history == ()
    assert kitchen.snapshot() == before


def test_a_fence_is_no_fault(kitchen):
    status, generator, _ = act(kitchen, f"```json\n{GOOD}\n```")
    assert status.state is TaskState.SUCCEEDED
    assert len(generator.calls) == 1


class TestAFailingModel:
    def test_it_is_asked_again_and_the_plan_proceeds(self, kitchen):
        errors = (ModelError("over quota"), ModelTimeout("too slow"))
        status, generator, shown = act(kitchen, *errors, GOOD, patience=Patience(2, 0.0))
        assert status.state is TaskState.SUCCEEDED
        assert len(generator.calls) == 3
        troubles = [(s.state, s.error_code, s.error_msg) for s in shown if s.error_msg]
        assert [(state, code) for state, code, _ in troubles] == [
            (TaskState.PLANNING, ErrorCode.MODEL_UNAVAILABLE),
            (TaskState.PLANNING, ErrorCode.MODEL_TIMEOUT),
        ]
        assert "over quota; trying again in 0 s" in troubles[0][2]

    def test_only_so_often(self, kitchen):
        errors = [ModelError(f"down {number}") for number in range(3)]
        status, generator, _ = act(kitchen, *errors, patience=Patience(2, 0.0))
        assert status.error_code is ErrorCode.MODEL_UNAVAILABLE
        assert status.error_msg == "down 2"
        assert len(generator.calls) == 3

    @pytest.mark.parametrize("error", [ModelCancelled("stop")])
    def test_a_cancel_is_not_tried_again(self, kitchen, error):
        with pytest.raises(ModelCancelled):
            act(kitchen, error, patience=Patience(3, 0.0))

    def test_nonsense_is_asked_for_again_once_and_not_for_ever(self, kitchen):
        status, generator, _ = act(kitchen, MalformedReply("nonsense"), patience=Patience(3, 0.0))
        assert status.error_code is ErrorCode.MODEL_REPLY
        assert len(generator.calls) == 1
