#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds a program with files in it, changes the files, builds again, and sees what is refused.
# usage: tests/cmake/embed_weights/run.sh assembler|portable BUILD_DIR
set -euo pipefail
way=$1
build=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cmake=$(cache CMAKE_COMMAND)
cxx=$(cache CMAKE_CXX_COMPILER)
readelf=$(cache CMAKE_READELF)
log=$work/log
portable=OFF
if [ "$way" = portable ]; then portable=ON; fi
say() { echo "embed_weights: $way: $*"; }
fail() {
  cat "$log" >&2
  say "FAILED: $*" >&2
  exit 1
}
# Says what COMMAND printed only when it fails.
quietly() { "$@" >"$log" 2>&1 || fail "$*"; }

# bytes COUNT: some of nearly every value, the same on every machine.
bytes() { seq 1 "$1" | LC_ALL=C awk '{printf "%c", ($1 * 7919) % 251 + 1}'; }

weights=$work/weights
mkdir "$weights"
odd_file=$weights/$'it\'s "the" $1 of \xc3\xa9.bpk'
# No multiple of a word, and more than what the portable way writes at once.
bytes 70003 >"$weights/model.bpk"
bytes 8 >"$odd_file"
printf '\0' >"$weights/one-byte.v1.bpk"
printf 'x' >"$weights/default.bpk"

configure() {
  "$cmake" -S "$here" -DCMAKE_CXX_COMPILER="$cxx" -DANDIRON_CMAKE_DIR="$here/../../../cmake" \
    -DWEIGHTS_DIR="$weights" -DODD_FILE="$odd_file" -DANDIRON_EMBED_PORTABLE=$portable "$@"
}
build_and_run() {
  quietly "$cmake" --build "$program"
  cp "$log" "$work/built"
  quietly "$program/embedded" "$weights"
}

generators=(Ninja "Unix Makefiles")
if ! command -v make >/dev/null; then
  generators=(Ninja)
  say "NOT RUN: no make here"
fi
for generator in "${generators[@]}"; do
  program="$work/$generator build"
  printf 'first' >"$odd_file"
  quietly configure -B "$program" -G "$generator"
  build_and_run
  find "$program" -name model.cpp -exec cat {} + >"$work/source"
  if grep -q incbin "$work/source"; then used=assembler; else used=portable; fi
  [ "$used" = "$way" ] || fail "the files were put in the $used way"
  find "$program" -name made.cpp -exec cat {} + >"$work/source"
  grep -q words "$work/source" || fail "PORTABLE was not heeded"
  say "$generator: the program has the files"

  quietly "$cmake" --build "$program"
  ! grep -q -e Embedding -e Building "$log" || fail "something was built again for nothing"

  # Some build tools and file systems count in seconds.
  sleep 1
  printf 'other' >"$odd_file"
  build_and_run
  ! grep -q main.cpp "$work/built" || fail "main.cpp was compiled, though no size changed"
  sleep 1
  printf 'a longer one' >"$odd_file"
  bytes 4096 >"$weights/model.bpk"
  build_and_run
  say "$generator: changed files are put in again"
done

if [ -n "$readelf" ]; then
  "$readelf" -lW "$program/embedded" >"$log"
  grep -q 'GNU_STACK.* RW ' "$log" || fail "the program's stack is executable"
  find "$program" -path '*embedded/model.cpp.o' -exec "$readelf" -SW {} + >"$log"
  grep -qE '\.rodata.* A +0 +0 +256$' "$log" || fail "no read-only section is aligned to 256"
  say "the bytes are in .rodata, and the stack is not executable"
else
  say "NOT RUN: no readelf here"
fi

program=$work/lto
quietly configure -B "$program" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON
build_and_run
say "link-time optimization works"

# refused CASE MESSAGE
refused() {
  if configure -B "$work/refused" -G Ninja -DREFUSED="$1" >"$log" 2>&1; then
    fail "$1 was accepted"
  fi
  tr -s ' \n' ' ' <"$log" | grep -qF "$2" || fail "$1: the message is another than '$2'"
}
refused clash "the target already has embedded::model"
refused no_identifier "'no-identifier' is not a C++ identifier"
refused keyword "'default' is a C++ keyword"
refused namespace "'net:weights' is not a C++ identifier"
refused missing_file "there is no file"
refused folder "there is no file"
refused missing_target "there is no target missing"
refused interface_target "headers has no sources of its own"
refused unknown_argument "unknown arguments: AS;other"
refused no_value "no value after NAME"
refused other_folder "call this there"
: >"$weights/model.bpk"
if "$cmake" --build "$program" >"$log" 2>&1; then fail "an empty file was accepted"; fi
grep -q 'model.bpk is empty' "$log" || fail "the message does not say that the file is empty"
say "wrong calls are refused"
