// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/tree_alignment_test.cpp
#include "src/proposals/list_places.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/core/text/digit.h"
#include "src/proposals/module_label.h"
#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

using NodeId = NameTree::NodeId;

constexpr std::size_t most_members = 160;  // of a list that are compared
constexpr double least_likeness_of_members = 0.5;

}  // namespace

std::optional<Side> side_of(const NameTree& tree, NodeId node, NodeId beside, bool in_order) {
  if (node == beside || tree[node].parent != tree[beside].parent) return std::nullopt;
  const std::size_t count = tree[tree[node].parent].children.size();
  if (count == 2) return Side::either;
  const auto here = last_number_in(tree[node].segment);
  const auto there = last_number_in(tree[beside].segment);
  if (here && there) {
    const bool are_numbers = is_digit(tree[node].segment[0]) && is_digit(tree[beside].segment[0]);
    if (!are_numbers && *here == *there) return Side::either;
    if (are_numbers && *there + 1 == *here) return Side::after;
    if (are_numbers && *here + 1 == *there) return Side::before;
    return std::nullopt;
  }
  if (count == 3) return Side::either;
  if (in_order && tree[beside].end == node) return Side::after;
  if (in_order && tree[node].end == beside) return Side::before;
  return std::nullopt;
}

bool runs_backwards(const NameTree& wanted_tree, NodeId wanted, const NameTree& source_tree,
                    NodeId source) {
  // What is called the same but for its number: others count by themselves.
  const auto list_of = [](const NameTree& tree, NodeId node) {
    std::map<std::uint32_t, std::vector<NodeId>> by_bag;
    for (const NodeId child : tree[tree[node].parent].children) {
      if (name_kind(tree[child].segment) != name_kind(tree[node].segment)) continue;
      by_bag[tree[child].bag].push_back(child);
    }
    return by_bag;
  };
  const auto in_wanted = list_of(wanted_tree, wanted);
  const auto in_source = list_of(source_tree, source);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers;
  for (const auto& [bag, nodes] : in_wanted) {
    const auto same = in_source.find(bag);
    if (nodes.size() != 1 || same == in_source.end() || same->second.size() != 1) continue;
    const auto a = number_in(wanted_tree[nodes.front()].segment);
    const auto b = number_in(source_tree[same->second.front()].segment);
    if (a && b && numbers.size() < most_members) numbers.emplace_back(*a, *b);
  }
  // Groups on their way: the members with this bag against those with forms of their own.
  const auto mean = [&](const NameTree& tree, const std::vector<NodeId>& nodes) {
    double sum = 0;
    for (const NodeId node : nodes) {
      sum += static_cast<double>(number_in(tree[node].segment).value_or(0));
    }
    return sum / static_cast<double>(nodes.size());
  };
  const auto group_wanted = in_wanted.find(wanted_tree[wanted].bag);
  const auto group_source = in_source.find(source_tree[source].bag);
  int forward = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool same =
          (numbers[i].first < numbers[j].first) == (numbers[i].second < numbers[j].second);
      forward += same ? 1 : -1;
    }
    if (group_wanted != in_wanted.end() && group_source != in_source.end()) {
      const bool is_after =
          static_cast<double>(numbers[i].first) > mean(wanted_tree, group_wanted->second);
      const bool is_after_there =
          static_cast<double>(numbers[i].second) > mean(source_tree, group_source->second);
      forward += is_after == is_after_there ? 1 : -1;
    }
  }
  if (forward != 0) return forward < 0;
  // Lists with the same numbers were renamed and nothing else.
  const auto first_number = [](const NameTree& tree, NodeId node, const auto& groups) {
    const auto group = groups.find(tree[node].bag);
    const NodeId first = group == groups.end() ? node : group->second.front();
    return number_in(tree[first].segment);
  };
  const bool is_one_known = counts_backwards(wanted_tree[wanted].segment) !=
                            counts_backwards(source_tree[source].segment);
  return is_one_known && first_number(wanted_tree, wanted, in_wanted) !=
                             first_number(source_tree, source, in_source);
}

bool counts_others_before(const NameTree& tree, std::span<const NodeId> nodes,
                          NameTree::Bags& bags) {
  std::optional<std::uint64_t> least;
  for (const NodeId node : nodes) {
    const auto number = number_in(tree[node].segment);
    if (!number) return false;
    least = std::min(least.value_or(*number), *number);
  }
  if (!least) return false;
  const std::string kind = name_kind(tree[nodes.front()].segment);
  const std::vector<NodeId>& members = tree[tree[nodes.front()].parent].children;
  bool has_others = false;
  for (const NodeId member : members) {
    const auto number = number_in(tree[member].segment);
    if (!number || *number >= *least || name_kind(tree[member].segment) != kind) continue;
    // The first block of a model may have a tensor more or less than the others.
    const std::uint32_t bag = tree[nodes.front()].bag;
    const bool is_alike = bags.likeness(bag, tree[member].bag) >= least_likeness_of_members ||
                          bags.likeness(tree[member].bag, bag) >= least_likeness_of_members;
    if (is_alike) return false;
    has_others = true;
  }
  return has_others;
}

}  // namespace andiron::inline v1::detail
