// SPDX-License-Identifier: MIT OR Apache-2.0
// Sets of characters as sorted tables.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>

namespace andiron::inline v1::detail {

struct CodePointRange {
  char32_t first;
  char32_t last;

  friend auto operator<=>(const CodePointRange&, const CodePointRange&) = default;
};

// REQUIRES: the ranges ascend.
template <std::size_t count>
constexpr bool contains(const CodePointRange (&ranges)[count], char32_t character) noexcept {
  const CodePointRange* range = std::lower_bound(
      std::begin(ranges), std::end(ranges), character,
      [](const CodePointRange& before, char32_t point) { return before.last < point; });
  return range != std::end(ranges) && range->first <= character;
}

}  // namespace andiron::inline v1::detail
