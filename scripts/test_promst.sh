#!/usr/bin/env bash
# Installs ScienceWorld and ALFWorld beside the stack, in a venv that sees .venv's packages too, and
# runs the tests that need them. TextWorld's planner is built from source, which takes minutes, once.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v java >/dev/null && command -v apt-get >/dev/null; then
  run=()
  [ "$(id -u)" -eq 0 ] || run=(sudo)
  "${run[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends \
    default-jre-headless >/dev/null
fi
venv=$PWD/.venv-promst
if [ "$(cat "$venv/.good_ros_promst" 2>/dev/null)" != "$(sha256sum <requirements/promst.txt)" ]; then
  echo "test-promst: installing ScienceWorld and ALFWorld (some minutes)" >&2
  rm -rf "$venv"
  "${PYTHON:-python3.11}" -m venv "$venv"
  .venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$venv/lib/python3.11/site-packages/stack.pth"
  grep -v '^alfworld=' requirements/promst.txt >"$venv/needs.txt"
  grep '^alfworld=' requirements/promst.txt >"$venv/alone.txt"
  "$venv/bin/pip" install -q -r "$venv/needs.txt"
  "$venv/bin/pip" install -q --no-deps -r "$venv/alone.txt"
  sha256sum <requirements/promst.txt >"$venv/.good_ros_promst"
fi
PYTHONPATH=$PWD "$venv/bin/python" -m pytest test/optimize/test_packages.py
