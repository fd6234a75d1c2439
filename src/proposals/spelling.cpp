// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/spelling_test.cpp
#include "src/proposals/spelling.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "src/core/text/digit.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

using SegmentPath = std::vector<std::string>;

constexpr std::size_t most_spelled = 24;  // nodes that are compared as they are written
constexpr double clear_gain = 0.25;       // of an exchange
constexpr double least_loss_of_meaning = 0.3;

SegmentPath path_below(const NameTree& tree, NameTree::NodeId node, NameTree::NodeId scope) {
  SegmentPath path = tree.plain_path(node);
  const std::size_t above = std::min<std::size_t>(tree[scope].depth, path.size());
  path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(above));
  return path;
}

// The same for all members of a list.
std::string list_of_path(const SegmentPath& path) {
  std::string list;
  for (const std::string& segment : path) list += name_kind(segment) + '.';
  return list;
}

// Runs of letters. One letter by itself counts, as a number does: "norm_a".
std::vector<std::string> spelled_words(const SegmentPath& path) {
  std::vector<std::string> words;
  for (const std::string& segment : path) {
    for (const std::string& word : words_in(segment)) {
      if (word.size() == 1 && segment.size() > 1) continue;
      for (std::size_t begin = 0; begin < word.size();) {
        std::size_t end = begin + 1;
        while (end < word.size() && is_digit(word[end]) == is_digit(word[begin])) ++end;
        if (!is_digit(word[begin])) words.push_back(word.substr(begin, end - begin));
        begin = end;
      }
    }
  }
  return words;
}

double spelling_score(const SegmentPath& wanted, const SegmentPath& source, bool with_numbers) {
  constexpr double of_equal_numbers = 0.5;
  const double score = words_similarity(spelled_words(wanted), spelled_words(source));
  if (!with_numbers || wanted.empty() || source.empty()) return score;
  const auto number = last_number_in(wanted.back());
  return number && number == last_number_in(source.back()) ? score + of_equal_numbers : score;
}

}  // namespace

Spelling::Spelling(const NameTree& wanted_tree, std::span<const NameTree::NodeId> wanted,
                   NameTree::NodeId wanted_scope, const NameTree& source_tree,
                   std::span<const NameTree::NodeId> source, NameTree::NodeId source_scope) {
  for (const NameTree::NodeId node : wanted) {
    wanted_.push_back(path_below(wanted_tree, node, wanted_scope));
  }
  for (const NameTree::NodeId node : source) {
    source_.push_back(path_below(source_tree, node, source_scope));
  }
}

std::vector<std::optional<std::size_t>> Spelling::equal_names() const {
  std::vector<std::optional<std::size_t>> equal(wanted_.size());
  if (wanted_.size() == 1 && source_.size() == 1) return equal;
  std::map<SegmentPath, std::optional<std::size_t>> there;  // nothing for what occurs twice
  for (std::size_t j = 0; j < source_.size(); ++j) {
    const auto [at, is_new] = there.try_emplace(source_[j], j);
    if (!is_new) at->second.reset();
  }
  std::set<std::string> shifted;
  for (const SegmentPath& path : wanted_) {
    if (!there.contains(path)) shifted.insert(list_of_path(path));
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const auto same = there.find(wanted_[i]);
    const bool is_named = !wanted_[i].empty() && !is_digit(wanted_[i].back()[0]);
    if (same == there.end() || !is_named || shifted.contains(list_of_path(wanted_[i]))) continue;
    equal[i] = same->second;
  }
  return equal;
}

bool Spelling::speaks_against(std::size_t wanted,
                              const std::vector<std::optional<std::size_t>>& chosen,
                              const std::vector<Label>& wanted_labels,
                              const std::vector<Label>& source_labels) const {
  if (wanted_.size() > most_spelled) return false;
  const std::string list = list_of_path(wanted_[wanted]);
  const bool is_one_list =
      std::all_of(wanted_.begin(), wanted_.end(),
                  [&](const SegmentPath& path) { return list_of_path(path) == list; });
  if (is_one_list) return false;
  const auto gain = [&](std::size_t other, const auto& score) {
    return score(wanted, *chosen[other]) + score(other, *chosen[wanted]) -
           score(wanted, *chosen[wanted]) - score(other, *chosen[other]);
  };
  const bool with_numbers = has_last_numbers_of(source_labels, wanted_labels);
  const auto spelling = [&](std::size_t row, std::size_t column) {
    return spelling_score(wanted_[row], source_[column], with_numbers);
  };
  const auto meaning = [&](std::size_t row, std::size_t column) {
    return meaning_score(wanted_labels[row], source_labels[column]);
  };
  for (std::size_t other = 0; other < wanted_.size(); ++other) {
    if (other == wanted || !chosen[other]) continue;
    if (gain(other, spelling) >= clear_gain && gain(other, meaning) > -least_loss_of_meaning) {
      return true;
    }
  }
  return false;
}

}  // namespace andiron::inline v1::detail
