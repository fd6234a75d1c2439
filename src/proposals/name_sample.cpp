// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/name_sample.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>

#include "src/core/parse_index.h"
#include "src/core/text/digit.h"
#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

// Calls visit(text before, number) for each run of digits.
template <class Visit>
void for_each_number(std::string_view name, Visit visit) {
  for (std::size_t begin = 0; begin < name.size(); ++begin) {
    if (!is_digit(name[begin])) continue;
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    const std::optional<std::uint64_t> number = parse_index(name.substr(begin, end - begin));
    visit(name.substr(0, begin), number.value_or(0));
    begin = end;
  }
}

// For each name the highest rank of a number in it.
std::vector<std::size_t> ranks_of(std::span<const std::string_view> names) {
  std::unordered_map<std::string_view, std::vector<std::uint64_t>> numbers;
  for (const std::string_view name : names) {
    for_each_number(name, [&](std::string_view before, std::uint64_t number) {
      numbers[before].push_back(number);
    });
  }
  for (auto& [before, values] : numbers) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  std::vector<std::size_t> ranks;
  for (const std::string_view name : names) {
    std::size_t highest = 0;
    for_each_number(name, [&](std::string_view before, std::uint64_t number) {
      const std::vector<std::uint64_t>& values = numbers[before];
      const auto at = std::lower_bound(values.begin(), values.end(), number);
      highest = std::max(highest, static_cast<std::size_t>(at - values.begin()));
    });
    ranks.push_back(highest);
  }
  return ranks;
}

}  // namespace

std::string name_kind(std::string_view name) {
  std::string kind;
  for (const char c : name) {
    if (!is_digit(c)) {
      kind += c;
    } else if (kind.empty() || kind.back() != number_mark) {
      kind += number_mark;
    }
  }
  return kind;
}

std::vector<std::size_t> sample_of_names(std::span<const std::string_view> names,
                                         std::size_t most) {
  std::vector<std::size_t> taken(names.size());
  std::iota(taken.begin(), taken.end(), std::size_t{0});
  if (names.size() <= most) return taken;

  // With two a rule for numbers shows; the third is there for what differs in the first.
  constexpr std::size_t lowest = 3;
  const std::vector<std::size_t> ranks = ranks_of(names);
  std::unordered_map<std::string, std::size_t> of_kind;
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < names.size(); ++i) {
    kinds.push_back(name_kind(names[i]));
    if (ranks[i] < lowest) ++of_kind[kinds[i]];
  }
  std::erase_if(taken, [&](std::size_t i) {
    if (ranks[i] < lowest) return false;
    return ++of_kind[kinds[i]] > lowest;
  });
  if (taken.size() > most) taken.resize(most);
  return taken;
}

}  // namespace andiron::inline v1::detail
