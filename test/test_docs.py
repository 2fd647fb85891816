"""The documentation: written pages are up to date, and the checker of links and commands finds
what it is there to find."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_interfaces_are_as_in_their_files():
    written = script("write_interfaces")
    assert written.PATH.read_text() == written.text(), "make docs-interfaces"


def test_links_and_commands_of_all_pages():
    assert script("check_docs").main() == 0


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("make demo", ""),
        ("make tea", "no target tea"),
        ("good demo --profile put_away_food", ""),
        ("good demo --colour red", "unrecognized"),
        ("good brew", "invalid choice"),
        ("good eval replay --data FILE --world household", ""),
        ("good eval replay --date FILE", "no option --date"),
        ("good report SESSION", ""),
        ("good replay SESSION --rate 4 --web", ""),
        ("good replay SESSION --rate", "expected one argument"),
        ("good eval tasks --limit N", ""),
        ("good reports SESSION", "no subcommand reports"),
        ("good watch|record|replay", ""),
        ("good watch|recall", "no subcommand recall"),
        ("ros2 launch good_ros good.launch.py world:=grocery", ""),
        ("ros2 launch good_ros tea.launch.py", "no launch file"),
        ("ros2 launch good_ros good.launch.py profile:=x", "no argument profile"),
        ("ros2 launch good_ros simulated.launch.py profile:=x", ""),
        ("ros2 launch good_ros good.launch.py backend:=magic", "none of"),
        ("ros2 run good_ros dialog --ros-args", ""),
        ("ros2 run good_ros kettle", "no executable"),
        ("ros2 topic echo /x good_ros/msg/GoalBelief", ""),
        ("ros2 service call /x good_ros/srv/Nothing", "no srv Nothing"),
        ("docker compose -f docker/compose.yaml up", ""),
        ("docker build -f docker/Dockerfile.arm .", "does not exist"),
        ("pip install good_ros[transformers]", ""),
        ("pip install good_ros[kettle]", "no extra kettle"),
        ("scripts/nothing.sh", "does not exist"),
    ],
)
def test_commands_are_checked(words, wrong):
    found = script("check_docs").problem(words.split())
    assert (wrong in found) if wrong else not found


def test_broken_links_are_found(tmp_path, monkeypatch):
    docs = script("check_docs")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    (tmp_path / "there.md").write_text("x")
    page = tmp_path / "page.md"
    page.write_text("[a](there.md#part) [b](gone.md) ![c](https://example.org/x.png) [d](#here)")
    assert list(docs.broken_links(page)) == ["page.md: gone.md does not exist"]


def test_blocks_that_cannot_be_read_are_found(tmp_path, monkeypatch):
    docs = script("check_docs")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n```python\nx = (\n```\n```yaml\na: [\n```\n")
    assert len(list(docs.unreadable(page))) == 2


def test_commands_that_need_nothing_are_run(capsys, monkeypatch):
    docs = script("check_docs")
    assert docs.runnable(["good", "model", "list"])
    assert not docs.runnable(["good", "world", "show", "--out", "X"])
    assert not docs.runnable(["good", "up"])
    assert docs.failed(["good", "model", "list"]) == ""
    assert "ended with 1" in docs.failed(["good", "arm", "show", "--out", "table.txt"])


SCRIPTS = {
    page: re.search(r"```python\n(import rclpy.*?)```", (ROOT / page).read_text(), re.DOTALL)[1]
    for page in ("README.md", "docs/index.md")
}


@pytest.mark.ros
@pytest.mark.timeout(120)
@pytest.mark.parametrize("page", SCRIPTS)
def test_the_front_end_of_a_new_reader_is_heard(page, ros_domain):
    """As it stands there, against a subscriber like dialog's."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import String

    from good_ros.nodes.qos import SPEECH_IN

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("dialog", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    heard: list[str] = []
    node.create_subscription(String, "speech_text", lambda m: heard.append(m.data), SPEECH_IN)
    with subprocess.Popen([sys.executable, "-c", SCRIPTS[page]]) as script_:
        try:
            end = time.monotonic() + 60.0
            while not heard and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.2)
            assert script_.wait(30) == 0
        finally:
            script_.kill()
            executor.shutdown()
            node.destroy_node()
            context.try_shutdown()
    assert heard == ["Please put the bread in the fridge."]
    assert len(SCRIPTS[page].splitlines()) <= 12
