#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Shows that the freestanding library needs nothing of its surroundings but the six memory and text
# functions that every C library for firmware has.
#   symbols.sh BUILD_DIR
# Exit code 77: nothing to check, as sanitizers or coverage add calls of their own.
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: $(basename "$0") BUILD_DIR" >&2
  exit 4
fi
# Firmware below it has libraries of its own.
mapfile -t libraries < <(find "$1" -path "$1/embedded" -prune -o -name libandiron_view.a -print)
if [ ${#libraries[@]} -ne 1 ]; then
  echo "expected one libandiron_view.a under $1, found ${#libraries[@]}" >&2
  exit 1
fi

symbols=$(nm "${libraries[0]}")
# What the objects define for each other does not count; _GLOBAL_OFFSET_TABLE_ is the linker's own.
defined=$(awk 'NF == 3 { print $3 }' <<<"$symbols" | sort -u)
needed=$(awk '$1 == "U" || $1 == "w" || $1 == "v" { print $2 }' <<<"$symbols" | sort -u)
if [ -z "$defined" ]; then
  echo "no symbols in ${libraries[0]}" >&2
  exit 1
fi
if grep -qE '^__(asan|ubsan|tsan|msan|sanitizer|gcov|llvm_profile)_' <<<"$needed"; then
  echo "skipped: the library is instrumented"
  exit 77
fi

allowed='_GLOBAL_OFFSET_TABLE_|memchr|memcmp|memcpy|memmove|memset|strlen'
needed=$(comm -23 <(echo "$needed") <(echo "$defined"))
foreign=$(grep -vxE "$allowed" <<<"$needed" || true)
# Exceptions, run-time types and the heap are unwanted even where a copy is linked in. _Zn and _Zd
# are operators new and delete.
unwanted=$(echo "$symbols" | awk '{ print $NF }' |
  grep -E '^(__cxa|_Unwind|__gxx_personality|_ZT[IS]|_Zn[wa]|_Zd[la]|(m|c|re)alloc$|free$)' |
  sort -u || true)

if [ -n "$foreign$unwanted" ]; then
  echo "${libraries[0]} is not freestanding:" >&2
  printf '%s\n' "$foreign" "$unwanted" | sed '/^$/d' | sort -u | c++filt | sed 's/^/  /' >&2
  exit 1
fi
echo "freestanding: needs" $needed
