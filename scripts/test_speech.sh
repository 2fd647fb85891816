#!/usr/bin/env bash
# The tests of hearing and speaking, with message packages that are not on the package index built
# from stand-ins (test/stand_ins) into build/stand_ins, where nothing else finds them.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$PWD/.venv
base=$PWD/build/stand_ins
stamp=$base/digest
digest=$(find test/stand_ins -type f | LC_ALL=C sort | xargs cat scripts/test_speech.sh | sha256sum)
if [ "$(cat "$stamp" 2>/dev/null)" != "$digest" ]; then
  echo "test-speech: building the stand-in message packages (about a minute)" >&2
  rm -rf "$base"
  mkdir -p "$base"
  AMENT_PREFIX_PATH=$venv CMAKE_PREFIX_PATH=$venv PATH=$venv/bin:$PATH PYTHONWARNINGS=ignore \
    "$venv/bin/colcon" --log-base "$base/log" build --base-paths test/stand_ins \
    --build-base "$base/build" --install-base "$base/install" --merge-install \
    --event-handlers console_direct- console_cohesion- console_stderr- \
    --cmake-args -DPython3_EXECUTABLE="$venv/bin/python" -DBUILD_TESTING=OFF --no-warn-unused-cli \
    >"$base/build.log" 2>&1 || {
    tail -n 40 "$base/build.log" "$base"/log/latest_build/*/stderr.log >&2 || true
    exit 1
  }
  echo "$digest" >"$stamp"
fi
export AMENT_PREFIX_PATH=$base/install:$venv${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}
export LD_LIBRARY_PATH=$base/install/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PYTHONPATH=$base/install/lib/python3.11/site-packages${PYTHONPATH:+:$PYTHONPATH}
exec "$venv/bin/python" -m pytest test/speech test/nodes/test_speech_in.py \
  test/nodes/test_speech_out.py test/nodes/test_speech_adapters.py \
  test/nodes/test_speech_packages.py test/nodes/test_spoken.py test/experiments/test_spoken.py "$@"
