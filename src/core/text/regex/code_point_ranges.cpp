// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_unicode_test.cpp
#include "src/core/text/regex/code_point_ranges.h"

#include <algorithm>
#include <cstddef>

#include "src/core/sort.h"

namespace andiron::inline v1::automaton {

using detail::CodePointRange;

void normalize(CodePointRanges& ranges) {
  detail::sort(ranges.begin(), ranges.end());
  std::size_t kept = 0;
  for (const CodePointRange range : ranges) {
    if (kept != 0 && range.first <= ranges[kept - 1].last + 1) {
      ranges[kept - 1].last = std::max(ranges[kept - 1].last, range.last);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

CodePointRanges complement(const CodePointRanges& ranges) {
  CodePointRanges out;
  char32_t next = 0;
  for (const CodePointRange range : ranges) {
    if (next < range.first) out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= last_code_point) out.push_back({next, last_code_point});
  return out;
}

bool meets(const CodePointRanges& ranges, CodePointRange other) noexcept {
  const auto range =
      std::partition_point(ranges.begin(), ranges.end(),
                           [&](const CodePointRange& before) { return before.last < other.first; });
  return range != ranges.end() && range->first <= other.last;
}

}  // namespace andiron::inline v1::automaton
