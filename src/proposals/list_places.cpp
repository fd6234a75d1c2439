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
#include "src/proposals/word_similarity.h"

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

bool shares_word(const NameTree& tree, NodeId node, NodeId beside) {
  constexpr std::ptrdiff_t most_with_it = 3;
  constexpr std::size_t least_letters = 2;
  // Members with numbers belong together by these.
  if (last_number_in(tree[node].segment) || last_number_in(tree[beside].segment)) return false;
  const auto words_of = [&](NodeId one) { return words_in(plain_segment(tree[one].segment)); };
  const auto has_word = [&](NodeId one, const std::string& word) {
    const std::vector<std::string> words = words_of(one);
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const std::vector<NodeId>& members = tree[tree[node].parent].children;
  for (const std::string& word : words_of(node)) {
    if (word.size() < least_letters || !has_word(beside, word)) continue;
    const auto with_it = std::count_if(members.begin(), members.end(),
                                       [&](NodeId member) { return has_word(member, word); });
    if (with_it <= most_with_it) return true;
  }
  return false;
}

namespace {

// The members of a list that are called the same but for their numbers, each with the number that
// it has in the list: 2 of "branch7x7_2", where all have the others. Others count by themselves.
struct CountedList {
  std::map<std::uint32_t, std::vector<std::uint64_t>> numbers;  // by bag, in order
  std::vector<std::pair<NodeId, std::uint64_t>> members;
};
CountedList list_of(const NameTree& tree, NodeId node) {
  const std::string kind = name_kind(tree[node].segment);
  std::vector<NodeId> members;
  std::vector<std::vector<std::uint64_t>> all;
  for (const NodeId child : tree[tree[node].parent].children) {
    if (name_kind(tree[child].segment) != kind) continue;
    members.push_back(child);
    all.push_back(numbers_in_segment(tree[child].segment));
  }
  CountedList list;
  // The root is in no list.
  const std::size_t count = all.empty() ? 0 : all.front().size();
  if (count == 0) return list;
  std::size_t counting = 0;  // the first one in which they differ, or the last
  while (counting + 1 < count && std::all_of(all.begin(), all.end(), [&](const auto& numbers) {
           return numbers[counting] == all.front()[counting];
         })) {
    ++counting;
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    list.numbers[tree[members[i]].bag].push_back(all[i][counting]);
    list.members.emplace_back(members[i], all[i][counting]);
  }
  return list;
}

}  // namespace

bool runs_backwards(const NameTree& wanted_tree, NodeId wanted, const NameTree& source_tree,
                    NodeId source) {
  const auto in_wanted = list_of(wanted_tree, wanted).numbers;
  const auto in_source = list_of(source_tree, source).numbers;
  const auto group_wanted = in_wanted.find(wanted_tree[wanted].bag);
  const auto group_source = in_source.find(source_tree[source].bag);
  if (group_wanted == in_wanted.end() || group_source == in_source.end()) return false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers;
  for (const auto& [bag, of_bag] : in_wanted) {
    const auto same = in_source.find(bag);
    if (of_bag.size() != 1 || same == in_source.end() || same->second.size() != 1) continue;
    if (numbers.size() < most_members) numbers.emplace_back(of_bag.front(), same->second.front());
  }
  // Groups on their way: the members with this bag against those with forms of their own.
  const auto mean = [](const std::vector<std::uint64_t>& of_bag) {
    double sum = 0;
    for (const std::uint64_t number : of_bag) sum += static_cast<double>(number);
    return sum / static_cast<double>(of_bag.size());
  };
  int forward = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool same =
          (numbers[i].first < numbers[j].first) == (numbers[i].second < numbers[j].second);
      forward += same ? 1 : -1;
    }
    const bool is_after = static_cast<double>(numbers[i].first) > mean(group_wanted->second);
    const bool is_after_there = static_cast<double>(numbers[i].second) > mean(group_source->second);
    forward += is_after == is_after_there ? 1 : -1;
  }
  if (forward != 0) return forward < 0;
  // Lists with the same numbers were renamed and nothing else.
  const bool is_one_known = counts_backwards(wanted_tree[wanted].segment) !=
                            counts_backwards(source_tree[source].segment);
  return is_one_known && group_wanted->second.front() != group_source->second.front();
}

bool counts_others(const NameTree& tree, NodeId node) {
  const CountedList list = list_of(tree, node);
  return list.numbers.size() > 1;
}

bool counts_others_before(const NameTree& tree, std::span<const NodeId> nodes,
                          NameTree::Bags& bags) {
  const CountedList list = list_of(tree, nodes.front());
  std::optional<std::uint64_t> least;
  for (const NodeId node : nodes) {
    const auto member = std::find_if(list.members.begin(), list.members.end(),
                                     [&](const auto& one) { return one.first == node; });
    if (member == list.members.end()) return false;
    least = std::min(least.value_or(member->second), member->second);
  }
  bool has_others = false;
  for (const auto& [member, number] : list.members) {
    if (number >= *least) continue;
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
