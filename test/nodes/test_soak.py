"""The long session, kept short: what is counted as lost, doubled or growing."""

import pytest

from good_ros.nodes import soak

pytestmark = [pytest.mark.ros, pytest.mark.timeout(120)]


def belief(turn, settled=True):
    return {"turn": turn, "settled": settled}


def test_lost_and_doubled_turns_are_counted():
    beliefs = [belief(1, False), belief(1), belief(2), belief(2), belief(4, False)]
    said = [{"turn": turn} for turn in (0, 1, 2, 3, 4)]
    yardsticks = [1.0, 1.0, 1.0, 2.0]
    result = soak.measure(
        4, [1.0, 1.0, 1.0, 3.0], yardsticks, [100.0, 110.0, 120.0, 130.0], beliefs, said
    )
    assert (result.turns_lost, result.turns_doubled) == (2, 1)
    assert result.memory_slope_kb_per_turn == 10.0
    assert result.turn_time_ratio_last_first == 1.5
    assert result.turn_seconds_ratio_last_first == 3.0


def test_a_short_session_loses_nothing(ros_domain):
    told = []
    result = soak.run(6, told.append)
    assert (result.turns, result.turns_lost, result.turns_doubled) == (6, 0, 0)
    assert told == [1, 2, 3, 4, 5, 6]
