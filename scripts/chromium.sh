#!/usr/bin/env bash
# Installs the browser that test/browser drives, from Debian's packages, where it is absent.
set -euo pipefail
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
  exit 0
fi
command -v apt-get >/dev/null || {
  echo "chromium: install chromium and chromedriver with this system's own packages" >&2
  exit 1
}
run=()
[ "$(id -u)" -eq 0 ] || run=(sudo)
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends \
  chromium chromium-driver fonts-dejavu-core >/dev/null
