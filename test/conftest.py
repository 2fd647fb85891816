"""What all tests share."""

from __future__ import annotations

import fcntl
import itertools
import os
import tempfile
from pathlib import Path

import pytest

from good_ros.core.errors import ModelError
from good_ros.language import models

SHARED = Path(os.environ.get("GOOD_ROS_SHARED", Path(__file__).parents[2] / "shared"))
_domains = itertools.count(os.getpid() % 50)


@pytest.fixture
def ros_domain(monkeypatch):
    """A ROS domain of the test's own, on this host alone; child processes inherit it.

    It is locked, so that another run of the tests on this machine takes others.
    """
    while True:
        domain = 1 + next(_domains) % 100
        lock = (Path(tempfile.gettempdir()) / f"good_ros_test_domain_{domain}").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            lock.close()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    made = nodes_made(monkeypatch)
    yield domain
    lock.close()
    # ROS holds one /rosout a name and process: a node that is left takes it from a later one.
    left = [node for node in made if stands(node)]
    assert not left, f"nodes that the test did not destroy: {left}"


def nodes_made(monkeypatch):
    """The ROS nodes that are made from here on; a list that grows."""
    made = []
    try:
        from rclpy.node import Node
    except ImportError:
        return made
    make = Node.__init__

    def make_and_note(node, *arguments, **named):
        make(node, *arguments, **named)
        made.append(node)

    monkeypatch.setattr(Node, "__init__", make_and_note)
    return made


def stands(node):
    """Whether a ROS node was not destroyed."""
    try:
        with node.handle:
            return True
    except Exception:
        return False


@pytest.fixture(scope="session")
def small_model():
    """The file of the small model; tests that need it are skipped where it was not pulled."""
    try:
        return models.resolve("small")
    except ModelError as error:
        pytest.skip(str(error))


def shared_data(name: str) -> Path:
    """A data file that stands beside the checkout and is not part of it; the test is skipped
    where it is absent."""
    path = SHARED / "data" / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return path
