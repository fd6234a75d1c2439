# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced by the scripts: where the project lies, how it is built, where foreign test files are.

script=$(basename "$0")
# A relative path means the caller's folder, which the scripts leave.
if [ -n "${ANDIRON_FIXTURES:-}" ]; then
  ANDIRON_FIXTURES=$(realpath -m "$ANDIRON_FIXTURES")
  export ANDIRON_FIXTURES
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
if [ -z "${ANDIRON_FIXTURES:-}" ] && [ -d ../shared/fixtures ]; then
  ANDIRON_FIXTURES=$(realpath ../shared/fixtures)
  export ANDIRON_FIXTURES
fi

# Two by default: a C++ compiler wants a gigabyte or more for each.
cores=$(nproc)
jobs=${ANDIRON_JOBS:-$((cores < 2 ? cores : 2))}

# What is kept between runs, outside the tree: objects, and the programs of other projects that we compare with.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/andiron
python_peers=$cache/python
torch_peer=$cache/torch

# clang 19 is what the project is checked with; any other from 14 on will do.
clang_versions="19 22 21 20 18 17 16 15 14"

say() { echo "$script: $*"; }

# Something could not be done here. Kept for the summary of .ci/run.
not_run() {
  say "NOT RUN: $*"
  if [ -n "${ANDIRON_NOT_RUN:-}" ]; then echo "$*" >>"$ANDIRON_NOT_RUN"; fi
}

# run_steps COMMAND...: runs all of them, prints a table, and fails if one of them fails.
run_steps() {
  local step start result failed=false table=
  ANDIRON_NOT_RUN=$(mktemp)
  export ANDIRON_NOT_RUN
  for step in "$@"; do
    say "=== $step"
    start=$SECONDS result=passed
    bash -c "$step" </dev/null || { result=FAILED && failed=true; }
    table+=$(printf '| %s | %s | %d:%02d |' "$step" $result $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))$'\n'
  done
  say "=== summary"
  sed 's/^/not run: /' "$ANDIRON_NOT_RUN"
  rm -f "$ANDIRON_NOT_RUN"
  printf '\n| step | result | min:s |\n|---|---|---|\n%s' "$table"
  if $failed; then return 1; fi
  say "all steps passed"
}

# Compilers ask ccache first, where there is one. It keeps objects for every clone: it sees paths from the root of
# the project, not from that of the machine, and files that a clone has just made.
use_ccache() {
  if ! command -v ccache >/dev/null; then return; fi
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=${CCACHE_DIR:-$cache/ccache} CCACHE_BASEDIR=$root
  export CCACHE_NOHASHDIR=yes CCACHE_SLOPPINESS=include_file_mtime,include_file_ctime CCACHE_MAXSIZE=8G
}

# build PRESET [cmake options] [-- targets]
build() {
  local preset=$1 options=() targets=()
  shift
  while [ $# != 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  if [ $# != 0 ]; then targets=(--target "${@:2}"); fi
  use_ccache
  say "building preset $preset in build/$preset with $jobs jobs"
  cmake --preset "$preset" ${options[@]+"${options[@]}"} >/dev/null
  cmake --build --preset "$preset" -j "$jobs" ${targets[@]+"${targets[@]}"}
}

# run_tests PRESET [ctest arguments]: runs the tests, then says how many there were, which were skipped and which
# took long, each with its reason.
run_tests() {
  local preset=$1 log=build/$1/Testing/Temporary/LastTest.log rc=0
  shift
  say "running the tests of preset $preset"
  $test_launcher ctest --preset "$preset" -j "$jobs" "$@" || rc=$?
  grep -ahE '^(skipped|slow): |: NOT RUN: ' "$log" | sort || true
  say "$(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?\.$/\1/p' "$log" | awk '{ sum += $1 } END { print sum + 0 }') tests passed in" \
    "$(grep -acE '^[0-9]+/[0-9]+ Test: ' "$log") processes"
  return $rc
}
test_launcher=

# The first of TOOL-19, TOOL-22 ... TOOL that is there.
clang_tool() {
  local version
  for version in $clang_versions; do
    if command -v "$1-$version"; then return; fi
  done
  command -v "$1"
}

# empty_folder FOLDER: it may be a mount (scripts/preflight), which cannot be removed.
empty_folder() { mkdir -p "$1" && find "$1" -mindepth 1 -delete; }

# install_python FOLDER REQUIREMENTS TIME: a Python with packages, unless it is there already; a
# time of 0 is without end.
install_python() {
  local folder=$1 wanted=$root/tests/interop/$2 python=python3
  # The distribution's own Python, where there is one: others on the PATH may lack pieces of venv.
  if [ -x /usr/bin/python3 ]; then python=/usr/bin/python3; fi
  if cmp -s "$wanted" "$folder/requirements.txt"; then return; fi
  say "installing the packages of $2 in $folder"
  empty_folder "$folder"
  "$python" -m venv "$folder" &&
    timeout --signal=INT "$3" "$folder/bin/pip" install --quiet --disable-pip-version-check \
      --no-cache-dir -r "$wanted" &&
    cp "$wanted" "$folder/requirements.txt"
}

install_python_peers() { install_python "$python_peers" requirements.txt 0; }

# install_torch_peer TIME: the newest torch, which brings 5.5 GB of libraries along.
install_torch_peer() {
  mkdir -p "$cache"
  if [ ! -e "$torch_peer/requirements.txt" ] &&
    [ "$(df --output=avail --block-size=1G "$cache" | tail -n 1)" -lt 12 ]; then
    say "less than 12 GB of space in $cache"
    return 1
  fi
  # Half of it would be in the way of the next time.
  install_python "$torch_peer" requirements-torch.txt "$1" || { empty_folder "$torch_peer" && return 1; }
}
