#!/usr/bin/env bash
# Builds msg/, srv/ and action/ with colcon into the virtual environment of this checkout.
# Does nothing where they are already built from the same files.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$PWD/.venv
stamp=$venv/.good_ros_interfaces
digest=$(cat msg/*.msg srv/*.srv action/*.action CMakeLists.txt package.xml good_ros/__init__.py \
  requirements/ros.txt scripts/build_interfaces.sh | sha256sum | cut -d' ' -f1)
if [ "$(cat "$stamp" 2>/dev/null)" = "$digest" ]; then
  exit 0
fi

# The wheels' CMake files name two folders of the machine that they were built on.
python_include=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
numpy_include=$("$venv/bin/python" -c 'import numpy; print(numpy.get_include())')
{ grep -rlE '/opt/python/cp311-cp311' "$venv/share" --include='*.cmake' || true; } | xargs -r sed -i \
  -e "s#/opt/python/cp311-cp311/lib/python3.11/site-packages/numpy/_core/include#$numpy_include#g" \
  -e "s#/opt/python/cp311-cp311/include/python3.11#$python_include#g"

export AMENT_PREFIX_PATH=$venv CMAKE_PREFIX_PATH=$venv PATH=$venv/bin:$PATH
export PYTHONWARNINGS=ignore
mkdir -p build/colcon
"$venv/bin/colcon" --log-base build/colcon/log build --base-paths . --packages-select good_ros \
  --build-base build/colcon --install-base "$venv" --merge-install \
  --event-handlers console_direct- console_cohesion- console_stderr- \
  --cmake-args -DPython3_EXECUTABLE="$venv/bin/python" -DBUILD_TESTING=OFF \
  -DGOOD_ROS_INTERFACES_ONLY=ON --no-warn-unused-cli \
  >build/colcon/build.log 2>&1 || {
  tail -n 40 build/colcon/build.log build/colcon/log/latest_build/good_ros/stdout_stderr.log >&2 || true
  echo "The interfaces did not build; the whole log is build/colcon/build.log." >&2
  exit 1
}
# Beside the interfaces stands a record by which pip would take them for an older good_ros and
# remove them when it installs the checkout.
rm -rf "$venv"/lib/python3.11/site-packages/good_ros-*.egg-info
echo "$digest" >"$stamp"
