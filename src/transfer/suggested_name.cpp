// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/suggested_name_test.cpp
#include "src/transfer/suggested_name.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "src/core/similarity.h"

namespace andiron {
inline namespace v1 {
namespace detail {
namespace {

// Burn's threshold for a suggestion.
constexpr double similar = 0.7;
// Names compared by likeness, which costs the product of their lengths.
constexpr std::size_t most_compared = 2'000;

// "block.BaseConv.weight" without "BaseConv": the first inner segment that looks like the name of a
// variant.
std::optional<std::string> without_variant(std::string_view path) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos;
       dot = path.find('.', dot + 1)) {
    const std::size_t end = path.find('.', dot + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view segment = path.substr(dot + 1, end - dot - 1);
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    if (segment.size() > 1 && segment[0] >= 'A' && segment[0] <= 'Z' &&
        std::any_of(segment.begin() + 1, segment.end(), is_lower)) {
      return std::string(path.substr(0, dot)) + std::string(path.substr(end));
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view suggested_name(std::string_view missing,
                                const std::vector<std::string_view>& unused,
                                const std::vector<std::string_view>& of_its_size) {
  if (const std::optional<std::string> plain = without_variant(missing)) {
    const auto found = std::lower_bound(unused.begin(), unused.end(), *plain);
    if (found != unused.end() && *found == *plain) return *found;
  }
  for (const std::vector<std::string_view>* names : {&of_its_size, &unused}) {
    const auto nearest =
        nearest_name(missing, names->size(), [&](std::size_t i) { return (*names)[i]; });
    if (nearest) return (*names)[*nearest];
  }
  if (of_its_size.size() > most_compared) return {};
  std::string_view best;
  double best_likeness = similar;
  for (const std::string_view name : of_its_size) {
    const double likeness = jaro_similarity(missing, name);
    if (likeness < best_likeness || (!best.empty() && likeness == best_likeness)) continue;
    best = name;
    best_likeness = likeness;
  }
  return best;
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
