#!/usr/bin/env bash
# Whether the stack publishes diagnostics: each node does, whatever it is doing.
set -eo pipefail
# shellcheck source=/dev/null
source "/opt/ros/${ROS_DISTRO}/setup.bash"
# shellcheck source=/dev/null
source /ws/install/setup.bash
exec timeout 8 ros2 topic echo --once /diagnostics >/dev/null
