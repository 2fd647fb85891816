"""The container files, as far as they can be checked without building them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
UDP = ROOT / "config" / "fastdds_udp.xml"
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())

TALK = """
import rclpy
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from std_msgs.msg import String
import sys
rclpy.init()
node = rclpy.create_node(sys.argv[1])
qos = QoSProfile(depth=1, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
heard = []
if sys.argv[1] == "talker":
    # As large as a transcript: it does not fit one datagram.
    node.create_publisher(String, "chatter", qos).publish(String(data="word " * 40000))
    print("out", flush=True)
    sys.stdin.readline()
else:
    node.create_subscription(String, "chatter", heard.append, qos)
    while not heard:
        rclpy.spin_once(node, timeout_sec=0.1)
    print(len(heard[0].data))
    print("shared" if "/dev/shm/fast" in open("/proc/self/maps").read() else "unshared")
rclpy.shutdown()
"""


@pytest.mark.ros
@pytest.mark.faults("Fast-DDS #5396, #3475")
def test_the_udp_profile_carries_messages_between_processes(ros_domain):
    """Fast-DDS #5396 and #3475: over shared memory containers list topics and get no data."""
    environment = {
        **os.environ,
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(UDP),
        # LOCALHOST would put shared memory back.
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
    }
    code = TALK

    def start(name: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", code, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    talker, listener = start("talker"), start("listener")
    try:
        heard, errors = listener.communicate(timeout=60)
        assert heard.split() == ["200000", "unshared"], errors
        # Fast DDS only logs a profile that it cannot read, and goes on without it.
        assert "XMLPARSER" not in errors
    finally:
        talker.communicate("\n", timeout=20)
        listener.kill()


def test_an_unreadable_profile_would_be_noticed(tmp_path, ros_domain):
    broken = tmp_path / "broken.xml"
    broken.write_text(UDP.read_text().replace("UDPv4", "NoSuchTransport"))
    result = subprocess.run(
        [sys.executable, "-c", "import rclpy; rclpy.init(); rclpy.create_node('n')"],
        env={**os.environ, "FASTRTPS_DEFAULT_PROFILES_FILE": str(broken)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "XMLPARSER" in result.stdout + result.stderr


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_images_run_as_nobody_special_over_udp(name):
    text = (ROOT / "docker" / name).read_text()
    assert "\nUSER 10001\n" in text
    assert "fastdds_udp.xml" in text
    assert "HEALTHCHECK" in text
    for line in text.splitlines():
        if line.startswith("COPY "):
            source = line.split()[-2]
            assert (ROOT / source).exists(), line


@pytest.mark.parametrize("name", ["Dockerfile", "Dockerfile.cuda"])
def test_good_is_on_the_path_of_the_images(name):
    """compose and the pages call it so; colcon installs it in lib/good_ros, which is on none."""
    text = (ROOT / "docker" / name).read_text()
    link = "ln -s /ws/install/lib/good_ros/good /opt/good/bin/good"
    assert link in text
    assert "ENV PATH=/opt/good/bin:$PATH" in text
    assert text.index("colcon build") < text.index(link) < text.index("rm -rf build log")


def test_compose_opens_the_page_to_this_machine_alone_and_holds_no_key():
    for service in COMPOSE["services"].values():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")
        for key, value in service.get("environment", {}).items():
            if "KEY" in key or "TOKEN" in key:
                assert value == f"${{{key}:-}}"
    assert COMPOSE["services"]["model"]["healthcheck"]["test"]
    assert COMPOSE["services"]["nodes"]["depends_on"]["model"]["condition"] == "service_healthy"


def test_compose_commands_are_known(monkeypatch):
    from good_ros import cli

    words = COMPOSE["services"]["nodes"]["command"][1:]
    options = cli._parser().parse_args(words)
    assert options.model == "http://model:8000/v1"
    assert Path(options.params_file.replace("/ws/src/good_ros", str(ROOT))).is_file()
