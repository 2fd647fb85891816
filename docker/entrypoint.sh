#!/usr/bin/env bash
# Runs a command in the workspace's environment.
set -eo pipefail
# shellcheck source=/dev/null
source "/opt/ros/${ROS_DISTRO}/setup.bash"
# shellcheck source=/dev/null
source /ws/install/setup.bash
exec "$@"
