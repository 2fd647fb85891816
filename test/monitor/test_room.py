"""The room from above, as the page shows it."""

import json

import pytest

pytest.importorskip("matplotlib")

from good_ros.monitor.room import RoomPicture
from good_ros.worlds.household.world import HouseholdWorld


@pytest.fixture
def room():
    return RoomPicture("household", "FloorPlan1", 0)


def write(session, *actions):
    lines = [
        json.dumps({"number": i, "success": True, "step": {**step, "label": step["action"]}})
        for i, step in enumerate(actions, 1)
    ]
    session.mkdir(exist_ok=True)
    (session / "actions.jsonl").write_text("\n".join(lines) + "\n")


def test_the_room_and_then_what_was_done(room, tmp_path):
    before = room.svg(None)
    assert before.lstrip().startswith(b"<?xml")
    session = tmp_path / "session"
    session.mkdir()
    untouched = room.svg(session)
    assert untouched is not None
    world = HouseholdWorld()
    world.reset("FloorPlan1", 0)
    fridge = next(o.id for o in world.observe() if o.type == "Fridge")
    write(session, {"action": "OpenObject", "object_id": fridge})
    after = room.svg(session)
    assert after is not None
    assert after != untouched


def test_nothing_is_drawn_anew_where_nothing_changed(room, monkeypatch):
    first = room.svg(None)
    monkeypatch.setattr(room, "_draw", lambda session: pytest.fail("drawn again"))
    assert room.svg(None) is first


def test_an_unknown_scene_is_no_picture_and_is_told():
    room = RoomPicture("household", "FloorPlan9999", 0)
    assert room.svg(None) is None
    assert "FloorPlan9999" in room.problem


def test_a_world_without_a_drawing():
    assert RoomPicture("grocery", "FloorPlan1", 0).svg(None) is None
