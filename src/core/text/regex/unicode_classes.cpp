// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_unicode_test.cpp
#include "src/core/text/regex/unicode_classes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/core/text/regex/unicode_tables.h"

namespace andiron::inline v1::automaton {
namespace {

using detail::CodePointRange;

// Takes a number off the front of a table. REQUIRES: there is one.
std::uint32_t take_number(std::span<const unsigned char>& table) {
  std::uint32_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned char byte = table[0];
    table = table.subspan(1);
    value |= static_cast<std::uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

// The runs of a table whose names are wanted.
template <class IsWanted>
CodePointRanges select(std::span<const unsigned char> runs, std::string_view names,
                       IsWanted is_wanted) {
  std::vector<bool> wanted = {false};  // runs without a name
  bool any = false;
  while (!names.empty()) {
    const std::size_t length = names.find(' ');
    wanted.push_back(is_wanted(names.substr(0, length)));
    any = any || wanted.back();
    names.remove_prefix(length + 1);
  }
  CodePointRanges out;
  const auto name_count = static_cast<std::uint32_t>(wanted.size());
  for (char32_t first = 0; any && !runs.empty();) {
    const std::uint32_t number = take_number(runs);
    const char32_t end = first + number / name_count;
    if (wanted[number % name_count]) {
      if (!out.empty() && out.back().last + 1 == first) {
        out.back().last = end - 1;
      } else {
        out.push_back({first, end - 1});
      }
    }
    first = end;
  }
  return out;
}

// Characters that are `step` apart, each `distance` before what it folds to.
struct FoldingRun {
  char32_t first;
  std::uint32_t count;
  std::uint32_t step;
  std::uint32_t distance;  // modulo 2^32

  // The characters themselves, or what they fold to.
  CodePointRange range(std::uint32_t offset) const {
    return {first + offset, first + (count - 1) * step + offset};
  }
};

template <class Visit>
void for_each_folding_run(Visit visit) {
  char32_t end = 0;
  for (std::span<const unsigned char> table = folding_runs; !table.empty();) {
    FoldingRun run{};
    run.first = end + take_number(table);
    run.count = take_number(table);
    run.step = take_number(table);
    const std::uint32_t distance = take_number(table);
    run.distance = (distance & 1) != 0 ? 0 - (distance >> 1) : distance >> 1;
    visit(run);
    end = run.range(0).last + 1;
  }
}

// Adds what the characters of `ranges` fold to, or what folds to them.
void add_across(CodePointRanges& ranges, bool to_folded) {
  CodePointRanges found;
  for_each_folding_run([&](const FoldingRun& run) {
    const std::uint32_t from = to_folded ? 0 : run.distance;
    const std::uint32_t to = to_folded ? run.distance : 0;
    if (!meets(ranges, run.range(from))) return;
    for (std::uint32_t i = 0; i < run.count; ++i) {
      const char32_t c = run.first + i * run.step;
      if (meets(ranges, {c + from, c + from})) found.push_back({c + to, c + to});
    }
  });
  ranges.insert(ranges.end(), found.begin(), found.end());
  normalize(ranges);
}

}  // namespace

std::optional<CodePointRanges> unicode_class(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name == "Any") return CodePointRanges{{0, last_code_point}};
  // L is all of Ll, Lm, Lo, Lt and Lu.
  CodePointRanges ranges = select(category_runs, category_names, [&](std::string_view candidate) {
    return candidate.starts_with(name);
  });
  if (ranges.empty()) {
    ranges = select(script_runs, script_names,
                    [&](std::string_view candidate) { return candidate == name; });
  }
  if (ranges.empty()) return std::nullopt;
  return ranges;
}

void add_case_variants(CodePointRanges& ranges) {
  // What a character folds to folds to itself, so two steps reach every variant.
  add_across(ranges, true);
  add_across(ranges, false);
}

}  // namespace andiron::inline v1::automaton
