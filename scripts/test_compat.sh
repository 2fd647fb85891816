#!/usr/bin/env bash
# Imports every entry point with numpy 1.26 and numpy 2, without any heavy library; and the whole
# library without ROS, in venvs of its own under build/compat.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3.11}
for numpy in 1.26.4 "$(sed -n 's/^numpy==//p' requirements/base.txt)"; do
  # ROS's wheels find their libraries beside themselves, so the stack's own Python is used; a folder
  # on PYTHONPATH comes before its packages.
  beside=build/compat/numpy-$numpy
  if [ ! -d "$beside/numpy" ]; then
    .venv/bin/python -m pip install -q --no-deps --target "$beside" "numpy==$numpy"
  fi
  PYTHONPATH=$PWD:$PWD/$beside .venv/bin/python scripts/check_imports.py nodes

  alone=build/compat/alone-numpy-$numpy
  if [ ! -e "$alone/done" ]; then
    "$python" -m venv "$alone"
    grep -vE '^numpy==' requirements/base.txt >"$alone/needs.txt"
    "$alone/bin/pip" install -q -r "$alone/needs.txt" "numpy==$numpy"
    touch "$alone/done"
  fi
  PYTHONPATH=$PWD "$alone/bin/python" scripts/check_imports.py library
done
