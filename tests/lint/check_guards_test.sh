#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# Shows that scripts/check-guards passes guarded functions and names those without a guard.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# good_tree: each kind of function that needs a guard, or needs none.
good_tree() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree/include/andiron" "$work/tree/src/core"
  cat >"$work/tree/include/andiron/file.h" <<'END'
class File {
 public:
  static Result<File> open(const std::string& path, const Options& options = {});
  Result<Bytes> read(std::uint64_t offset) const;
  Result<Bytes> data() const { return read(0); }
  virtual Status close() { return {}; }

 private:
  Status check() const;
};
template <class M>
Result<Report> load(M& module, const Options& options = {}) ANDIRON_NO_THROW {
  return load_slots(slots_of(module), options);
}
ANDIRON_OR_OUT_OF_MEMORY
END
  cat >"$work/tree/src/core/file.cpp" <<'END'
namespace {
Status read(int number) { return {}; }
}  // namespace
Result<File> File::open(const std::string& path, const Options& options) ANDIRON_NO_THROW {
  return File(path);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Bytes> File::read(std::uint64_t offset) const
    ANDIRON_NO_THROW {
  return Bytes();
}
ANDIRON_OR_OUT_OF_MEMORY
Status File::check() const { return {}; }
END
}

# refuses FILE OLD NEW FUNCTION: the good tree with OLD replaced must fail for FUNCTION.
refuses() {
  good_tree
  sed -i "s/$2/$3/" "$work/tree/$1"
  if output=$("$root/scripts/check-guards" --root "$work/tree" 2>&1); then
    echo "FAILED: $2 -> $3 passed"
    failed=$((failed + 1))
  elif [[ $output != *"$1:"*": $4 has no guard"* ]]; then
    printf 'FAILED: %s -> %s: expected "%s" in:\n%s\n' "$2" "$3" "$4" "$output"
    failed=$((failed + 1))
  fi
}

good_tree
"$root/scripts/check-guards" --root "$work/tree" || failed=$((failed + 1))
refuses src/core/file.cpp 'options) ANDIRON_NO_THROW' 'options)' open
refuses src/core/file.cpp '^ANDIRON_OR_OUT_OF_MEMORY' '' open
refuses src/core/file.cpp '    ANDIRON_NO_THROW' '    ' read
refuses include/andiron/file.h 'ANDIRON_NO_THROW' '' load
refuses include/andiron/file.h 'read(0);' 'read(size_of(path()));' data

echo "$failed failed"
[ "$failed" = 0 ]
