"""What diagnostics say of a node, and who has fallen silent."""

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
    watch = SilenceWatch(5.0)
    assert watch.silent(100.0) == {}
    watch.hear("/a", 100.0)
    watch.hear("/b", 103.0)
    assert watch.silent(105.0) == {}
    assert watch.silent(106.0) == {"/a": 6.0}
    watch.hear("/a", 106.5)
    assert watch.silent(107.0) == {}
