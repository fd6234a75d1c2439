// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/variant_names.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

// The segments at which paths part from the same paths without the names of variants.
std::set<std::string_view> added_segments(std::span<const WantedTensor> wanted,
                                          std::span<const WantedTensor> without) {
  std::set<std::string_view> added;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string_view path = wanted[i].place.path;
    const std::string_view other = without[i].place.path;
    std::size_t begin = 0;
    while (begin < path.size()) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      const std::string_view segment = path.substr(begin, end - begin);
      if (other.substr(0, end) != path.substr(0, end)) {
        added.insert(segment);
        break;
      }
      begin = end + 1;
    }
  }
  return added;
}

}  // namespace

bool names_variants(std::span<const TreeTensor> source, std::span<const WantedTensor> wanted,
                    std::span<const WantedTensor> without) {
  const std::set<std::string_view> variants = added_segments(wanted, without);
  return std::any_of(source.begin(), source.end(), [&](const TreeTensor& tensor) {
    return std::any_of(variants.begin(), variants.end(),
                       [&](std::string_view variant) { return has_segment(tensor.name, variant); });
  });
}

}  // namespace andiron::inline v1::detail
