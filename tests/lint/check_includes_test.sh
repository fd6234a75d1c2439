#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Shows that scripts/check-includes passes a good tree and names each kind of broken arrow.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# good_tree: one file or more in each room, every arrow allowed.
good_tree() {
  rm -rf "$work/tree"
  put include/andiron/error.h '#include <string>'
  put include/andiron/file.h '#include "andiron/error.h"'
  put include/andiron/open.h '#include "andiron/file.h"'
  put include/andiron/andiron.h '#include "andiron/open.h"' '#include "andiron/names.h"'
  put src/core/try.h '#include "andiron/error.h"'
  put src/core/bytes.cpp '#include "src/core/try.h"' '#include <vector>'
  put src/freestanding/json_reader.cpp '#include "src/core/try.h"'
  put src/freestanding/safetensors_view.cpp '#include "src/freestanding/json_reader.h"'
  put src/io/file.cpp '#include <unistd.h>' '#include <sys/mman.h>' '#include "andiron/file.h"'
  put src/format/open.cpp '#include "andiron/open.h"' '#include "src/io/mapping.h"' \
    '#include "src/freestanding/scan.h"' '#include "andiron/value.h"'
  put src/names/path_filter.cpp '#include "andiron/names.h"' '#include <re2/re2.h>'
  put src/store/store.cpp '#include "andiron/open.h"' '#include "andiron/names.h"'
  put src/nn/linear.cpp '#include "andiron/module.h"' '#include "andiron/tensor.h"'
  put cli/main.cpp '#include "andiron/andiron.h"' '#include "src/format/burnpack/header_listing.h"' '#include "cli/verbs.h"' '#include <unistd.h>'
  put tests/core/bytes_test.cpp '#include "src/core/try.h"' '#include <unistd.h>'
}

# put FILE LINE...
put() {
  mkdir -p "$work/tree/$(dirname "$1")"
  printf '%s\n' "${@:2}" >"$work/tree/$1"
}

# refuses WHAT MESSAGE: the tree as it stands must fail with MESSAGE in the output.
refuses() {
  if output=$("$root/scripts/check-includes" --root "$work/tree" 2>&1); then
    echo "FAILED: $1: passed"
    failed=$((failed + 1))
  elif [[ $output != *"$2"* ]]; then
    printf 'FAILED: %s: expected "%s" in:\n%s\n' "$1" "$2" "$output"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}

# arrow FILE INCLUDE MESSAGE: adding this file to the good tree must fail.
arrow() {
  good_tree
  put "$1" '// a line before' "#include $2"
  refuses "$1 includes $2" "$1:2: includes ${2:1:-1}: $3"
}

good_tree
if "$root/scripts/check-includes" --root "$work/tree"; then
  passed=$((passed + 1))
else
  echo "FAILED: the good tree"
  failed=$((failed + 1))
fi

arrow src/core/a.cpp '"andiron/open.h"' 'core may not include format; it may include core'
arrow src/core/a.cpp '"src/io/file.h"' 'core may not include io'
arrow src/core/a.cpp '"src/codec/cbor_writer.h"' 'core may not include codec'
arrow src/codec/a.cpp '"andiron/file.h"' 'codec may not include io'
arrow src/io/a.cpp '"src/freestanding/json_reader.h"' 'io may not include freestanding'
arrow src/freestanding/a.cpp '"andiron/file.h"' 'freestanding may not include io'
arrow src/freestanding/a.cpp '"src/codec/cbor_writer.h"' 'freestanding may not include codec'
arrow src/format/a.cpp '"andiron/names.h"' 'format may not include names'
arrow src/load/a.cpp '"src/format/safetensors.h"' 'load may not include format'
arrow src/load/a.cpp '"src/proposals/proposals.h"' 'load may not include proposals'
arrow src/names/a.cpp '"andiron/module.h"' 'names may not include module'
arrow examples/a.cpp '"src/format/burnpack/header_listing.h"' 'examples uses public headers only'
arrow src/store/a.cpp '"src/nn/linear.h"' 'store may not include nn'
arrow src/nn/a.cpp '"andiron/open.h"' 'nn may not include format'
arrow src/format/a.cpp '"andiron/andiron.h"' 'format may not include umbrella'
arrow include/andiron/bytes.h '"andiron/open.h"' 'core may not include format'
arrow include/andiron/bytes.h '"src/core/try.h"' 'public headers include public headers only'
arrow cli/a.cpp '"src/core/try.h"' 'cli uses public headers only'
arrow examples/a.cpp '"src/core/try.h"' 'examples uses public headers only'
arrow src/core/a.cpp '"cli/verbs.h"' 'the library does not include what is built on it'
arrow src/core/a.cpp '"tests/fixtures.h"' 'the library does not include what is built on it'
arrow src/core/a.cpp '"try.h"' 'includes are written from the root'
arrow src/core/a.cpp '<unistd.h>' 'system headers belong to src/io'
arrow src/format/a.cpp '<sys/stat.h>' 'system headers belong to src/io'
arrow src/names/a.cpp '<linux/fs.h>' 'system headers belong to src/io'
arrow src/core/a.cpp '"andiron/unheard_of.h"' 'no room is known for this header'

good_tree
put include/andiron/unheard_of.h
refuses 'a public header without a room' 'include/andiron/unheard_of.h: belongs to no room'
good_tree
put src/attic/a.cpp
refuses 'a source without a room' 'src/attic/a.cpp: belongs to no room'
rm -rf "$work/tree"
refuses 'a folder without sources' 'no sources under'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
