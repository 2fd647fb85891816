"""Faults that users of such systems report: each has a test, marked with its thread's name.

``pytest -m faults`` runs them all.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
THREADS = (
    "rclpy #1398",
    "rclcpp #2029",
    "rclpy #1432",
    "rosbridge_suite #1022",
    "launch #666",
    "ROS-LLM PR #44",
    "ROS-LLM PR #48",
    "ros-mcp-server #318",
    "Fast-DDS #5396, #3475",
    "vision_opencv #535",
    "ai2thor #1080, #1273",
    "llama.cpp #27174",
    "llama_ros #31",
)
SPINNERS = {"spin_until_future_complete", "spin_once", "spin"}


def marked() -> set[str]:
    """The threads that a test is marked with."""
    found = set()
    for path in (ROOT / "test").rglob("test_*.py"):
        found |= set(re.findall(r'pytest\.mark\.faults\("([^"]+)"\)', path.read_text()))
    return found


def test_every_fault_has_a_test():
    assert set(THREADS) == marked()


@pytest.mark.faults("rclpy #1398")
@pytest.mark.parametrize(
    "path", sorted((ROOT / "good_ros" / "nodes").glob("*.py")), ids=lambda p: p.stem
)
def test_no_callback_spins(path):
    """A node's methods never spin: that keeps other callbacks from ever being called again."""
    tree = ast.parse(path.read_text())
    for kind in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        bases = {ast.unparse(base) for base in kind.bases}
        if not any(base.endswith("Node") for base in bases):
            continue
        for call in (n for n in ast.walk(kind) if isinstance(n, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            assert name not in SPINNERS, f"{path.name}: {kind.name} calls {name}"


@pytest.mark.ros
@pytest.mark.faults("rclcpp #2029")
@pytest.mark.faults("rclpy #1432")
@pytest.mark.skipif(not shutil.which("taskset"), reason="needs taskset")
@pytest.mark.timeout(300)
def test_twenty_turns_in_a_row_on_one_core(ros_domain):
    result = subprocess.run(
        [
            *["taskset", "-c", "0"],
            sys.executable,
            *["-m", "good_ros.cli", "soak", "--turns", "20", "--json"],
        ],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert result.returncode == 0, result.stderr
    measured = json.loads(result.stdout.splitlines()[-1])
    assert (measured["turns"], measured["turns_lost"], measured["turns_doubled"]) == (20, 0, 0)


@pytest.mark.faults("vision_opencv #535")
def test_no_module_needs_one_of_the_two_numpys():
    """Names that numpy 2 removed, and those that numpy 1.26 has not. Imports under both versions
    are for venvs of their own."""
    gone = re.compile(
        r"\bnp\.(float_|complex_|NaN|Inf|infty|product|cumproduct|sometrue|in1d|trapz)\b"
    )
    new = re.compile(
        r"\bnp\.(astype|concat|pow|matvec|vecdot|unstack|cumulative_sum|bitwise_invert)\b"
    )
    for path in (ROOT / "good_ros").rglob("*.py"):
        text = path.read_text()
        assert not gone.search(text), path
        assert not new.search(text), path
