"""What diagnostics say of a node, and who has fallen silent."""

import pytest

from good_ros.monitor.health import Level, SilenceWatch, health_of


def test_what_is_wrong_comes_before_the_state():
    assert health_of("active", "", "", {}).level is Level.OK
    assert health_of("inactive", "", "", {}).level is Level.WARN
    failed = health_of("unconfigured", "no model is there: good model pull", "older", {})
    assert failed.level is Level.ERROR
    assert "good model pull" in failed.message
    down = health_of("active", "", "the server does not answer", {"model": "m"})
    assert (down.level, down.message) == (Level.ERROR, "the server does not answer")
    assert down.facts == {"model": "m"}


def test_only_nodes_that_were_heard_can_fall_silent_and_they_come_back():
    watch = SilenceWatch(5.0, 10.0)
    assert watch.look(100.0) == {}
    watch.hear("/a", 100.0)
    watch.hear("/b", 103.0)
    assert watch.look(105.0) == {}
    assert watch.look(106.0) == {"/a": 6.0}
    watch.hear("/a", 106.5)
    assert watch.look(107.0) == {}


def test_a_watch_that_was_held_up_blames_nobody_for_it():
    """A model that loads holds up every node of the process, the watch among them."""
    watch = SilenceWatch(1.5, 0.25)
    watch.hear("/a", 9.9)
    assert watch.look(10.0) == {}
    assert watch.look(20.0) == {}
    watch.hear("/b", 20.1)
    assert watch.look(20.25) == {}
    assert list(watch.look(20.5)) == []
    # From then on time counts as ever.
    for step in range(1, 6):
        watch.look(20.5 + step / 4)
    assert list(watch.look(22.0)) == ["/a", "/b"]


@pytest.mark.ros
def test_with_the_defaults_a_dead_node_is_told_of_within_two_seconds():
    from good_ros.nodes.monitor import WATCH_S, MonitorNode
    from good_ros.nodes.parameters import DIAGNOSTICS_PERIOD

    (stale_after,) = (p.default for p in MonitorNode.PARAMETERS if p.name == "stale_after_s")
    assert stale_after + WATCH_S <= 2.0
    assert stale_after >= 3 * DIAGNOSTICS_PERIOD.default
