#!/usr/bin/env bash
# Whether the stack publishes diagnostics: each node does, whatever it is doing.
set -eo pipefail
# shellcheck source=/dev/null
source "/opt/ros/${ROS_DISTRO}/setup.bash"
# shellcheck source=/dev/null
source /ws/install/setup.bash
# With its type: without, ros2 gives up before it has found the topic.
exec timeout 8 ros2 topic echo --once --no-daemon \
  /diagnostics diagnostic_msgs/msg/DiagnosticArray >/dev/null
