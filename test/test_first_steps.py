"""What newcomers do wrongly: each gets one clear line, and no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from good_ros import cli
from good_ros.core.errors import GoodError, InputError, ModelError


def told(capsys, *arguments: str) -> str:
    """The one line with which ``good`` refuses."""
    assert cli.main(arguments) == 1
    (line,) = [x for x in capsys.readouterr().err.splitlines() if x.startswith("good: ")]
    return line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: No such file"),
        ("a: [1,\n b", "is not YAML"),
        ("max_turns: 3\n", "'ros__parameters:'"),
        ("/**/dialog:\n  max_turns: 3\n", "'ros__parameters:'"),
        ("/**/dialog:\n  ros__parameters: 3\n", "'ros__parameters:'"),
        ("", "'ros__parameters:'"),
    ],
)
def test_a_parameter_file_that_cannot_be_used(tmp_path, text, words):
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        cli.check_parameter_file(str(path))
    assert "mine.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "/**/dialog:\n  ros__parameters:\n    max_turns: 3\n",
        "robot1:\n  dialog:\n    ros__parameters: {max_turns: 3}\n",
    ],
)
def test_a_parameter_file_that_can_be_used(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert cli.check_parameter_file(str(path)) == str(path)


def test_an_interrupt_while_commands_are_imported_is_quiet(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_parser", interrupted)
    assert cli.main([]) == 130
    assert capsys.readouterr() == ("", "")
    # The console script imports this module outside main(): it brings nothing that takes long.
    script = "import sys, good_ros.cli; print({'numpy', 'rclpy', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.ros
class TestOptions:
    @pytest.mark.parametrize(
        ("option", "value", "words"),
        [
            ("--turns", "0", "max_turns cannot be 0: it must be a whole number from 1 to 1000"),
            ("--web", "99999", "web_port cannot be 99999"),
            ("--namespace", "my robot", "'my robot' is no namespace"),
            ("--params-file", "nowhere.yaml", "nowhere.yaml cannot be read"),
        ],
    )
    def test_a_value_that_cannot_be(self, ros_domain, capsys, option, value, words):
        assert words in told(capsys, "up", option, value)

    def test_a_level_of_logging_that_there_is_not(self, capsys):
        with pytest.raises(SystemExit):
            cli.main(["up", "--log-level", "loud"])
        assert "'loud' (choose from 'debug'" in capsys.readouterr().err

    @pytest.mark.parametrize("command", [("watch", "--once"), ("record",), ("arm", "stop")])
    def test_a_namespace_to_watch(self, ros_domain, capsys, tmp_path, monkeypatch, command):
        monkeypatch.chdir(tmp_path)
        assert "is no namespace" in told(capsys, *command, "--namespace", "a b")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("scoring", "expected"), [("", ""), ("http://server/v1", "big"), ("small", "")]
    )
    def test_the_servers_own_name_of_a_model(self, scoring, expected):
        url = "http://server/v1"
        arguments = ["--model", url, "--served-model", "big"]
        arguments += ["--scoring-model", scoring] if scoring else []
        options = cli._parser().parse_args(["up", *arguments])
        parameters = cli._stack_options(options, ("dialog",)).parameters
        assert parameters["*"]["served_model"] == "big"
        belief = parameters["*"] | parameters["goal_belief"]
        # Without --scoring-model the belief has the default model, which is on no server.
        assert belief["served_model"] == expected


@pytest.fixture
def make(ros_domain, monkeypatch):
    """Makes a stack of dialog alone, with ROS arguments and a model that there is not."""
    from good_ros.nodes.stack import Stack, StackOptions

    def missing(*_):
        raise ModelError("there is no model")

    monkeypatch.setattr("good_ros.nodes.dialog.make_generator", missing)
    stacks = []

    def build(*ros_arguments):
        stacks.append(Stack(StackOptions(("dialog",), ros_arguments=ros_arguments)))
        return stacks[-1]

    yield build
    for stack in stacks:
        stack.close()


@pytest.mark.ros
@pytest.mark.timeout(120)
class TestNodes:
    def test_a_dialog_without_its_model_can_be_configured_later(
        self, make, monkeypatch, capfd, tmp_path
    ):
        from good_ros.language.scripted import ScriptedGenerator

        stack = make("-p", f"sessions_folder:={tmp_path}")
        stack.start(strict=False)
        dialog = stack.nodes["dialog"]
        assert dialog.failure == "there is no model"
        generator = ScriptedGenerator(["What should I do?"])
        monkeypatch.setattr("good_ros.nodes.dialog.make_generator", lambda *_: generator)
        stack.start()
        assert dialog.failure == ""
        monkeypatch.undo()
        # Once more without: what the first session left is gone, and closing is quiet.
        dialog.trigger_deactivate()
        dialog.trigger_cleanup()
        stack.close()
        assert "Traceback" not in capfd.readouterr().err

    def test_what_a_node_did_not_expect_is_told_too(self, make, monkeypatch, capfd):
        def broken(*_):
            raise RuntimeError("two\nlines")

        monkeypatch.setattr("good_ros.nodes.dialog.make_generator", broken)
        with pytest.raises(GoodError, match=r"^dialog: RuntimeError: two lines$"):
            make().start()
        assert "cannot configure: RuntimeError: two lines" in capfd.readouterr().err

    def test_a_signal_while_nodes_are_configured_is_no_failure_of_theirs(
        self, make, monkeypatch, capfd
    ):
        stack = make()

        def signalled(*_):
            stack.context.try_shutdown()
            raise RuntimeError("publisher's context is invalid")

        monkeypatch.setattr("good_ros.nodes.dialog.make_generator", signalled)
        with pytest.raises(KeyboardInterrupt):
            stack.start()
        assert "cannot configure" not in capfd.readouterr().err

    @pytest.mark.parametrize(
        ("value", "words"),
        [
            ("max_turns:=twenty", "max_turns cannot be 'twenty': it must be a whole number"),
            ("max_turns:=0", "max_turns cannot be 0: it must be a whole number from 1 to 1000"),
            ("temper:=1", "temper cannot be 1: it must be a number with a decimal point from 0"),
            ("autostart:=2", "autostart cannot be 2: it must be true or false"),
            ("task:=[a]", r"task cannot be \['a'\]: it must be text"),
        ],
    )
    def test_a_value_that_a_parameter_cannot_have(self, make, value, words):
        with pytest.raises(InputError, match=f"^dialog: parameter {words}"):
            make("-p", value)

    def test_a_parameter_that_no_node_has_is_told_of(self, make, capfd):
        # world_seed is executor's: under /** it is given to all.
        make("-p", "max_turn:=3", "-p", "kettle:=1", "-p", "world_seed:=1")
        said = [x for x in capfd.readouterr().err.splitlines() if "there is no parameter" in x]
        assert len(said) == 2
        assert "kettle, so it counts for nothing: docs/parameters.md" in said[0]
        assert "max_turn, so it counts for nothing: is max_turns meant?" in said[1]

    @pytest.mark.parametrize(
        ("arguments", "code", "words"),
        [
            (("--model", "small"), 2, "dialog: '--model' is not understood"),
            (("--ros-args", "--params-file", "none.yaml"), 1, "dialog: Couldn't parse params file"),
            (("--ros-args", "-p", "max_turns:=0"), 1, "dialog: parameter max_turns cannot be 0"),
        ],
    )
    def test_a_nodes_own_entry(self, ros_domain, capsys, arguments, code, words):
        from good_ros.nodes.base import run
        from good_ros.nodes.dialog import DialogNode

        assert run(DialogNode, args=["dialog", *arguments]) == code
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(words)
        assert "/project" not in line

    def test_how_a_nodes_entry_is_called(self, capsys):
        from good_ros.nodes.base import run
        from good_ros.nodes.dialog import DialogNode

        assert run(DialogNode, args=["dialog", "--help"]) == 0
        assert capsys.readouterr().out.startswith("usage: dialog --ros-args -p")


@pytest.mark.ros
@pytest.mark.timeout(120)
def test_a_recording_that_is_ended_by_ctrl_c_says_what_it_holds(ros_domain, tmp_path):
    bag = str(tmp_path / "bag")
    with subprocess.Popen(
        [sys.executable, "-m", "good_ros.cli", "record", bag],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith("recording in")
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
    assert (said, errors, process.returncode) == (f"0 messages in {bag}\n", "", 0)


def test_an_interrupt_while_a_model_is_loaded_is_not_lost(small_model):
    """llama.cpp's log calls back: what Python does there would swallow a KeyboardInterrupt."""
    from good_ros.language import llama_runtime

    llama_runtime._library()
    events = []
    sys.setprofile(lambda frame, event, argument: events.append(event))
    llama_runtime._log_callback(2, b"loading", None)
    sys.setprofile(None)
    assert "call" not in events
