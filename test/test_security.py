"""Text is data, keys stay where they are, and the checks for it find what they are there for."""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from good_ros.core.belief import Belief, Hypothesis
from good_ros.core.dialog import Transcript, Turn
from good_ros.core.goals import unspecified_goal
from good_ros.inference.goal_management import GoalManager
from good_ros.language.conversation import one_question
from good_ros.language.scripted import ScriptedGenerator
from good_ros.language.wording import control_character, without_controls
from good_ros.recording import SessionRecord, folder_name

from .model_server import Server

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "good_ros").rglob("*.py"))
RUNS_TEXT = {"eval", "exec", "compile", "__import__", "input", "breakpoint"}
FORBIDDEN = {
    *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load", "yaml.unsafe_load_all"),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads"),
    *("shelve.open", "joblib.load", "dill.load", "dill.loads", "tempfile.mktemp"),
}
ALLOWED = {
    # Its own child process, over a pipe that nobody else has.
    ("good_ros/worlds/arm/rendering.py", "pickle.loads"),
}


def dangers(text: str) -> list[str]:
    """What of a module would run text, start a shell, or build objects from foreign bytes."""
    found = []
    for call in (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)):
        name = ast.unparse(call.func)
        keywords = {k.arg: k.value for k in call.keywords}
        if name in RUNS_TEXT or name in FORBIDDEN or name.startswith(("os.exec", "os.spawn")):
            found.append(name)
        shell = keywords.get("shell")
        if shell is not None and not (isinstance(shell, ast.Constant) and shell.value is False):
            found.append(f"{name} with a shell")
        pickled = keywords.get("allow_pickle")
        if pickled is not None and not (isinstance(pickled, ast.Constant) and not pickled.value):
            found.append(f"{name} with pickle")
        if name == "torch.load" and "weights_only" not in keywords:
            found.append(name)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_runs_text_or_builds_objects_from_foreign_bytes(path):
    name = str(path.relative_to(ROOT))
    assert [d for d in dangers(path.read_text()) if (name, d) not in ALLOWED] == []


@pytest.mark.parametrize(
    "line",
    [
        "eval(reply)",
        "exec(reply)",
        "os.system(reply)",
        "os.execvp(reply, [])",
        "subprocess.run(reply, shell=True)",
        "subprocess.run(reply, shell=chosen)",
        "subprocess.getoutput(reply)",
        "yaml.load(text, Loader=yaml.Loader)",
        "pickle.loads(data)",
        "np.load(file, allow_pickle=True)",
        "torch.load(file)",
        "__import__(reply)",
    ],
)
def test_each_danger_would_be_found(line):
    assert dangers(line)


@pytest.mark.parametrize(
    "line", ["model.eval()", "subprocess.run([a], shell=False)", "re.compile(x)"]
)
def test_what_is_harmless_is_not(line):
    assert not dangers(line)


@given(st.text(max_size=80))
def test_a_session_id_makes_no_path(session_id):
    name = folder_name(session_id)
    assert Path(name).name == name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert len(name) <= 60


def test_ids_are_kept_apart_and_plain_ones_kept_as_they_are():
    assert folder_name("a20bc08a7462") == "a20bc08a7462"
    assert len({folder_name(x) for x in ("../x", "/x", "*", "?", "", "..")}) == 6


@pytest.mark.ros
@pytest.mark.parametrize("session_id", ["../../../outside", "/outside", "*", "a\nb\x1b[31m"])
def test_a_message_cannot_choose_where_it_is_recorded(session_id, ros_domain, tmp_path):
    import rclpy
    from rclpy.parameter import Parameter

    from good_ros.msg import Transcript
    from good_ros.nodes.monitor import MonitorNode

    root = tmp_path / "in" / "sessions"
    SessionRecord(root / "20260101-000000-other", {}).close()
    context = rclpy.Context()
    rclpy.init(context=context)
    monitor = MonitorNode(
        context=context, parameter_overrides=[Parameter("sessions_folder", value=str(root))]
    )
    try:
        monitor.trigger_configure()
        monitor.trigger_activate()
        monitor.on_transcript(Transcript(session_id=session_id))
        assert monitor.folder.parent == root
        assert json.loads((monitor.folder / "session.json").read_text())["session_id"] == session_id
    finally:
        monitor.close()
        context.try_shutdown()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in"]
    assert len(list(root.iterdir())) == 2


# What a model replies.

ESCAPES = "\x1b]0;owned\x07\x1b[31m"
"""Sets a terminal's title and colour."""


def test_a_question_cannot_steer_a_terminal():
    question = one_question(f"{ESCAPES}Where does it go?\x9b31m")
    assert not control_character(question)
    assert question.endswith("Where does it go?")


def test_nor_can_a_goal_that_is_made_of_it():
    told = ["hot tea; rm -rf / $(reboot) `id`", f"soup {ESCAPES}", "a <script>bath</script>"]
    goal = unspecified_goal()
    belief = Belief("s", 1, 1, False, (Hypothesis(goal, 1.0, -1.0, -1.0),), 0.0)
    dialog = Transcript("s", (Turn(1, "What?", "Something hot"),))
    edited = GoalManager().edit(belief, dialog, ScriptedGenerator([json.dumps(told)]), "help")
    texts = [goal.text for goal in edited.added]
    # Text stays text: nothing else of it is changed, nor run.
    assert texts[0] == told[0]
    assert texts[2] == told[2]
    assert not any(control_character(text) for text in texts)


@given(st.text(max_size=60))
def test_without_controls_keeps_everything_else(text):
    cleaned = without_controls(text)
    assert not control_character(cleaned)
    kept = [a for a, b in zip(text, cleaned, strict=True) if a != b]
    assert all(control_character(character) for character in kept)


# Keys.

KEY = "sk-planted-" + "1234567890abcdef"


@pytest.mark.ros
def test_no_parameter_is_a_key():
    from good_ros.node_names import EXTRA_NODES, NODES
    from good_ros.nodes.parameters import EVERY_NODE
    from good_ros.nodes.stack import node_type

    for node in (*NODES, *EXTRA_NODES):
        for parameter in (*EVERY_NODE, *node_type(node).PARAMETERS):
            if parameter.name == "web_token":
                # The page's own, for its visitors; empty has one made up at start.
                assert parameter.default == ""
                continue
            words = set(parameter.name.split("_"))
            assert not words & {"key", "keys", "token", "password", "secret", "apikey"}


@pytest.mark.ros
@pytest.mark.timeout(120)
def test_a_key_is_nowhere_but_in_the_request(ros_domain, tmp_path, monkeypatch, capfd):
    """The server refuses the first call, and quotes the key in doing so, then answers."""
    from diagnostic_msgs.msg import DiagnosticArray
    from rcl_interfaces.msg import Log

    from good_ros.nodes.stack import Stack, StackOptions

    from .nodes.harness import Probe

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = Server(401, json.dumps({"reply": "What should I move?"}))
    parameters = {
        "*": {"model": server.url, "sessions_folder": str(tmp_path), "diagnostics_period_s": 0.1}
    }
    stack = Stack(StackOptions(("dialog", "monitor"), parameters=parameters))
    probe = Probe(context=stack.context)
    stack.add(probe)
    said: list[str] = []
    for kind, topic in ((Log, "/rosout"), (DiagnosticArray, "/diagnostics")):
        probe.create_subscription(kind, topic, lambda message: said.append(str(message)), 100)
    try:
        stack.start()
        assert stack.spin(lambda: any("401" in text for text in said), 60.0), said
        for node in stack.nodes.values():
            for name in node._parameters:
                said.append(f"{name} {node.get_parameter(name).value}")
        folder = stack.nodes["monitor"].folder
    finally:
        stack.close()
        server.released.set()
        server.shutdown()
    assert server.headers[0] == f"Bearer {KEY}"
    recorded = [path.read_text() for path in folder.iterdir()]
    assert len(recorded) > 1
    out, err = capfd.readouterr()
    everything = "\n".join([*said, *recorded, out, err])
    assert "401" in everything
    assert KEY not in everything


# The checks that CI runs.


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


PLANTED = {
    "OpenAI": 'KEY = "sk-' + "a8Kx9" * 4 + "T3BlbkFJ" + "Zq7Wm" * 4 + '"',
    "AWS": 'KEY = "AKIA' + 'ABCDEFGHIJKLMNOP"',
    "Secret Keyword": "pass" + 'word = "correct-horse-battery"',
    "Private Key": "-----BEGIN RSA " + "PRIVATE KEY-----",
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_key_fails_the_scan(kind, tmp_path, capsys):
    pytest.importorskip("detect_secrets")
    planted = tmp_path / "planted.py"
    planted.write_text(f"# a file\n{PLANTED[kind]}\n")
    assert script("check_secrets").main([str(planted)]) == 1
    said = capsys.readouterr().err
    assert kind in said
    assert "planted.py:2" in said
    # What is found is not shown.
    assert PLANTED[kind] not in said


def test_digests_that_are_known_pass_the_scan(tmp_path):
    pytest.importorskip("detect_secrets")
    check = script("check_secrets")
    known = str(ROOT / "good_ros" / "language" / "models.py")
    assert check.main([known]) == 0
    moved = tmp_path / "models.py"
    moved.write_text(Path(known).read_text())
    assert check.main([str(moved)]) == 1


def test_the_known_digests_name_no_place_on_a_disk():
    text = (ROOT / ".secrets.baseline").read_text()
    known = [found for rows in json.loads(text)["results"].values() for found in rows]
    assert known
    assert not [found["filename"] for found in known if Path(found["filename"]).is_absolute()]


def package(name: str, *vulnerabilities: dict, **more: str) -> dict:
    return {"name": name, "version": "1", "vulns": list(vulnerabilities), **more}


WEAK = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fix_versions": ["2"]}
UNKNOWN = {"name": "b", "skip_reason": "Dependency not found on PyPI and could not be audited"}


@pytest.mark.parametrize(
    ("report", "said", "explained", "status", "line"),
    [
        ({"dependencies": [package("a")]}, "", {}, 0, "1 packages looked up, 0 vulner"),
        ({"dependencies": [package("a", WEAK)]}, "", {}, 1, "a 1: PYSEC-1, fixed in 2"),
        ({"dependencies": [package("a", WEAK)]}, "", {"CVE-1": "unused"}, 0, "explained: unused"),
        ({"dependencies": [package("a"), UNKNOWN]}, "", {}, 0, "not known there: b"),
        ({"dependencies": [UNKNOWN]}, "", {}, 0, "SKIPPED"),
        ({}, "ConnectionError(NameResolutionError)", {}, 0, "SKIPPED"),
        ({}, "error: no such option", {}, 1, "no such option"),
        ({"dependencies": [{"name": "b", "skip_reason": "other"}]}, "", {}, 0, "0 packages"),
    ],
)
def test_the_audit_skips_only_where_the_service_is_out_of_reach(
    report, said, explained, status, line
):
    result, lines = script("audit").judge(report, said, explained)
    assert result == status
    assert line in "\n".join(lines)
    assert ("SKIPPED" in "\n".join(lines)) == (line == "SKIPPED")
