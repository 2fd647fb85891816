"""The monitor on a real graph: markers, diagnostics, page, bags, replay, watching."""

from __future__ import annotations

import http.client
import json
import math
import threading

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.context import Context
from std_msgs.msg import Float32, String
from visualization_msgs.msg import Marker, MarkerArray

from good_ros import recording
from good_ros.core.errors import GoodError, InputError, ModelError
from good_ros.monitor.report import report, session_sections
from good_ros.monitor.terminal import session_panel
from good_ros.nodes.bag import BagWriter, RecordNode, convert_session
from good_ros.nodes.belief_display import quaternion, rotate
from good_ros.nodes.convert import dict_to_message, message_to_dict
from good_ros.nodes.definitions import definition
from good_ros.nodes.monitor import MonitorNode
from good_ros.nodes.qos import DIAGNOSTICS, LATCHED, MARKERS
from good_ros.nodes.replay import ReplayNode
from good_ros.nodes.stack import Stack, StackOptions
from good_ros.nodes.topics import STREAM_TOPICS
from good_ros.nodes.watch import WatchNode, belief_namespaces

from .harness import BREAD, SAID, Probe, ScriptedStack, bread_scores, bread_script

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]


@pytest.fixture
def make(ros_domain, monkeypatch, tmp_path):
    """Makes a scripted stack; keywords as of ScriptedStack."""

    def build(script=None, scores=None, **keywords):
        return ScriptedStack(
            monkeypatch, tmp_path, script or bread_script(), scores or bread_scores(), **keywords
        )

    return build


def listen(run, message_type, topic, qos):
    heard = []
    run.probe.create_subscription(message_type, topic, heard.append, qos)
    return heard


# RViz and plots.


def test_the_belief_is_drawn_where_the_parameters_say(make):
    pose = [1.0, 2.0, 3.0, 0.0, 0.0, math.pi / 2]
    with make(marker_frame="kitchen", marker_pose=pose, marker_length=4.0) as run:
        arrays = listen(run, MarkerArray, "belief_markers", MARKERS)
        entropy = listen(run, Float32, "belief_entropy", LATCHED)
        top = listen(run, Float32, "belief_top", LATCHED)
        run.turn(1, SAID)
        belief = run.probe.settled()[-1]
        run.wait(
            lambda: arrays and len(arrays[-1].markers) == 2 * len(belief.hypotheses),
            "the settled belief's markers",
        )
        run.wait(lambda: top and top[-1].data > 0.9, "the most likely goal's probability")
        assert top[-1].data == pytest.approx(belief.hypotheses[0].probability)
        assert entropy[-1].data == pytest.approx(belief.entropy)
        markers = arrays[-1].markers
        bars = [m for m in markers if m.type == Marker.CUBE and m.action == Marker.ADD]
        texts = [m for m in markers if m.type == Marker.TEXT_VIEW_FACING]
        assert {m.header.frame_id for m in markers} == {"kitchen"}
        assert len({(m.ns, m.id) for m in markers}) == len(markers)
        for bar, text, hypothesis in zip(bars, texts, belief.hypotheses, strict=True):
            assert bar.scale.x == pytest.approx(4.0 * hypothesis.probability, rel=0.01)
            assert hypothesis.goal.text in text.text
            # A quarter turn: the bars run along y, the rows along x.
            assert bar.pose.position.y == pytest.approx(2.0 + bar.scale.x / 2)
            assert bar.pose.orientation.z == pytest.approx(math.sqrt(0.5))
            for value in (bar.pose.position, bar.scale, bar.color):
                fields = value.get_fields_and_field_types()
                assert all(math.isfinite(getattr(value, name)) for name in fields)


def test_ids_stay_and_removed_goals_are_deleted_on_the_topic(make):
    def rule_out_the_knife(messages, schema):
        names = list(schema["properties"])
        return json.dumps({n: "against" if n == names[-1] else "fits" for n in names})

    script = {
        "dialog": ["What should I move?", "And now?", "And then?"],
        "goal_manager": [
            json.dumps([BREAD, "the knife put in the sink", "tea made"]),
            rule_out_the_knife,
        ],
        "executor": [json.dumps(["put Bread in Fridge"]), json.dumps(["task completed"])],
    }
    with make(script, bread_scores(SAID, "yes, cold")) as run:
        arrays = listen(run, MarkerArray, "belief_markers", MARKERS)
        run.turn(1, SAID)
        run.turn(2, "yes, cold")
        removed = [r.goal.text for g in run.probe.heard["goals"] for r in g.removed]
        assert removed
        run.wait(
            lambda: any(m.action == Marker.DELETE for a in arrays for m in a.markers),
            "the deletion",
        )
        ids = {}
        for array in arrays:
            for marker in array.markers:
                if marker.type == Marker.TEXT_VIEW_FACING:
                    ids.setdefault(marker.text.split("  ", 1)[1], set()).add(marker.id)
        assert all(len(of_goal) == 1 for of_goal in ids.values())
        deleted = {m.id for a in arrays for m in a.markers if m.action == Marker.DELETE}
        assert {next(iter(ids[text])) for text in removed} == {i for i in deleted if i % 2}


@pytest.mark.parametrize("bad", [[0.0] * 5, [0.0] * 5 + [math.nan]])
def test_a_pose_of_other_than_six_numbers_is_refused(make, bad):
    with pytest.raises(GoodError, match="marker_pose must be six numbers"):
        make(marker_pose=bad).__enter__()


def test_turning_by_roll_pitch_and_yaw():
    assert rotate(quaternion(0, 0, math.pi / 2), (1, 0, 0)) == pytest.approx((0, 1, 0))
    assert rotate(quaternion(0, math.pi / 2, 0), (1, 0, 0)) == pytest.approx((0, 0, -1))
    assert rotate(quaternion(math.pi / 2, 0, 0), (0, 1, 0)) == pytest.approx((0, 0, 1))
    turned = rotate(quaternion(0.3, -0.7, 2.0), (1, 2, 3))
    assert math.hypot(*turned) == pytest.approx(math.hypot(1, 2, 3))


# Diagnostics.


def facts_of(status):
    return {value.key: value.value for value in status.values}


def test_every_node_tells_how_it_is(make):
    with make(diagnostics_period_s=0.1) as run:
        heard = listen(run, DiagnosticArray, "/diagnostics", DIAGNOSTICS)

        def last():
            return {s.name: s for array in heard for s in array.status}

        run.turn(1, SAID)
        nodes = {"/dialog", "/goal_belief", "/goal_manager", "/executor", "/monitor"}
        run.wait(
            lambda: nodes <= set(last()) and facts_of(last()["/goal_belief"]).get("tokens scored"),
            "a report of every node, after the turn",
        )
        statuses = last()
        assert all(statuses[name].level == DiagnosticStatus.OK for name in nodes)
        belief = facts_of(statuses["/goal_belief"])
        assert belief["model"] == "scripted"
        assert int(belief["tokens scored"]) > 0
        assert {"tokens reused", "seconds of the last belief", "queue length"} <= set(belief)
        assert facts_of(statuses["/executor"])["world state"] == "ready"
        assert facts_of(statuses["/dialog"])["last error"] == "none"


def test_a_model_that_is_down_is_seen_and_its_return_too(make, monkeypatch):
    monkeypatch.setattr("good_ros.nodes.goal_belief.RETRY_S", 0.3)
    with make(failures=1, diagnostics_period_s=0.05) as run:
        heard = listen(run, DiagnosticArray, "/diagnostics", DIAGNOSTICS)

        def reports():
            return [s for array in heard for s in array.status if s.name == "/goal_belief"]

        run.turn(1, SAID)
        run.wait(
            lambda: reports() and reports()[-1].level == DiagnosticStatus.OK, "the model's return"
        )
        down = [s for s in reports() if s.level == DiagnosticStatus.ERROR]
        assert down
        assert "the scripted scorer is down" in down[0].message


def test_a_planner_whose_model_is_down_is_seen_although_its_turn_ends(make):
    script = {**bread_script(), "executor": [ModelError("the server does not answer")] * 3}
    with make(script, diagnostics_period_s=0.1, model_retries=0) as run:
        heard = listen(run, DiagnosticArray, "/diagnostics", DIAGNOSTICS)
        run.turn(1, SAID)
        run.wait(
            lambda: any(
                s.name == "/executor"
                and s.level == DiagnosticStatus.ERROR
                and "does not answer" in s.message
                for array in heard
                for s in array.status
            ),
            "the executor's error",
        )


def test_a_node_that_falls_silent_is_stale(make):
    with make(diagnostics_period_s=0.1, stale_after_s=1.5) as run:
        heard = listen(run, DiagnosticArray, "/diagnostics", DIAGNOSTICS)
        run.wait(
            lambda: any(s.name == "/dialog" for a in heard for s in a.status), "dialog's report"
        )
        dialog = run.stack.nodes.pop("dialog")
        run.stack.executor.remove_node(dialog)
        dialog.close()
        run.wait(
            lambda: any(
                s.name == "/dialog" and s.level == DiagnosticStatus.STALE
                for a in heard
                for s in a.status
            ),
            "dialog's staleness",
        )
        silent = {s.name for a in heard for s in a.status if s.level == DiagnosticStatus.STALE}
        assert silent == {"/dialog"}
        assert run.stack.nodes["monitor"].view.sections["nodes"]["/dialog"]["level"] == "STALE"


# The page.


class PageClient:
    """Requests from a thread, so that the graph goes on meanwhile."""

    def __init__(self, run):
        self.run = run

    def request(self, method, path, fields=None):
        answers = []

        def ask():
            server = self.run.stack.nodes["monitor"].page.server
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            body = None if fields is None else json.dumps(fields)
            connection.request(method, path, body, {"content-type": "application/json"})
            reply = connection.getresponse()
            answers.append((reply.status, json.loads(reply.read() or "{}")))
            connection.close()

        thread = threading.Thread(target=ask)
        thread.start()
        self.run.wait(lambda: bool(answers), f"the answer to {path}")
        thread.join()
        return answers[0]


def test_a_monitor_that_was_killed_shows_and_records_the_whole_session_again(make):
    with make(web_port=0) as run:
        addresses = listen(run, String, "web_page", LATCHED)
        run.turn(1, SAID)
        run.wait_asked(2)
        first = run.stack.nodes.pop("monitor")
        run.wait(lambda: first.has_recorded(1), "the record of turn 1")
        run.wait(lambda: bool(addresses), "the page's address")
        assert addresses[0].data == first.page.server.url
        run.stack.executor.remove_node(first)
        folder = first.folder
        first.close()
        options = StackOptions(
            parameters={"*": {"web_port": 0, "sessions_folder": str(folder.parent)}}
        )
        run.stack.nodes["monitor"] = second = run.stack._make("monitor", options)
        run.stack.executor.add_node(second)
        assert second.autostart()
        run.wait(lambda: second.view.sections["question"] is not None, "the latched question")
        status, session = PageClient(run).request("GET", "/api/session")
        assert status == 200
        assert session["turns"][0]["utterance"] == SAID
        assert [entry["turn"] for entry in session["history"]] == [1]
        assert session["belief"]["hypotheses"][0]["text"] == BREAD
        assert session["edits"][-1]["added"][0]["origin"] == "proposed by the model"
        assert session["timing"]["1"]["belief_s"] >= 0
        assert second.folder == folder


def test_what_visitors_say_is_heard_and_what_cannot_be_done_is_told(make):
    with make(web_port=0) as run:
        client = PageClient(run)
        run.wait_asked(1)
        assert client.request("POST", "/api/say", {"text": " \x07 "})[0] == 409
        assert client.request("POST", "/api/say", {"text": SAID}) == (200, {"message": ""})
        run.wait_turn(1)
        assert run.probe.last("transcript").turns[0].utterance == SAID
        # The executor of this stack asks for no approval.
        fields = {"session_id": "s", "turn": 1, "approve": True}
        services = dict(run.probe.get_service_names_and_types())
        if "/approve_plan" not in services:
            status, answer = client.request("POST", "/api/approve", fields)
            assert status == 409
            assert "approve_plan is not served: start executor" in answer["message"]
        status, answer = client.request("POST", "/api/goals", {"remove": ["nothing"]})
        assert status == 409
        assert "nothing" in answer["message"]


def test_a_port_that_is_taken_fails_configure_with_what_to_do(make):
    with make(web_port=0) as run:
        taken = run.stack.nodes["monitor"].page.server.port
        with pytest.raises(GoodError, match=f"monitor: the page cannot .*{taken}.*web_port"):
            make(web_port=taken, nodes=("monitor",)).__enter__()


# Bags, replay, report.


@pytest.fixture
def session(make, tmp_path):
    """A recorded session of one turn, and the bag that was recorded beside it."""
    pytest.importorskip("mcap")
    bag = BagWriter(tmp_path / "bag")
    run = make()
    run.stack.add(RecordNode(bag, context=run.stack.context))
    with run:
        run.turn(1, SAID)
        run.wait_asked(2)
        monitor = run.stack.nodes["monitor"]
        wanted = {f"/{topic}": kind for kind, (topic, _) in STREAM_TOPICS.items()}

        def both_have_all():
            return all(
                bag.counts.get(topic, 0) == len(run.probe.heard[topic[1:]])
                and len(recording.read(monitor.folder, kind))
                == sum(m.session_id == monitor.session_id for m in run.probe.heard[topic[1:]])
                for topic, kind in wanted.items()
            )

        run.wait(both_have_all, "the record and the bag to hold all")
        folder = monitor.folder
        beliefs = list(run.probe.heard["goal_belief"])
    bag.close()
    return folder, bag, beliefs


def recorded(folder, kind):
    return [{k: v for k, v in line.items() if k != "time"} for line in recording.read(folder, kind)]


def test_the_bag_is_read_by_mcap_and_rosbags_and_equals_the_record(session):
    folder, bag, _ = session
    from mcap.reader import make_reader
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    with bag.path.open("rb") as file:
        summary = make_reader(file).get_summary()
        counts = {
            summary.channels[number].topic: count
            for number, count in summary.statistics.channel_message_counts.items()
        }
        assert counts == bag.counts
        assert {schema.encoding for schema in summary.schemas.values()} == {"ros2msg"}
        assert sum(1 for _ in make_reader(file).iter_messages()) == sum(counts.values())
    by_topic = {}
    store = get_typestore(Stores.ROS2_JAZZY)
    with AnyReader([bag.folder], default_typestore=store) as reader:
        assert reader.message_count == sum(counts.values())
        for connection, _, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            by_topic.setdefault(connection.topic, []).append(as_plain(message))
    for kind, (topic, _) in STREAM_TOPICS.items():
        # The executor's report before the first session is in no session's record.
        of_session = [m for m in by_topic.get(f"/{topic}", []) if m["session_id"]]
        assert of_session == recorded(folder, kind)
        assert len(by_topic.get(f"/{topic}", [])) - len(of_session) == (topic == "task_status")


def as_plain(value):
    """A message as rosbags reads it, in the form of a session's record."""
    if type(value).__name__.endswith("msg__Time"):
        return value.sec + value.nanosec * 1e-9
    if hasattr(value, "__dataclass_fields__"):
        names = [n for n in value.__dataclass_fields__ if not n.startswith("_")]
        return {name: as_plain(getattr(value, name)) for name in names}
    if isinstance(value, list):
        return [as_plain(item) for item in value]
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def test_a_recorded_session_is_converted_to_the_same_bag(session, tmp_path):
    folder, _, _ = session
    bag = BagWriter(tmp_path / "converted")
    convert_session(folder, bag, "robot1")
    bag.close()
    from mcap.reader import make_reader
    from rclpy.serialization import deserialize_message

    kinds = {f"/robot1/{topic}": (kind, cls) for kind, (topic, cls) in STREAM_TOPICS.items()}
    found = {kind: [] for kind in STREAM_TOPICS}
    with bag.path.open("rb") as file:
        for _, channel, message in make_reader(file).iter_messages():
            kind, cls = kinds[channel.topic]
            fields = message_to_dict(deserialize_message(message.data, cls))
            found[kind].append(recording.finite(fields))
    for kind in STREAM_TOPICS:
        assert found[kind] == recorded(folder, kind)


def test_a_bag_never_overwrites(tmp_path):
    pytest.importorskip("mcap")
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="cannot be made"):
        BagWriter(tmp_path / "there")


def replaying(folder, rate):
    """All beliefs that a probe hears of a replayed session."""
    stack = Stack(StackOptions(nodes=()))
    try:
        probe = Probe(context=stack.context)
        stack.add(probe)
        node = ReplayNode(folder, rate, context=stack.context)
        stack.add(node)
        count = len(recording.read(folder, "beliefs"))
        assert stack.spin(lambda: node.is_over() and len(probe.heard["goal_belief"]) == count, 30.0)
        return list(probe.heard["goal_belief"])
    finally:
        stack.close()


@pytest.mark.parametrize("rate", [0.0, 5.0])
def test_replay_gives_the_same_beliefs_in_the_same_order(session, rate):
    folder, _, beliefs = session
    replayed = replaying(folder, rate)
    assert [recording.finite(message_to_dict(b)) for b in replayed] == [
        recording.finite(message_to_dict(b)) for b in beliefs
    ]


def test_a_replay_is_scheduled_by_the_record_its_rate_and_the_longest_pause():
    messages = [("status", {"time": t}) for t in (10.0, 11.0, 31.0, 31.5)]
    schedule = ReplayNode._schedule
    assert [at for at, _, _ in schedule(messages, 1.0, 0.0)] == [0.0, 1.0, 21.0, 21.5]
    assert [at for at, _, _ in schedule(messages, 2.0, 4.0)] == [0.0, 0.5, 2.5, 2.75]
    assert [at for at, _, _ in schedule(messages, 0.0, 0.0)] == [0.0] * 4


def test_the_report_is_one_page_with_all_of_the_session(session):
    folder, _, beliefs = session
    page = report(folder)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    assert 'src="' not in page
    assert "<link" not in page
    start = page.index('type="application/json">') + len('type="application/json">')
    data = json.loads(page[start : page.index("</script>", start)])
    assert data["turns"][0]["utterance"] == SAID
    shares = {h.goal.id: h.probability for h in beliefs[-1].hypotheses}
    assert data["history"][0]["shares"] == shares
    assert [r["label"] for r in data["status"]["done"]] == ["pick up Bread", "put Bread in Fridge"]


def test_words_cannot_end_the_reports_script(tmp_path):
    hostile = "</script><script>alert(1)</script><!--"
    record = recording.SessionRecord(tmp_path, {"session_id": hostile})
    transcript = {"turns": [], "turn": 0, "ended": True, "end_reason": hostile}
    record.write("transcript", transcript)
    record.close()
    page = report(tmp_path)
    assert hostile not in page
    assert page.count("</script>") == 2
    assert session_sections(tmp_path).sections["session"]["end_reason"] == hostile


# Messages and their definitions.


def test_a_message_survives_the_way_through_a_record(session):
    _, _, beliefs = session
    again = dict_to_message(type(beliefs[0]), message_to_dict(beliefs[0]))
    assert message_to_dict(again) == message_to_dict(beliefs[0])
    question = STREAM_TOPICS["questions"][1]
    message = dict_to_message(question, {"expected_information_gain": None, "unknown": 1})
    assert math.isnan(message.expected_information_gain)


def test_definitions_name_every_message_within():
    text = definition(MarkerArray)
    assert text.startswith("visualization_msgs/Marker[] markers\n")
    for inner in ("visualization_msgs/Marker", "geometry_msgs/Pose", "builtin_interfaces/Time"):
        assert text.count(f"MSG: {inner}\n") == 1
    assert "float64 x" in text
    assert "bool frame_locked" in text


# Watching from outside.


def test_watching_finds_the_belief_in_any_namespace(ros_domain, make, tmp_path):
    from rich.console import Console

    with make() as run:
        run.turn(1, SAID)
        other = Context()
        watching = Stack(StackOptions(nodes=()), other)
        try:
            node = WatchNode("", context=other)
            watching.add(node)
            run.wait(
                lambda: (
                    watching.spin(lambda: node.view.sections["status"] is not None, 0.05)
                    and node.view.sections["belief"] is not None
                ),
                "the latched messages",
            )
            assert belief_namespaces(node) == [""]
            replay = ReplayNode(
                run.stack.nodes["monitor"].folder, 0.0, context=other, namespace="robot2"
            )
            watching.add(replay)
            run.wait(
                lambda: watching.spin(lambda: belief_namespaces(node) == ["", "/robot2"], 0.05),
                "the second belief",
            )
        finally:
            watching.close()
        console = Console(width=100, record=True, file=(tmp_path / "shown").open("w"))
        console.print(session_panel(node.view.sections))
        shown = console.export_text()
        assert BREAD in shown
        assert SAID in shown
        assert "put Bread in Fridge" in shown


def test_parameters_of_the_page_are_off_and_local_unless_set():
    defaults = {p.name: p.default for p in MonitorNode.PARAMETERS}
    assert (defaults["web_port"], defaults["web_host"]) == (-1, "127.0.0.1")
