// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/shape_reason_test.cpp
#include "src/load/shape_reason.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "src/core/text/in_quotes.h"

namespace andiron::inline v1::detail {
namespace {

using Sizes = std::pair<std::uint64_t, std::uint64_t>;  // found and expected

Sizes reduced(Sizes sizes) {
  const std::uint64_t unit = std::max<std::uint64_t>(1, std::gcd(sizes.first, sizes.second));
  return {sizes.first / unit, sizes.second / unit};
}

// Tensors whose sizes differ by one ratio: a model that is wider has wider layers all over.
struct Group {
  std::size_t tensors = 0;
  std::map<Sizes, std::size_t> sizes;  // in how many tensors
  bool has_inputs = false;             // not in their first dimensions alone, as in a head
};

// The sizes that differ; nothing if they do so by several ratios, or if ranks differ.
std::optional<std::set<Sizes>> differing(const WrongShape& wrong) {
  if (wrong.found.rank() != wrong.expected.rank()) return std::nullopt;
  std::set<Sizes> sizes;
  for (std::size_t i = 0; i < wrong.found.rank(); ++i) {
    if (wrong.found[i] != wrong.expected[i]) sizes.emplace(wrong.found[i], wrong.expected[i]);
  }
  const bool is_one_ratio = std::all_of(sizes.begin(), sizes.end(), [&](const Sizes& one) {
    return reduced(one) == reduced(*sizes.begin());
  });
  return is_one_ratio && !sizes.empty() ? std::optional(std::move(sizes)) : std::nullopt;
}

}  // namespace

std::string shared_reason(std::span<const WrongShape> wrong) {
  constexpr std::size_t least_tensors = 3;
  std::map<Sizes, Group> groups;
  for (const WrongShape& one : wrong) {
    const std::optional<std::set<Sizes>> sizes = differing(one);
    if (!sizes) continue;
    Group& group = groups[reduced(*sizes->begin())];
    ++group.tensors;
    for (const Sizes& pair : *sizes) ++group.sizes[pair];
    for (std::size_t i = 1; i < one.found.rank(); ++i) {
      group.has_inputs = group.has_inputs || one.found[i] != one.expected[i];
    }
  }
  const auto most = std::max_element(
      groups.begin(), groups.end(),
      [](const auto& a, const auto& b) { return a.second.tensors < b.second.tensors; });
  if (most == groups.end()) return {};
  const Group& group = most->second;
  if (group.tensors < least_tensors || 2 * group.tensors < wrong.size()) return {};
  const auto [sizes, count] =
      *std::max_element(group.sizes.begin(), group.sizes.end(),
                        [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool are_all = group.tensors == wrong.size();
  return (are_all ? count_of(wrong.size(), "tensor")
                  : std::to_string(group.tensors) + " of " + count_of(wrong.size(), "tensor")) +
         (are_all ? " have other shapes for one reason: " : " of other shapes have one reason: ") +
         std::to_string(sizes.first) + (group.has_inputs ? " wide" : "") + " in the file, " +
         std::to_string(sizes.second) + " in the model";
}

}  // namespace andiron::inline v1::detail
