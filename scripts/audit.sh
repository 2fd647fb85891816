#!/usr/bin/env bash
# Installs pip-audit in .venv-audit, once for each version, and runs it on .venv.
set -euo pipefail
cd "$(dirname "$0")/.."
stamp=.venv-audit/.good_ros_audit
digest=$(sha256sum requirements/audit.txt | cut -d' ' -f1)
if [ "$(cat "$stamp" 2>/dev/null)" != "$digest" ]; then
  rm -rf .venv-audit
  .venv/bin/python -m venv .venv-audit
  .venv-audit/bin/python -m pip --disable-pip-version-check install -q -r requirements/audit.txt
  echo "$digest" >"$stamp"
fi
exec .venv/bin/python scripts/audit.py
