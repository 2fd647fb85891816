"""The launch files, with the launch system's classes replaced by ones that only record: that
system is not on the Python package index."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from good_ros import launch_arguments, node_names
from good_ros.core.errors import InputError

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "launch").glob("*.launch.py"))


class Recorded(SimpleNamespace):
    """What an action was made with: ``args`` and its keywords."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(args=args, **keywords)


class LaunchConfiguration(Recorded):
    def perform(self, context: dict[str, str]) -> str:
        return context[self.args[0]]


class ParameterValue(Recorded):
    """A value with its type."""


KINDS = {
    "launch": ["LaunchDescription"],
    "launch.actions": ["DeclareLaunchArgument", "ExecuteProcess", "OpaqueFunction"],
    "launch_ros": [],
    "launch_ros.actions": ["Node"],
    "launch_ros.substitutions": ["ExecutableInPackage"],
}


@pytest.fixture
def launch_system(monkeypatch):
    for name, kinds in KINDS.items():
        module = ModuleType(name)
        for kind in kinds:
            setattr(module, kind, type(kind, (Recorded,), {}))
        monkeypatch.setitem(sys.modules, name, module)
    substitutions = ModuleType("launch.substitutions")
    substitutions.LaunchConfiguration = LaunchConfiguration
    monkeypatch.setitem(sys.modules, "launch.substitutions", substitutions)
    descriptions = ModuleType("launch_ros.parameter_descriptions")
    descriptions.ParameterValue = ParameterValue
    monkeypatch.setitem(sys.modules, "launch_ros.parameter_descriptions", descriptions)
    index = ModuleType("ament_index_python.packages")
    index.get_package_share_directory = lambda name: str(ROOT)
    monkeypatch.setitem(sys.modules, "ament_index_python", ModuleType("ament_index_python"))
    monkeypatch.setitem(sys.modules, "ament_index_python.packages", index)
    monkeypatch.delitem(sys.modules, "good_ros.nodes.launching", raising=False)
    yield
    sys.modules.pop("good_ros.nodes.launching", None)


def described(path: Path) -> tuple[dict[str, Any], Any]:
    """The arguments that a launch file declares, by name, and the function it ends with."""
    spec = importlib.util.spec_from_file_location("launch_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (actions,) = module.generate_launch_description().args
    *declared, last = actions
    return {d.args[0]: d for d in declared}, last.function


def launched(name: str, **chosen: str) -> list[Any]:
    """The actions of a launch file that was called with these arguments."""
    declared, make = described(ROOT / "launch" / f"{name}.launch.py")
    assert set(chosen) <= set(declared)
    return make({**{k: d.default_value for k, d in declared.items()}, **chosen})


def parameters(action: Any) -> dict[str, Any]:
    """The parameters that a process is given beside its file."""
    result = {}
    for part in action.parameters:
        if isinstance(part, dict):
            for key, value in part.items():
                result[key] = value.args[0] if isinstance(value, ParameterValue) else value
    return result


def by_name(actions: list[Any]) -> dict[str, Any]:
    return {action.name: action for action in actions}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_argument_is_described_and_its_default_is_one_of_its_choices(path, launch_system):
    declared, _ = described(path)
    assert {"namespace", "params_file", "log_level", "use_sim_time", "respawn"} <= set(declared)
    for name, argument in declared.items():
        assert argument.description.endswith("."), name
        assert argument.default_value in getattr(argument, "choices", [argument.default_value])
    assert Path(declared["params_file"].default_value).is_file()


def test_the_whole_stack_is_the_one_list_of_nodes(launch_system):
    actions = launched("good")
    assert [action.name for action in actions] == list(node_names.NODES)
    assert all(action.executable == action.name for action in actions)
    # What is not given is left to the parameter file.
    assert all(set(parameters(action)) == {"use_sim_time"} for action in actions)
    assert not any(action.respawn for action in actions)


def test_arguments_reach_the_nodes_with_their_types(launch_system):
    nodes = by_name(
        launched(
            "good",
            namespace="robot1",
            model="12",
            world="my.world:World",
            backend="vllm",
            web_port="8080",
            use_sim_time="true",
            respawn="true",
            log_level="debug",
            autostart="false",
        )
    )
    assert parameters(nodes["dialog"])["model"] == "12"
    assert parameters(nodes["goal_belief"])["model"] == "12"
    assert parameters(nodes["goal_belief"])["backend"] == "vllm"
    assert parameters(nodes["monitor"])["web_port"] == 8080
    assert all(parameters(node)["use_sim_time"] is True for node in nodes.values())
    assert all(parameters(node)["autostart"] is False for node in nodes.values())
    assert all(node.namespace == "robot1" and node.respawn for node in nodes.values())
    assert all(node.arguments[-1] == "debug" for node in nodes.values())


def test_each_process_has_an_enclave_of_its_own(launch_system):
    nodes = by_name(launched("good", enclave="/good_ros"))
    assert nodes["dialog"].arguments[-2:] == ["--enclave", "/good_ros/dialog"]
    policy = (ROOT / "config" / "security" / "policy.xml").read_text()
    for node in nodes.values():
        assert f'<enclave path="{node.arguments[-1]}">' in policy


def test_which_nodes_there_are_can_be_chosen(launch_system):
    names = [node.name for node in launched("good", monitor="false", speech="true", person="ann")]
    assert names == [
        *("dialog", "goal_belief", "goal_manager", "executor", "teacher"),
        *("speech_in", "speech_out"),
    ]
    only_spoken = by_name(launched("good", speech="true", speech_in="false"))
    assert "speech_out" in only_spoken
    assert "speech_in" not in only_spoken


def test_a_store_has_its_own_task_and_scene(launch_system):
    executor = by_name(launched("good", world="grocery"))["executor"]
    assert parameters(executor)["scene"] == "store"
    assert "cart" in parameters(executor)["task"]


def test_a_simulated_human_brings_its_profiles_world(launch_system):
    nodes = by_name(launched("simulated", profile="chocolate_cake"))
    assert set(nodes) == {*node_names.NODES, "simulated_human"}
    assert parameters(nodes["executor"])["world"] == "grocery"
    assert parameters(nodes["simulated_human"])["profile"] == "chocolate_cake"
    with pytest.raises(InputError, match="world"):
        launched("simulated", profile="chocolate_cake", world="household")


def test_a_misspelt_argument_is_told_of():
    taken = launch_arguments.FILES["good"]
    names = ["model", "modle", "scoring-model", "profile", "kettle"]
    assert list(launch_arguments.misspelt(names, taken)) == [
        "there is no argument modle, so it counts for nothing: is model meant?",
        "there is no argument scoring-model, so it counts for nothing: is scoring_model meant?",
    ]


def test_the_servers_own_names_of_models(launch_system):
    url, other = "http://server:8000/v1", "http://other:8000/v1"
    nodes = by_name(launched("good", model=url, served_model="big"))
    assert {parameters(node).get("served_model") for node in nodes.values()} == {"big", None}
    assert parameters(nodes["goal_belief"])["served_model"] == "big"
    nodes = by_name(launched("good", model=url, served_model="big", scoring_model=other))
    assert parameters(nodes["dialog"])["served_model"] == "big"
    assert "served_model" not in parameters(nodes["goal_belief"])
    nodes = by_name(launched("good", scoring_model=other, served_scoring_model="small"))
    assert parameters(nodes["goal_belief"])["served_model"] == "small"


def test_an_arm_has_a_table_and_may_have_a_stand_in(launch_system):
    nodes = launched("arm", arm_path="dry_run", arm_approval="false")
    executor = parameters(by_name(nodes)["executor"])
    assert (executor["world"], executor["scene"]) == ("arm", "lunch_bag")
    assert (executor["arm_path"], executor["arm_approval"]) == ("dry_run", False)
    controller, *others = launched("arm", arm_path="ros2_control", stand_in="true")
    assert controller.cmd[1:] == ["arm", "stand-in"]
    assert len(others) == len(node_names.NODES)
    with pytest.raises(InputError, match="namespace"):
        launched("arm", stand_in="true", namespace="robot1")


def test_the_monitor_alone(launch_system):
    (monitor,) = launched("monitor", namespace="robot1")
    assert parameters(monitor)["web_port"] == 0
    _, rviz = launched("monitor", rviz="true")
    assert Path(rviz.arguments[1]).is_file()


@pytest.mark.parametrize(
    ("name", "text"), [("respawn", "perhaps"), ("web_port", "many"), ("seed", "1.5")]
)
def test_a_value_of_another_type_is_refused_by_name(launch_system, name, text):
    with pytest.raises(InputError, match=f"{name}:={text}"):
        launched("good", **{name: text})


@pytest.mark.ros
def test_arguments_go_to_declared_parameters_of_their_type():
    from good_ros.nodes.parameters import EVERY_NODE
    from good_ros.nodes.stack import node_type

    assert set(launch_arguments.TAKERS) == {*node_names.NODES, *node_names.EXTRA_NODES}
    for node, taken in launch_arguments.TAKERS.items():
        declared = {p.name: p for p in (*EVERY_NODE, *node_type(node).PARAMETERS)}
        for parameter, argument in taken.items():
            if parameter != "use_sim_time":
                assert launch_arguments.ALL[argument].kind is type(declared[parameter].default)


def test_what_is_installed_is_the_one_list_of_nodes():
    """Set-up and build cannot import the package that they build."""
    known = {*node_names.NODES, *node_names.EXTRA_NODES}
    spec = importlib.util.find_spec("good_ros")
    assert spec is not None
    for name in known:
        assert (ROOT / "good_ros" / "nodes" / f"{name}.py").is_file()
    setup = (ROOT / "setup.py").read_text()
    listed = set(re.findall(r'"(\w+)"', setup[setup.index("NODES = (") : setup.index("setup(\n")]))
    assert listed == known
    built = re.search(r"foreach\(executable ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text())
    assert set(built.group(1).split()) == {"good", *known}
