"""Approval, given plans, help and failing servers, on a real graph."""

import io
import json
import threading

import pytest
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.lifecycle import TransitionCallbackReturn
from rich.console import Console

from good_ros.action import ExecutePlan
from good_ros.core.errors import WorldError
from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.language.openai_generator import OpenAIGenerator
from good_ros.language.scripted import ScriptedGenerator
from good_ros.msg import ErrorCode, TaskStatus
from good_ros.node_names import NODES
from good_ros.nodes.console import ConsoleNode
from good_ros.nodes.convert import step_to_msg
from good_ros.planning import execution
from good_ros.srv import ApprovePlan, AskPerson, EditGoals
from good_ros.worlds.household.world import HouseholdWorld

from ..model_server import Server
from .harness import BREAD, KNIFE, SAID, ScriptedStack, all_fit, bread_scores, bread_script

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]

FLAT = {
    (goal, SAID): value
    for goal, value in {
        UNSPECIFIED_TEXT: -20.0,
        BREAD: -10.0,
        KNIFE: -10.1,
        "tea made": -10.1,
    }.items()
}


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    """Makes a scripted stack; keywords as of ScriptedStack."""

    def build(script=None, scores=None, **keywords):
        return ScriptedStack(
            monkeypatch,
            tmp_path,
            script if script is not None else bread_script(),
            scores if scores is not None else bread_scores(),
            **keywords,
        )

    return build


def steps(*labels):
    """Steps of FloorPlan1 by their labels, as messages."""
    world = HouseholdWorld()
    world.reset("FloorPlan1")
    possible = world.possible_actions([item.id for item in world.observe()])
    by_label = {step.label: step for step in possible}
    return [step_to_msg(by_label[label]) for label in labels]


def last_status(run):
    return run.probe.last("task_status")


def waits(run) -> bool:
    status = last_status(run)
    return status is not None and status.state == TaskStatus.WAITING_APPROVAL


def call(run, kind, name, request):
    client = run.probe.create_client(kind, name)
    answer = client.call_async(request)
    run.wait(answer.done, name)
    return answer.result()


def approve(run, yes: bool, **fields):
    status = last_status(run)
    fields = {"session_id": status.session_id, "turn": status.turn, **fields}
    return call(run, ApprovePlan, "approve_plan", ApprovePlan.Request(approve=yes, **fields))


class TestApproval:
    def ask(self, run):
        run.wait_asked(1)
        run.probe.say(SAID, "u1")
        run.wait(lambda: waits(run), "a plan that waits for approval")
        assert "36%" in last_status(run).approval_reasons[0]
        assert last_status(run).history == []

    def test_a_yes_lets_it_move(self, make):
        with make(scores=FLAT) as run:
            self.ask(run)
            assert approve(run, True).success
            run.wait_turn(1)
            assert last_status(run).state == TaskStatus.SUCCEEDED
            assert last_status(run).conditions == ["Bread is in Fridge"]
            assert list(last_status(run).conditions_true) == [True]

    def test_a_no_is_final_for_the_turn_and_the_dialog_goes_on(self, make):
        with make(scores=FLAT) as run:
            self.ask(run)
            assert approve(run, False).success
            run.wait_turn(1)
            status = last_status(run)
            assert (status.state, status.error_code) == (
                TaskStatus.FAILED,
                ErrorCode.NOT_APPROVED,
            )
            assert status.history == []
            run.wait_asked(2)

    def test_no_word_in_time_means_no(self, make):
        with make(scores=FLAT, approval_timeout_s=0.1) as run:
            run.turn(1, SAID)
            assert last_status(run).error_code == ErrorCode.NOT_APPROVED
            assert "in time" in last_status(run).error_msg
            assert last_status(run).history == []

    def test_a_word_for_another_plan_is_refused_with_a_reason(self, make):
        with make(scores=FLAT) as run:
            self.ask(run)
            for wrong in ({"session_id": "another"}, {"turn": 7}):
                answer = approve(run, True, **wrong)
                assert not answer.success
                assert "waits for approval" in answer.message
            assert waits(run)

    def test_with_a_sharp_belief_nobody_is_asked(self, make):
        with make() as run:
            run.turn(1, SAID)
            states = [s.state for s in run.probe.heard["task_status"]]
            assert TaskStatus.WAITING_APPROVAL not in states
            assert last_status(run).state == TaskStatus.SUCCEEDED

    def test_rules_that_cannot_be_read_fail_configure(self, make, tmp_path):
        run = make(safety_file=str(tmp_path / "none.yaml"))
        try:
            with pytest.raises(Exception, match="safety rules"):
                run.stack.start()
        finally:
            run.stack.close()


def test_in_the_terminal_yes_is_typed(make):
    console = Console(file=io.StringIO(), width=200)
    with make(scores=FLAT) as run:
        view = ConsoleNode(console, context=run.stack.context)
        run.stack.add(view)
        run.wait_asked(1)
        view.say(SAID)
        run.wait(lambda: waits(run), "a plan that waits for approval")
        run.wait(lambda: "yes or no" in console.file.getvalue(), "the plan in the terminal")
        view.say("Yes.")
        run.wait_turn(1)
        assert last_status(run).state == TaskStatus.SUCCEEDED
        shown = console.file.getvalue()
        assert "May I: pick up Bread; put Bread in Fridge" in shown
        assert "because no goal is likely enough" in shown


@pytest.mark.parametrize("approves", ["what_helps", "nothing"])
def test_the_simulated_human_says_yes_or_no(make, monkeypatch, tmp_path, approves):
    profile = tmp_path / "bread.yaml"
    profile.write_text(
        "name: bread\ndomain: robot\nscene: FloorPlan1\ntask: help\nprofile: cold bread\n"
        "completion_phrase: the task is completed\nconditions: [{in: [Bread, Fridge]}]\n"
    )
    generator = ScriptedGenerator([SAID])
    monkeypatch.setattr("good_ros.nodes.simulated_human.make_generator", lambda *_: generator)
    scores = {**FLAT, **bread_scores("the task is completed")}
    nodes = (*NODES, "simulated_human")
    keywords = {"profile": str(profile), "approves": approves, "max_turns": 2}
    with make(scores=scores, nodes=nodes, **keywords) as run:
        run.wait_turn(1)
        states = [s.state for s in run.probe.heard["task_status"]]
        assert TaskStatus.WAITING_APPROVAL in states
        if approves == "nothing":
            assert last_status(run).error_code == ErrorCode.NOT_APPROVED
        else:
            run.wait(lambda: run.probe.last("transcript").ended, "the end")
            assert "completed" in run.probe.last("transcript").end_reason


def test_a_world_that_could_not_be_rebuilt_is_rebuilt_later_with_its_whole_history(
    make, monkeypatch
):
    script = {**bread_script(), "executor": [json.dumps(["put Bread in Fridge"])] * 3}
    script["dialog"] = ["What should I move?", "And now?", "And then?", "And?"]
    again = "The bread really should be cold"
    with make(script, bread_scores(SAID, again)) as run:
        run.turn(1, SAID)
        run.wait_asked(2)
        executor = run.stack.nodes["executor"]

        def lose(world, scene, seed=0):
            raise WorldError("the player is gone")

        assert executor.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
        with monkeypatch.context() as broken:
            broken.setattr(HouseholdWorld, "reset", lose)
            assert executor.trigger_activate() == TransitionCallbackReturn.SUCCESS
            run.wait(lambda: "could not be rebuilt" in executor.problem(), "the failure")
        run.probe.say(again, "u2")
        run.wait_turn(2)
        status = last_status(run)
        assert (status.state, status.error_code) == (TaskStatus.NO_ACTION, ErrorCode.NONE)
        assert [r.step.label for r in status.history] == ["pick up Bread", "put Bread in Fridge"]
        assert "Bread is in Fridge" in status.conditions
        assert list(status.conditions_true) == [True]
        assert executor.problem() == ""


class Client:
    """A client of ``execute_plan`` in the probe."""

    def __init__(self, run) -> None:
        self.run = run
        self.client = ActionClient(run.probe, ExecutePlan, "execute_plan")
        self.feedback = []
        run.wait(self.client.server_is_ready, "execute_plan")

    def send(self, *labels):
        goal = ExecutePlan.Goal(steps=steps(*labels))
        sent = self.client.send_goal_async(
            goal, feedback_callback=lambda m: self.feedback.append(m.feedback)
        )
        self.run.wait(sent.done, "the answer to the goal")
        return sent.result()

    def result(self, goal):
        result = goal.get_result_async()
        self.run.wait(result.done, "the result")
        return result.result()

    def cancel(self, goal):
        answer = goal.cancel_goal_async()
        self.run.wait(answer.done, "the answer to the cancel")


class Gate:
    """Holds the worker before a step of a certain label until it is opened."""

    def __init__(self, monkeypatch, label: str) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        do = execution._do

        def held(world, step, turn):
            if step.label == label:
                self.reached.set()
                assert self.opened.wait(60)
            return do(world, step, turn)

        monkeypatch.setattr(execution, "_do", held)


PLAN = ("pick up Bread", "put Bread in Fridge")


class TestExecutePlan:
    def test_each_step_is_told_and_the_next_turn_counts_it_in(self, make):
        script = {**bread_script(), "executor": [json.dumps(["task completed"])]}
        with make(script) as run:
            run.wait_asked(1)
            client = Client(run)
            outcome = client.result(client.send(*PLAN))
            assert outcome.status == GoalStatus.STATUS_SUCCEEDED
            assert outcome.result.error_code == ErrorCode.NONE
            assert [r.step.label for r in outcome.result.results] == list(PLAN)
            assert [f.index for f in client.feedback] == [0, 1]
            assert "Bread is in Fridge" in client.feedback[1].result.effect
            run.turn(1, SAID)
            run.wait_asked(2)
            turn = run.probe.last("transcript").turns[0]
            assert [r.step.label for r in turn.actions] == list(PLAN)

    @pytest.mark.faults("ros-mcp-server #318")
    def test_a_long_gap_in_the_feedback_changes_no_result(self, make, monkeypatch):
        gate = Gate(monkeypatch, "put Bread in Fridge")
        with make() as run:
            run.wait_asked(1)
            client = Client(run)
            goal = client.send(*PLAN)
            run.wait(lambda: len(client.feedback) == 1, "the first step's feedback")
            run.wait(gate.reached.is_set, "the second step")
            result = goal.get_result_async()
            # Others are served meanwhile, and nothing is said of the plan before it is over.
            for _ in range(3):
                answer = run.probe.create_client(EditGoals, "edit_goals").call_async(
                    EditGoals.Request()
                )
                run.wait(answer.done, "edit_goals in the gap")
            assert not result.done()
            assert goal.status == GoalStatus.STATUS_EXECUTING
            gate.opened.set()
            run.wait(result.done, "the result")
            assert result.result().status == GoalStatus.STATUS_SUCCEEDED
            assert [f.index for f in client.feedback] == [0, 1]

    @pytest.mark.parametrize(
        ("labels", "code"),
        [
            (("pick up Bread", "pick up Apple"), ErrorCode.HAND_FULL),
            (("put Bread in Fridge",), ErrorCode.HAND_EMPTY),
        ],
    )
    def test_an_impossible_plan_is_not_begun(self, make, labels, code):
        with make() as run:
            run.wait_asked(1)
            client = Client(run)
            outcome = client.result(client.send(*labels))
            assert outcome.status == GoalStatus.STATUS_ABORTED
            assert outcome.result.error_code == code
            assert outcome.result.error_msg
            assert client.feedback == []

    def test_it_waits_for_approval_like_any_plan(self, make):
        with make(approval_timeout_s=0.1) as run:
            run.wait_asked(1)
            client = Client(run)
            outcome = client.result(client.send("break Vase_1"))
            assert outcome.result.error_code == ErrorCode.NOT_APPROVED
            assert any(
                s.state == TaskStatus.WAITING_APPROVAL for s in run.probe.heard["task_status"]
            )

    def test_cancelled_in_mid_plan_the_room_is_as_it_was(self, make, monkeypatch):
        gate = Gate(monkeypatch, "put Bread in Fridge")
        with make() as run:
            run.wait_asked(1)
            scene = last_status(run).scene
            client = Client(run)
            goal = client.send(*PLAN, "open Cabinet_1")
            run.wait(gate.reached.is_set, "the second step")
            client.cancel(goal)
            gate.opened.set()
            outcome = client.result(goal)
            assert outcome.status == GoalStatus.STATUS_CANCELED
            assert outcome.result.error_code == ErrorCode.CANCELLED
            assert not any(r.success for r in outcome.result.results)
            run.wait(lambda: last_status(run).state == TaskStatus.IDLE, "the last status")
            assert last_status(run).scene == scene
            # The executor is as good as before.
            assert client.result(client.send(*PLAN)).result.error_code == ErrorCode.NONE

    def test_a_persons_stop_undoes_it_too(self, make, monkeypatch):
        gate = Gate(monkeypatch, "put Bread in Fridge")
        with make(scores=bread_scores(SAID, "Stop!")) as run:
            run.wait_asked(1)
            scene = last_status(run).scene
            client = Client(run)
            goal = client.send(*PLAN)
            run.wait(gate.reached.is_set, "the last step")
            run.probe.say("Stop!", "u1")
            order = run.stack.nodes["executor"].order
            run.wait(lambda: order.transcript.ended, "the end of the session")
            gate.opened.set()
            outcome = client.result(goal)
            assert outcome.result.error_code == ErrorCode.CANCELLED
            assert [r.step.label for r in outcome.result.results] == list(PLAN)
            assert not any(r.success for r in outcome.result.results)
            run.wait_turn(1)
            assert last_status(run).scene == scene
            assert not any(r.success for r in last_status(run).history)

    def test_a_world_that_cannot_be_described_ends_no_node(self, make, monkeypatch):
        with make() as run:
            run.wait_asked(1)
            client = Client(run)
            lost = []

            def describe(world):
                assert threading.current_thread().name == "executor worker"
                lost.append(True)
                raise WorldError("the player is gone")

            monkeypatch.setattr(HouseholdWorld, "describe", describe)
            assert client.result(client.send(*PLAN)).result.error_code == ErrorCode.NONE
            run.wait(lambda: last_status(run).state == TaskStatus.IDLE, "the last status")
            assert lost
            assert last_status(run).scene == ""

    def test_a_world_that_is_lost_before_the_first_step_is_rebuilt(self, make, monkeypatch):
        with make() as run:
            run.wait_asked(1)
            client = Client(run)
            assert client.result(client.send("open Cabinet_1")).result.error_code == 0

            def lose(world):
                raise WorldError("the player is gone")

            with monkeypatch.context() as broken:
                broken.setattr(HouseholdWorld, "snapshot", lose)
                outcome = client.result(client.send(*PLAN))
                assert outcome.result.error_code == ErrorCode.WORLD_LOST
            # It comes back in its first state.
            run.stack.nodes["executor"].world.reset("FloorPlan1")
            run.turn(1, SAID)
            assert last_status(run).state == TaskStatus.SUCCEEDED
            done = [r.step.label for r in last_status(run).history if r.success]
            assert done == ["open Cabinet_1", *PLAN]
            room = {o.name: o.state for o in run.stack.nodes["executor"].world.observe()}
            assert room["Cabinet_1"]["open"]

    def test_a_shutdown_in_mid_plan_ends_no_process(self, make, monkeypatch):
        gate = Gate(monkeypatch, "put Bread in Fridge")
        with make() as run:
            run.wait_asked(1)
            client = Client(run)
            client.send(*PLAN, "open Cabinet_1")
            run.wait(gate.reached.is_set, "the second step")
            gate.opened.set()
            executor = run.stack.nodes["executor"]
            assert executor.trigger_shutdown() == TransitionCallbackReturn.SUCCESS
            # The others are served still.
            call(run, EditGoals, "edit_goals", EditGoals.Request())
            assert run.stack.nodes["dialog"].active

    @pytest.mark.parametrize("second_plan", ["queue", "refuse"])
    def test_there_is_one_plan_at_a_time(self, make, monkeypatch, second_plan):
        gate = Gate(monkeypatch, "put Bread in Fridge")
        with make(second_plan=second_plan) as run:
            run.wait_asked(1)
            client = Client(run)
            first = client.send(*PLAN)
            run.wait(gate.reached.is_set, "the second step")
            second = client.send("pick up Tomato", "put Tomato in Fridge")
            assert second.accepted is (second_plan == "queue")
            gate.opened.set()
            assert client.result(first).result.error_code == ErrorCode.NONE
            if second.accepted:
                assert client.result(second).result.error_code == ErrorCode.NONE
                run.wait(lambda: len(last_status(run).history) == 4, "the last status")
                done = [r.step.label for r in last_status(run).history]
                assert done == [*PLAN, "pick up Tomato", "put Tomato in Fridge"]

    def test_a_plan_that_waited_for_a_turn_is_counted_with_the_next(self, make, monkeypatch):
        gate = Gate(monkeypatch, "put Bread in Fridge")
        script = bread_script()
        script["executor"].append(json.dumps(["task completed"]))
        tomato = ("pick up Tomato", "put Tomato in Fridge")
        with make(script, bread_scores(SAID, "Fine")) as run:
            run.wait_asked(1)
            client = Client(run)
            run.probe.say(SAID, "u1")
            run.wait(gate.reached.is_set, "the turn's plan")
            goal = client.send(*tomato)
            gate.opened.set()
            assert client.result(goal).result.error_code == ErrorCode.NONE
            run.turn(2, "Fine")
            run.wait_asked(3)
            actions = [
                [r.step.label for r in t.actions] for t in run.probe.last("transcript").turns
            ]
            assert actions == [list(PLAN), list(tomato)]

    def test_a_goal_without_steps_is_refused(self, make):
        with make() as run:
            run.wait_asked(1)
            assert not Client(run).send().accepted

    def test_a_reset_in_mid_plan_ends_it(self, make, monkeypatch):
        from good_ros.srv import ResetSession

        gate = Gate(monkeypatch, "put Bread in Fridge")
        with make() as run:
            run.wait_asked(1)
            client = Client(run)
            goal = client.send(*PLAN)
            run.wait(gate.reached.is_set, "the second step")
            answer = call(run, ResetSession, "reset_session", ResetSession.Request())
            outcome = client.result(goal)
            assert outcome.result.error_code == ErrorCode.CANCELLED
            gate.opened.set()
            run.wait(
                lambda: (
                    last_status(run).session_id == answer.session_id
                    and "on CounterTop_2: " in last_status(run).scene
                ),
                "the new session's world",
            )
            assert last_status(run).history == []


def test_stop_in_mid_plan_stops_it_and_undoes_it(make, monkeypatch):
    gate = Gate(monkeypatch, "pick up Bread")
    with make() as run:
        run.wait_asked(1)
        scene = last_status(run).scene
        run.probe.say(SAID, "u1")
        run.wait(gate.reached.is_set, "the first step")
        run.probe.say("Stop!", "u2")
        executor = run.stack.nodes["executor"]
        run.wait(lambda: executor.order.transcript.ended, "the end")
        gate.opened.set()
        run.wait_turn(1)
        status = last_status(run)
        assert (status.state, status.scene) == (TaskStatus.NO_ACTION, scene)
        assert not any(r.success for r in status.history)
        run.wait(lambda: "stop" in run.probe.last("transcript").end_reason, "the reason")


VASE = "the vase put on the counter top"
VASE_SAID = "Put the vase on the counter top"


def vase_stack(make, **keywords):
    script = {
        "dialog": ["What should I move?", "And now?"],
        "goal_manager": [json.dumps([VASE, KNIFE, "tea made"]), all_fit],
        "executor": [json.dumps(["put Vase_1 on CounterTop_1"])],
    }
    goals = {UNSPECIFIED_TEXT: -20.0, VASE: -10.0, KNIFE: -22.0, "tea made": -23.0}
    return make(script, {(g, VASE_SAID): v for g, v in goals.items()}, **keywords)


class TestHelp:
    def test_the_executor_asks_through_dialog_and_the_answer_is_no_turn(self, make):
        with vase_stack(make) as run:
            run.wait_asked(1)
            run.probe.say(VASE_SAID, "u1")
            run.wait(
                lambda: "Which Vase" in run.probe.last("question").text, "the question in mid-plan"
            )
            question = run.probe.last("question")
            assert (question.turn, question.expects_reply) == (1, True)
            run.probe.say("The second one", "u2")
            run.wait_turn(1)
            assert last_status(run).history[-1].step.label == "put Vase_2 on CounterTop_1"
            run.wait_asked(2)
            turns = run.probe.last("transcript").turns
            assert [turn.utterance for turn in turns] == [VASE_SAID]

    def test_without_an_answer_in_time_the_plan_goes_on(self, make):
        with vase_stack(make, help_deadline_s=0.1) as run:
            run.turn(1, VASE_SAID)
            assert last_status(run).history[-1].step.label == "put Vase_1 on CounterTop_1"

    def test_nothing_is_asked_where_that_is_switched_off(self, make):
        with vase_stack(make, help_deadline_s=0.0) as run:
            run.turn(1, VASE_SAID)
            assert not any("Which" in q.text for q in run.probe.heard["question"])

    def test_dialog_answers_only_in_mid_turn_and_for_its_session(self, make):
        with make() as run:
            run.wait_asked(1)
            session = run.probe.last("transcript").session_id
            for wrong in (session, "another"):
                request = AskPerson.Request(session_id=wrong, text="Which?", deadline_s=5.0)
                answer = call(run, AskPerson, "ask_person", request)
                assert not answer.success
                assert answer.message


@pytest.fixture
def served(make, monkeypatch):
    """Makes a stack whose executor plans with a server of a script."""
    monkeypatch.setattr("good_ros.language.openai_server.FIRST_WAIT_S", 0.01)
    servers = []

    def build(*script, **keywords):
        server = Server(*script)
        servers.append(server)
        run = make(retry_pause_s=0.01, **keywords)
        monkeypatch.setattr(
            "good_ros.nodes.executor.make_generator", lambda *_: OpenAIGenerator(server.url)
        )
        return server, run

    yield build
    for server in servers:
        server.released.set()
        server.shutdown()
        server.server_close()


ANSWER = json.dumps({"reply": ["put Bread in Fridge"]})


class TestFailingServers:
    def troubles(self, run):
        return {
            s.error_code
            for s in run.probe.heard["task_status"]
            if s.state == TaskStatus.PLANNING and s.error_msg
        }

    def others_answer(self, run):
        """Services of other nodes, and the executor's own, while its model is being waited for."""
        assert call(run, EditGoals, "edit_goals", EditGoals.Request()).success
        approve(run, True)
        client = Client(run)
        assert client.send("pick up Bread").accepted

    @pytest.mark.faults("ROS-LLM PR #48")
    def test_one_that_never_replies_holds_nobody_up(self, served):
        server, run = served("hang")
        with run:
            run.wait_asked(1)
            run.probe.say(SAID, "u1")
            run.wait(server.asked.is_set, "the request")
            self.others_answer(run)
            assert last_status(run).state == TaskStatus.PLANNING
            # It still hangs: only now is it let go.
            assert len(server.requests) == 1

    @pytest.mark.parametrize("fault", ["hang", "endless"])
    def test_one_that_takes_for_ever_is_asked_again_after_the_deadline(self, served, fault):
        _, run = served(fault, ANSWER, deadline_s=0.5)
        with run:
            run.turn(1, SAID)
            assert last_status(run).state == TaskStatus.SUCCEEDED
            assert ErrorCode.MODEL_TIMEOUT in self.troubles(run)

    @pytest.mark.parametrize("fault", [429, 503, "drop"])
    @pytest.mark.faults("ROS-LLM PR #48")
    def test_after_a_passing_fault_the_plan_proceeds(self, served, fault):
        server, run = served(fault, ANSWER)
        with run:
            run.turn(1, SAID)
            assert last_status(run).state == TaskStatus.SUCCEEDED
            assert len(server.requests) == 2
            run.wait(lambda: bool(self.troubles(run)), "the visible state")
            assert self.troubles(run) == {ErrorCode.MODEL_UNAVAILABLE}
            assert run.stack.nodes["executor"].problem() == ""

    def test_one_that_stays_down_fails_the_turn_and_the_node_lives(self, served):
        server, run = served(401, model_retries=2)
        with run:
            run.turn(1, SAID)
            status = last_status(run)
            assert (status.state, status.error_code) == (
                TaskStatus.FAILED,
                ErrorCode.MODEL_UNAVAILABLE,
            )
            assert "401" in status.error_msg
            assert len(server.requests) == 3
            assert "401" in run.stack.nodes["executor"].problem()
            run.wait_asked(2)

    @pytest.mark.parametrize("reply", ["no plan at all", "[]", '["fly"]', "x" * 1_000_000])
    def test_one_that_talks_nonsense_is_a_visible_state(self, served, reply):
        _, run = served(reply)
        with run:
            run.turn(1, SAID)
            status = last_status(run)
            assert (status.state, status.error_code) == (
                TaskStatus.FAILED,
                ErrorCode.MODEL_REPLY,
            )
            assert status.history == []
