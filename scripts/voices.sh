#!/usr/bin/env bash
# Installs espeak-ng, and PortAudio for the microphone, from Debian's packages where absent.
set -euo pipefail
if command -v espeak-ng >/dev/null && ldconfig -p | grep -q libportaudio.so.2; then
  exit 0
fi
command -v apt-get >/dev/null || {
  echo "speech: install espeak-ng and PortAudio with this system's own packages" >&2
  exit 1
}
run=()
[ "$(id -u)" -eq 0 ] || run=(sudo)
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends \
  espeak-ng libportaudio2 >/dev/null
