#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Shows that scripts/check-unit-names passes names that are apart and names those that meet in a unit.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# put FILE LINE...: lines of an unnamed namespace.
put() {
  mkdir -p "$work/$(dirname "$1")"
  printf '%s\n' 'namespace {' "${@:2}" '}  // namespace' >"$work/$1"
}
fail() {
  echo "check_unit_names_test: $*" >&2
  exit 1
}

put src/core/a.cpp 'int one(int a) { return a; }' 'struct Two {' '  int three() { return 0; }' '};'
put src/core/b.cpp 'std::string four(std::string_view text,' '                 int b) {' '  return "";' '}'
put src/io/c.cpp 'int one(int a) { return a; }'
put src/nn/forward/d.cpp 'int run(int a) { return a; }'
put src/nn/forward/e.cpp 'int run(int a) { return a; }'
"$root/scripts/check-unit-names" --root "$work" >/dev/null || fail "names that are apart were refused"

put src/core/c.cpp 'template <class T>' 'T one(T a) {' '  return a;' '}' 'Result<int> four(int a) {' '  return a;' '}'
if output=$("$root/scripts/check-unit-names" --root "$work" 2>&1); then fail "names that meet were accepted"; fi
grep -qxF 'src/core: four is in b.cpp, c.cpp' <<<"$output" || fail "four was not named: $output"
grep -qxF 'src/core: one is in a.cpp, c.cpp' <<<"$output" || fail "one was not named: $output"
if grep -q three <<<"$output"; then fail "a member was taken for a function: $output"; fi

rm -rf "$work/src"
if "$root/scripts/check-unit-names" --root "$work" >/dev/null 2>&1; then fail "a tree without names was accepted"; fi
echo "check_unit_names_test: passed"
