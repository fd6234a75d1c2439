// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/module_lists_test.cpp
#include "src/load/module_lists.h"

#include <algorithm>
#include <utility>

#include "src/core/parse_index.h"
#include "src/core/sort.h"

namespace andiron::inline v1::detail {
namespace {

// The paths of the lists around a parameter must not outgrow its own by more.
constexpr std::size_t deepest_list = 32;

}  // namespace

std::unordered_map<std::string_view, std::vector<std::uint64_t>> numbers_in_lists(
    const std::vector<Slot>& slots) {
  std::unordered_map<std::string_view, std::vector<std::uint64_t>> lists;
  std::string_view previous;
  for (const Slot& slot : slots) {
    const std::string_view path = slot.path;
    const auto differs = std::mismatch(path.begin(), path.end(), previous.begin(), previous.end());
    const auto shared = static_cast<std::size_t>(differs.first - path.begin());
    previous = path;
    std::size_t depth = 0;
    for (std::size_t begin = 0; begin < path.size() && depth < deepest_list;) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      if (const auto number = parse_index(path.substr(begin, end - begin))) {
        ++depth;
        // What the path before has, too, is there already.
        const bool is_new = end >= shared;
        if (is_new) lists[path.substr(0, begin == 0 ? 0 : begin - 1)].push_back(*number);
      }
      begin = end + 1;
    }
  }
  for (auto& [list, numbers] : lists) {
    detail::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  return lists;
}

NameOptions names_for(const std::vector<Slot>& slots, NameOptions names) {
  if (!names.close_gaps) return names;
  for (const auto& [list, numbers] : numbers_in_lists(slots)) {
    if (numbers.back() != numbers.size() - 1) names.kept_lists.emplace_back(list);
  }
  return names;
}

}  // namespace andiron::inline v1::detail
