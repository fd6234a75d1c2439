// SPDX-License-Identifier: MIT OR Apache-2.0
// What the name of a module says about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/proposals/name_tree.h"
#include "src/proposals/trade_words.h"

namespace andiron::inline v1::detail {

// A node as its name tells it, below the place where both sides are looked at.
struct Label {
  Meaning meaning = {};
  std::vector<std::string> words = {};  // without common ones
  std::vector<std::uint64_t> numbers = {};
  std::vector<std::vector<std::string>> counted = {};  // for each number the words before it
  std::string last = {};                               // segment, in plain form
};

// The words of a module that has only numbers are those of the child that holds most of it.
Label label_of(const NameTree& tree, NameTree::NodeId node, NameTree::NodeId scope);
std::vector<Label> labels_of(const NameTree& tree, const std::vector<NameTree::NodeId>& nodes,
                             NameTree::NodeId scope);

// How well two labels agree in words; negative if they contradict each other.
double word_score(const Label& wanted, const Label& source);

// The same without words that have no meaning in the trade.
double meaning_score(const Label& wanted, const Label& source);

// Whether a question has different answers in both. Not what part it is: a norm of the head is also
// of the head.
bool contradict(const Label& wanted, const Label& source);

// Numbered modules by rank: the first of one side is the first of the other.
struct Ranks {
  std::vector<std::size_t> of;  // for each node
  std::size_t count = 0;        // of different numbers
};
Ranks ranks_of(const std::vector<Label>& labels);
// The same for nodes that are listed in order, if that tells. Numbers of different lists say
// nothing of what comes first: "features.19" comes before "extra.0" if it is listed first.
Ranks ranks_in_order(const std::vector<Label>& labels, bool order_tells);
// The same for both sides, where the last number of each is one of the other side's, and no two
// have the same one: whatever they are called, equal numbers mean the same.
bool rank_by_equal_numbers(const std::vector<Label>& wanted, const std::vector<Label>& source,
                           Ranks& wanted_ranks, Ranks& source_ranks);
// Whether the other side has all last numbers: otherwise equal ones may be chance, as one side may
// count from 0 and the other from 1.
bool has_last_numbers_of(const std::vector<Label>& source, const std::vector<Label>& wanted);
bool have_the_same_words(const std::vector<Label>& labels);
// Whether numbers of both count the same: those of labels with the same words and as many numbers.
bool are_of_one_list(const Label& a, const Label& b);
// The projections of attention: query, key, value, output. One rank for all if they are not known.
Ranks ranks_of_projections(const std::vector<Label>& labels);

// Norms in the order in which a block goes through them. One rank for all if it is not known.
Ranks ranks_of_norms(const std::vector<Label>& labels);

// Both sides may have lists in lists the other way round: "norm_layers_1.0" is "layers.0.norm1".
// Then the two numbers of each label of the source change places: where that makes all numbers
// equal, or puts them behind the same words.
void swap_numbers_of_other_lists(const std::vector<Label>& wanted, std::vector<Label>& source);

// From 0 for the same numbers to 1.
double number_cost(const Label& wanted, const Label& source);

// The numbers in a segment: 2 and 1 for layer2_conv1; the last: 1.
std::vector<std::uint64_t> numbers_in_segment(std::string_view segment);
std::optional<std::uint64_t> last_number_in(std::string_view segment);

}  // namespace andiron::inline v1::detail
