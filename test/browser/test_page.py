"""The page of a running stack in a real browser: what it shows, and what a visitor can do."""

from __future__ import annotations

import json
import threading

import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter

from good_ros.core.goals import UNSPECIFIED_TEXT
from good_ros.language.scripted import ScriptedGenerator
from good_ros.monitor.report import report
from good_ros.msg import GoalBelief, Step, StepResult, TaskStatus
from good_ros.node_names import NODES
from good_ros.nodes.qos import LATCHED
from good_ros.srv import ApprovePlan
from good_ros.teaching.profile import PersonProfile, ProfileStore, TaughtGoal
from test.nodes.harness import ScriptedStack, all_fit, bread_scores, bread_script

from .conftest import PHONE

pytestmark = [pytest.mark.ros, pytest.mark.timeout(180)]

BREAD = "the bread put in the fridge"
TOMATO = "the tomato put in the fridge"
COLD = "the bread and the tomato put in the fridge"
SLICED = "the tomato sliced"
KNIFE = "the knife put in the sink"
FIRST = "The bread should be cold"
SECOND = "And I want the tomato to be with it"


def two_turns():
    """Script and scores of a session whose second turn brings up a second wish."""
    script = {
        "dialog": ["What should I move?", "What else should I know?", "Anything else?"],
        "goal_manager": [
            json.dumps([BREAD, KNIFE, "tea made"]),
            all_fit,
            json.dumps([COLD, TOMATO, SLICED]),
            all_fit,
        ],
        "executor": [json.dumps(["put Bread in Fridge"]), json.dumps(["put Tomato in Fridge"])],
    }
    first = {UNSPECIFIED_TEXT: -9.0, BREAD: -6.0, KNIFE: -8.5, "tea made": -9.5}
    second = {UNSPECIFIED_TEXT: -7.0, BREAD: -9.5, KNIFE: -11.0, "tea made": -12.0}
    scores = {(goal, FIRST): value for goal, value in first.items()}
    scores |= {(goal, SECOND): value for goal, value in second.items()}
    for goal, (one, two) in {
        COLD: (-6.5, -3.0),
        TOMATO: (-9.0, -4.5),
        SLICED: (-9.5, -6.5),
        f"{BREAD}, and {COLD}": (-7.5, -5.0),
        f"{BREAD}, and {TOMATO}": (-7.5, -5.0),
    }.items():
        scores |= {(goal, FIRST): one, (goal, SECOND): two}
    return script, scores


class Running:
    """A scripted stack whose graph runs in a thread, beside the browser."""

    def __init__(self, stack):
        self.scripted = stack
        self.probe = stack.probe
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._spin)

    def __enter__(self):
        self.scripted.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self.scripted.__exit__()

    def _spin(self):
        while not self._stop.is_set():
            self.scripted.stack.executor.spin_once(timeout_sec=0.05)

    @property
    def url(self):
        return self.scripted.stack.nodes["monitor"].page.server.url


class AskingExecutor(Node):
    """Stands in for the executor: its plan waits until it is approved."""

    STEPS = (Step(label="pick up Bread"), Step(label="put Bread in Fridge"))

    def __init__(self, **node_arguments):
        super().__init__("asking_executor", **node_arguments)
        self.asked = []
        self.belief = None
        self.status = self.create_publisher(TaskStatus, "task_status", LATCHED)
        self.create_subscription(GoalBelief, "goal_belief", self.on_belief, LATCHED)
        self.create_service(ApprovePlan, "approve_plan", self.on_approval)

    def on_belief(self, message):
        if message.settled:
            self.belief = message
            self.report(TaskStatus.WAITING_APPROVAL)

    def on_approval(self, request, response):
        self.asked.append((request.session_id, request.turn, request.approve))
        response.success = True
        done = [StepResult(step=s, turn=request.turn, success=True) for s in self.STEPS]
        if request.approve:
            self.report(TaskStatus.SUCCEEDED, done)
        else:
            self.report(TaskStatus.NO_ACTION)
        return response

    def report(self, state, history=()):
        self.status.publish(
            TaskStatus(
                session_id=self.belief.session_id,
                turn=self.belief.turn,
                state=state,
                plan=list(self.STEPS),
                history=list(history),
            )
        )


@pytest.fixture
def run(ros_domain, monkeypatch, tmp_path):
    """Makes a running stack with a page; keywords as of ScriptedStack."""

    def build(script, scores, **keywords):
        return Running(ScriptedStack(monkeypatch, tmp_path, script, scores, web_port=0, **keywords))

    return build


def shown_belief(browser):
    """Goal id to probability, as the page's bars hold them."""
    script = (
        "return Object.fromEntries([...document.querySelectorAll('#bars li')]"
        ".map((row) => [row.dataset.goal, Number(row.dataset.probability)]))"
    )
    return browser.run(script)


def published_belief(running):
    settled = running.probe.settled()
    return {h.goal.id: h.probability for h in settled[-1].hypotheses} if settled else {}


def speak(browser, text):
    box = browser.find("#say-text")
    box.send_keys(text + "\n")


def wait_for_turn(browser, running, turn):
    browser.wait(lambda: running.probe.ended_turn(turn), f"the end of turn {turn}")
    browser.wait(
        lambda: (
            f"turn {turn}" in browser.text("#session-line")
            and shown_belief(browser) == published_belief(running)
        ),
        "the published belief on the page",
    )


def test_the_page_of_a_session(browser, run):
    script, scores = two_turns()
    with run(script, scores) as running:
        browser.open(running.url)
        browser.wait(lambda: "What should I move?" in browser.text("#talk"), "the question")
        assert "Nothing has been said yet" in browser.text("#headline")
        browser.picture("1_start")

        # The numbers are those of the topic, to the last digit.
        speak(browser, FIRST)
        wait_for_turn(browser, running, 1)
        first = shown_belief(browser)
        assert sum(first.values()) == pytest.approx(1.0)
        assert "bread put in the fridge" in browser.text("#headline")
        assert browser.find("#say-text").get_attribute("value") == ""

        # What is said through the box changes the belief.
        browser.wait(lambda: running.probe.asked(2), "the question of turn 2")
        speak(browser, SECOND)
        wait_for_turn(browser, running, 2)
        assert shown_belief(browser) != first
        browser.wait(lambda: "Anything else?" in browser.text("#talk"), "the next question")
        browser.wait(lambda: "Tomato is in Fridge" in browser.text("#talk"), "what was done")
        assert browser.run("return document.querySelectorAll('#areas .area').length") >= 4
        assert "/executor" in browser.text("#nodes")
        assert "proposed by the model in turn 2" in browser.text("#goals")
        assert "+" in browser.text("#edits")
        browser.picture("2_light")
        browser.scheme("dark")
        browser.picture("3_dark")
        browser.size(*PHONE, phone=True)
        browser.wait(lambda: browser.run("return !document.querySelector('.column')"), "one column")
        assert browser.run("return document.documentElement.scrollWidth") <= PHONE[0]
        browser.picture("4_phone_dark")
        browser.scheme("light")
        browser.picture("5_phone_light")

        # One who comes in mid-session sees the same.
        seen = browser.text("#talk"), browser.text("#edits"), shown_belief(browser)
        browser.run("location.reload()")
        browser.wait(lambda: shown_belief(browser) == seen[2], "the belief after a reload")
        assert (browser.text("#talk"), browser.text("#edits")) == seen[:2]
        assert browser.console() == []


def test_goals_are_added_pinned_and_removed(browser, run):
    script, scores = two_turns()
    scores |= {("the window opened", FIRST): -8.0}
    with run(script, scores) as running:
        browser.open(running.url)
        browser.wait(lambda: running.probe.asked(1), "the question")
        browser.find("#add-goal-text").send_keys("the window opened\n")
        browser.wait(lambda: "the window opened" in browser.text("#goals"), "the added goal")
        assert "added by a person" in browser.text("#goals")
        # What a person adds is pinned from the start.
        button = "#goals li:nth-child(2) button"
        for pinned in ("false", "true"):
            browser.press(button, " ")
            browser.wait(
                lambda p=pinned: browser.find(button).get_attribute("aria-pressed") == p,
                f"pinned: {pinned}",
            )
            # The keyboard's place is kept where the list was drawn again.
            assert browser.run("return document.activeElement.dataset.key").startswith("pin ")
            assert str(running.probe.last("goals").goals[1].pinned).lower() == pinned
        browser.press("#goals li:nth-child(2) button:last-child", "\n")
        browser.wait(lambda: "the window opened" not in browser.text("#goals"), "the removal")
        assert "removed by a person" in browser.text("#edits")
        assert browser.console() == []


@pytest.mark.parametrize("approve", [True, False])
def test_a_waiting_plan_is_approved_or_refused(browser, run, approve):
    nodes = ("dialog", "goal_belief", "goal_manager", "monitor")
    with run({**bread_script(), "executor": []}, bread_scores(), nodes=nodes) as running:
        executor = AskingExecutor(context=running.scripted.stack.context)
        running.scripted.stack.add(executor)
        browser.open(running.url)
        browser.wait(lambda: running.probe.asked(1), "the question")
        assert not browser.find("#approval").is_displayed()
        speak(browser, "The bread should be cold")
        browser.wait(lambda: browser.find("#approval").is_displayed(), "the question of approval")
        assert "put Bread in Fridge" in browser.text("#plan")
        browser.picture(f"6_approval_{'yes' if approve else 'no'}")
        browser.find("#approve" if approve else "#refuse").click()
        wait_for_turn(browser, running, 1)
        session = running.probe.last("transcript").session_id
        assert executor.asked == [(session, 1, approve)]
        browser.wait(lambda: not browser.find("#approval").is_displayed(), "the answer's effect")
        assert ("✓" in browser.text("#plan")) is approve
        assert browser.console() == []


def test_a_person_teaches_and_answers_a_suggestion(browser, run, monkeypatch, tmp_path):
    said = "stow the milk"
    monkeypatch.setattr("good_ros.nodes.teacher.make_generator", lambda *_: ScriptedGenerator([]))
    script = {"dialog": ["What now?", "And now?"], "goal_manager": [all_fit]}
    taught = "the milk and the fork put in the bin"
    scores = {(UNSPECIFIED_TEXT, said): -9.0, (taught, said): -6.0}
    table = {"world": "table", "scene": "lunch_bag", "person": "anna", "proactive": True}
    folder = {"people_folder": str(tmp_path / "people"), "suggestion_pause_s": 0.0}
    store = ProfileStore(folder["people_folder"])
    store.save(PersonProfile("anna", goal=TaughtGoal(taught)))
    with run(script, scores, nodes=(*NODES, "teacher"), **table, **folder) as running:
        browser.open(running.url)
        browser.wait(lambda: running.probe.asked(1), "the question")
        browser.find("#teach-person").send_keys("anna")
        for text, reply in (
            ("stow X means fly X", "I do not know how to 'fly X'"),
            ("stow X means pick up X and put it in the bin", "in simulation, and it works"),
        ):
            browser.find("#teach-text").clear()
            browser.find("#teach-text").send_keys(text + "\n")
            browser.wait(lambda reply=reply: reply in browser.text("#lessons"), "what it says back")
        speak(browser, said)
        browser.wait(lambda: browser.find("#suggestion").is_displayed(), "the suggestion")
        assert browser.text("#suggestion-text") == "Shall I stow Fork?"
        browser.picture("8_teaching")
        browser.find("#suggestion-yes").click()
        browser.wait(lambda: "accepted" in browser.text("#suggestions"), "the answer's effect")
        assert not browser.find("#suggestion").is_displayed()
        browser.wait(
            lambda: "in Bin: Fork, Milk" in running.probe.last("task_status").scene, "the deed"
        )
        # The refused lesson is a 409, which a browser notes.
        assert all("409" in line for line in map(str, browser.console()))


def test_what_is_said_is_shown_as_text_never_as_markup(browser, run):
    hostile = "<img src=x onerror=document.title='owned'> <b>bread</b>"
    scores = {**bread_scores(), **bread_scores(hostile)}
    with run(bread_script(), scores) as running:
        browser.open(running.url)
        browser.wait(lambda: running.probe.asked(1), "the question")
        speak(browser, hostile)
        browser.wait(lambda: hostile in browser.text("#talk"), "the utterance")
        assert browser.run("return document.querySelectorAll('#talk img, #talk b').length") == 0
        assert browser.driver.title != "owned"
        assert browser.console() == []


def test_the_report_of_a_session_draws_itself_from_one_file(browser, run, tmp_path):
    with run(bread_script(), bread_scores()) as running:
        browser.open(running.url)
        browser.wait(lambda: running.probe.asked(1), "the question")
        speak(browser, "The bread should be cold")
        wait_for_turn(browser, running, 1)
        monitor = running.scripted.stack.nodes["monitor"]
        browser.wait(lambda: monitor.has_recorded(1), "the record")
        live = shown_belief(browser)
        folder = monitor.folder
    page = tmp_path / "report.html"
    page.write_text(report(folder), encoding="utf-8")
    browser.open("about:blank")
    browser.console()
    browser.open(page.as_uri())
    assert shown_belief(browser) == live
    assert "Bread is in Fridge" in browser.text("#talk")
    for chart in ("#areas", "#entropy", "#timing"):
        assert browser.run(f"return document.querySelectorAll('{chart} svg').length") == 1
    assert not browser.find("#say").is_displayed()
    assert not browser.find("#card-nodes").is_displayed()
    browser.picture("7_report")
    assert browser.console() == []


def test_the_page_follows_nodes_that_come_and_go(browser, run):
    with run(
        bread_script(), bread_scores(), diagnostics_period_s=0.1, stale_after_s=1.5
    ) as running:
        browser.open(running.url)
        browser.wait(lambda: "/goal_belief active" in node_lines(browser), "the nodes")
        stack = running.scripted.stack
        node = stack.nodes["goal_belief"]
        node.worker.post(node.trigger_deactivate)
        browser.wait(lambda: "/goal_belief inactive" in node_lines(browser), "the change")
        node.worker.post(node.trigger_activate)
        browser.wait(lambda: "/goal_belief active" in node_lines(browser), "its return")
        # The page itself goes and comes back on the same port, and the visitor's view with it.
        monitor = stack.nodes["monitor"]
        port = monitor.page.server.port

        def restart():
            monitor.trigger_deactivate()
            monitor.trigger_cleanup()
            monitor.set_parameters([Parameter("web_port", value=port)])
            monitor.autostart()

        monitor.worker.post(restart)
        browser.wait(lambda: "live" not in browser.text("#chips"), "the loss of the connection")
        browser.wait(lambda: "live" in browser.text("#chips"), "its return")
        browser.wait(lambda: running.probe.asked(1), "the question")
        speak(browser, "The bread should be cold")
        wait_for_turn(browser, running, 1)


def node_lines(browser):
    return browser.run(
        "return [...document.querySelectorAll('#nodes summary')]"
        ".map((line) => line.innerText.replace(/\\s+/g, ' ').trim())"
    )
