"""What nodes keep on disk of a session."""

import json

import pytest

from good_ros.core.plan import Step
from good_ros.planning.proactive import Memory, Suggestion, SuggestionState

pytest.importorskip("rclpy")
import rclpy

from good_ros.nodes.base import GoodNode
from good_ros.nodes.kept import Kept

pytestmark = pytest.mark.ros


class Keeper(GoodNode):
    NAME = "keeper"


@pytest.fixture
def node(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(ros_domain))
    keeper = Keeper(context=context, namespace="/robot1")
    yield keeper
    keeper.close()
    rclpy.shutdown(context=context)


def test_it_is_of_one_session_and_one_robot(node, ros_domain, tmp_path):
    kept = Kept(node, tmp_path / "sessions")
    assert kept.of("s") is None
    kept.keep("s", {"a": [1]})
    assert kept.path.name == f".keeper_{ros_domain}_robot1.json"
    again = Kept(node, tmp_path / "sessions")
    assert again.of("s") == {"a": [1]}
    assert again.of("another") is None
    again.keep("another", 2)
    assert kept.of("s") is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"session_id": "s"}'])
def test_a_damaged_file_keeps_nothing(node, tmp_path, content):
    kept = Kept(node, tmp_path)
    kept.path.write_bytes(content)
    assert kept.of("s") is None


def test_what_cannot_be_written_is_told_once(node, tmp_path, capfd):
    (tmp_path / "file").write_text("")
    kept = Kept(node, tmp_path / "file")
    kept.keep("s", 1)
    kept.keep("s", 2)
    assert capfd.readouterr().err.count("set sessions_folder") == 1


def test_suggestions_come_back_as_they_were():
    step = Step("PutObject", "Milk_1", "Bag_1", "put Milk in Bag")
    effect = (("PutObject", "Milk_1", "Bag_1", ""), (("Milk_1", ("Bag_1",), False),))
    refused = Suggestion(1, 2, "pack Milk", (step,), "lunch", 0.75, effect, SuggestionState.REFUSED)
    memory = Memory(suggestions=[refused])
    again = Memory.from_json(json.loads(json.dumps(memory.as_json())))
    assert again == memory
    assert again.is_out(effect)
    assert Memory.from_json(None) == Memory()


@pytest.mark.parametrize("kept", [7, [7], [{}], [{"steps": [], "effect": [], "state": 9}]])
def test_what_is_no_suggestion_is_refused(kept):
    with pytest.raises(ValueError, match="no suggestions"):
        Memory.from_json(kept)
