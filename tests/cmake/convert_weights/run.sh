#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Builds a project that converts files, changes what the conversions depend on, builds again, and sees
# what is refused.
# usage: tests/cmake/convert_weights/run.sh BUILD_DIR
set -euo pipefail
build=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$here/../../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
cmake=$(cache CMAKE_COMMAND)
cxx=$(cache CMAKE_CXX_COMPILER)
tool=$build/andiron
log=$work/log
say() { echo "convert_weights: $*"; }
fail() {
  cat "$log" >&2
  say "FAILED: $*" >&2
  exit 1
}
# Says what COMMAND printed only when it fails.
quietly() { "$@" >"$log" 2>&1 || fail "$*"; }

cp "$root/examples/data/tiny.safetensors" "$here/program.cpp" "$work"
cp "$work/tiny.safetensors" "$work/good.safetensors"
printf 'further' >"$work/further.txt"

configure() {
  "$cmake" -S "$here" -DCMAKE_CXX_COMPILER="$cxx" -DANDIRON_CMAKE_DIR="$root/cmake" \
    -DWORK_DIR="$work" -DANDIRON_TOOL="$tool" "$@"
}
# converts OUTPUT...: a build makes these and no others.
converts() {
  quietly "$cmake" --build "$project"
  sed -n 's/.*Converting .* to //p' "$log" | sort >"$work/converted"
  printf '%s\n' "$@" | sort | sed '/^$/d' >"$work/wanted"
  diff "$work/wanted" "$work/converted" >>"$log" || fail "other files were converted than: $*"
}
# fails MESSAGE OUTPUT: a build fails, and leaves the output as it was.
fails() {
  cp "$project/$2" "$work/before"
  if "$cmake" --build "$project" >"$log" 2>&1; then fail "a build with a broken input succeeded"; fi
  grep -qF "$1" "$log" || fail "the message is another than '$1'"
  cmp -s "$work/before" "$project/$2" || fail "a failed conversion changed $2"
}
# Some build tools and file systems count in seconds.
next_second() { sleep 1; }
has_text() {
  printf '%s\n' '[it'\''s "one" $word]' '[]' '[a;b]' "$1" >"$work/wanted"
  cmp "$work/wanted" "$project/made.mpk.gz" >"$log" 2>&1 || fail "the program did not make '$1'"
  quietly "$project/embedded"
  cmp -s "$work/wanted" "$log" || fail "the output of the program is not embedded"
}
names() { "$tool" ls --json "$project/a folder/tiny.bpk" | grep -oE '"name":"[^"]*' | cut -d'"' -f4; }

generators=(Ninja "Unix Makefiles")
if ! command -v make >/dev/null; then
  generators=(Ninja)
  say "NOT RUN: no make here"
fi
for generator in "${generators[@]}"; do
  project="$work/$generator build"
  printf 'first\n' >"$work/text"
  quietly configure -B "$project" -G "$generator"
  converts "a folder/tiny.bpk" made.mpk.gz twice.txt
  names >"$log"
  grep -qx 0.weight "$log" || fail "--sub did not remove a prefix"
  grep -qx head/bias "$log" || fail "--sub did not put the groups in"
  has_text first
  cmp -s "$project/made.mpk.gz" "$project/twice.txt" || fail "the second program did not run"
  [ ! -e "$project/made.mpk.gz.draft" ] || fail "a draft was left behind"
  converts ""
  say "$generator: files are converted once"

  next_second
  printf 'second\n' >"$work/text"
  converts made.mpk.gz twice.txt
  has_text second
  next_second
  printf 'more' >>"$work/further.txt"
  converts "a folder/tiny.bpk"
  quietly configure -B "$project" "-DMORE_ARGS=--include;head/*"
  converts "a folder/tiny.bpk"
  names >"$log"
  [ "$(cat "$log")" = head/bias ] || fail "the new options were not heeded"
  next_second
  printf '// Changed.\n' >>"$work/program.cpp"
  touch "$work/tiny.safetensors"
  converts "a folder/tiny.bpk" made.mpk.gz twice.txt
  say "$generator: they are converted again when an input, an option or the program changes"

  next_second
  printf '!' >"$work/text"
  fails "made.mpk.gz" made.mpk.gz
  printf 'third\n' >"$work/text"
  converts made.mpk.gz twice.txt
  has_text third
  head -c 100 "$work/good.safetensors" >"$work/tiny.safetensors"
  fails "andiron: $work/tiny.safetensors: " "a folder/tiny.bpk"
  cp "$work/good.safetensors" "$work/tiny.safetensors"
  converts "a folder/tiny.bpk"
  say "$generator: a conversion that fails leaves the old file"
done

# refused CASE MESSAGE [cmake options]
refused() {
  if configure -B "$work/refused" -G Ninja -DREFUSED="$1" "${@:3}" >"$log" 2>&1; then
    fail "$1 was accepted"
  fi
  tr -s ' \n' ' ' <"$log" | grep -qF "$2" || fail "$1: the message is another than '$2'"
}
refused no_input "INPUT is missing"
refused no_output "OUTPUT is missing"
refused missing_input "there is no file"
refused missing_dependency "there is no file"
refused same_output "another call makes"
refused output_is_input "OUTPUT is INPUT"
refused output_is_folder "OUTPUT is a folder"
refused missing_program "there is no target missing"
refused no_program "headers is not a program"
refused missing_target "there is no target missing"
refused name_without_embed "NAME, NAMESPACE and PORTABLE need EMBED"
refused taken_target "there is a target weights already"
refused shards "ARGS cannot have --max-shard-size"
refused second_output "ARGS cannot have -o"
refused unknown_argument "unknown arguments: AS;other"
refused no_value "no value after EMBED"
refused wrong_tool "$work/nowhere, which does not exist" -DANDIRON_TOOL="$work/nowhere"
refused no_tool "there is no andiron tool" -DANDIRON_TOOL= \
  -DCMAKE_FIND_ROOT_PATH="$work" -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=ONLY
say "wrong calls are refused"
