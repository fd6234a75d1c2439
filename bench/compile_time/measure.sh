#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# What ten_modules.cpp costs to compile without optimization: the median of five runs, in seconds of
# the compiler's own time, which other work on the machine disturbs least; beside it the umbrella
# header alone and the standard headers that this includes.
#
# usage: measure.sh [COMPILER ...]        default: g++ and clang++, where they are
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
include=$here/../../include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo '#include "andiron/andiron.h"' > "$work/umbrella.cpp"
grep -rhE '^#include <' "$include/andiron" | sort -u > "$work/standard.cpp"
cp "$here/ten_modules.cpp" "$work"

seconds_of() {  # COMPILER FILE
  local TIMEFORMAT=%U
  for _ in 1 2 3 4 5; do
    { time "$1" -std=c++20 -O0 -I "$include" -c "$2" -o "$work/out.o"; } 2>&1
  done | sort -n | sed -n 3p
}

compilers=("$@")
if [ ${#compilers[@]} -eq 0 ]; then
  for name in g++ clang++; do
    if command -v "$name" > /dev/null; then compilers+=("$name"); fi
  done
fi
echo "load average: $(cut -d ' ' -f 1-3 /proc/loadavg)"
printf '%-14s%14s%14s%14s\n' compiler 'ten modules' umbrella standard
for compiler in "${compilers[@]}"; do
  printf '%-14s%14s%14s%14s\n' "$compiler" "$(seconds_of "$compiler" "$work/ten_modules.cpp")" \
    "$(seconds_of "$compiler" "$work/umbrella.cpp")" "$(seconds_of "$compiler" "$work/standard.cpp")"
done
