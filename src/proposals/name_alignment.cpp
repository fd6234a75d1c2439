// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/name_alignment.h"

#include <algorithm>
#include <utility>

#include "src/core/text/digit.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_tokens = 40;
// Little, so that digits may stand apart in one name and not in the other.
constexpr double other_dot_cost = 0.1;
// Even words that mean the same are not written the same.
constexpr double least_replace_cost = 0.05;

}  // namespace

NameTokens NameAligner::tokens(std::string_view name) {
  NameTokens tokens;
  bool starts_segment = true;
  for (std::size_t begin = 0; begin < name.size();) {
    if (name[begin] == '.') {
      starts_segment = true;
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < name.size() && name[end] != '.' && is_digit(name[end]) == is_digit(name[begin])) {
      ++end;
    }
    if (tokens.size() == most_tokens) return {};
    tokens.push_back({word(name.substr(begin, end - begin)), begin, end, starts_segment});
    starts_segment = false;
    begin = end;
  }
  return tokens;
}

std::uint32_t NameAligner::word(std::string_view text) {
  const auto [at, is_new] =
      word_ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(words_.size()));
  if (is_new) {
    Word& word = words_.emplace_back();
    word.is_number = is_digit(text[0]);
    word.parts = words_in(text);
    // What is post attention is something else.
    const auto post = std::find(word.parts.begin(), word.parts.end(), "post");
    if (word.parts.end() - post > 1) word.parts.erase(post + 1);
    for (const std::string& part : word.parts) word.joined += part;
  }
  return at->second;
}

double NameAligner::similarity(const NameToken& a, const NameToken& b) {
  if (a.word == b.word) return 1;
  const std::uint64_t key = (std::uint64_t{a.word} << 32) | b.word;
  const auto [known, is_new] = similarities_.try_emplace(key, 0);
  if (is_new) {
    known->second = std::max(words_similarity(words_[a.word].parts, words_[b.word].parts),
                             word_similarity(words_[a.word].joined, words_[b.word].joined));
  }
  return known->second;
}

double NameAligner::drop_cost(const NameToken& token, const AlignmentCosts& costs) const {
  return is_number(token) ? costs.drop_number : costs.drop;
}

double NameAligner::add_cost(const NameToken& token, const AlignmentCosts& costs) const {
  return is_number(token) ? costs.add_number : costs.add;
}

double NameAligner::replace_cost(const NameTokens& from, std::size_t i, const NameTokens& to,
                                 std::size_t j, const AlignmentCosts& costs) {
  const NameToken& a = from[i];
  const NameToken& b = to[j];
  const double dot_cost = a.starts_segment == b.starts_segment ? 0 : other_dot_cost;
  if (a.word == b.word) return dot_cost;
  if (is_number(a) != is_number(b)) return 2 * (drop_cost(a, costs) + add_cost(b, costs));
  if (is_number(a)) return costs.other_number + dot_cost;
  // The last word says what a tensor is for; a bias is no weight.
  const double weight = i + 1 == from.size() && j + 1 == to.size() ? 2 : 1;
  const double apart = (costs.drop + costs.add) * 0.99 - least_replace_cost;
  return weight * (least_replace_cost + (1 - similarity(a, b)) * apart) + dot_cost;
}

void NameAligner::fill_table(const NameTokens& from, const NameTokens& to,
                             const AlignmentCosts& costs) {
  const std::size_t width = to.size() + 1;
  table_.resize((from.size() + 1) * width);
  table_[0] = 0;
  for (std::size_t j = 0; j < to.size(); ++j) table_[j + 1] = table_[j] + add_cost(to[j], costs);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double* above = &table_[i * width];
    double* row = &table_[(i + 1) * width];
    row[0] = above[0] + drop_cost(from[i], costs);
    for (std::size_t j = 0; j < to.size(); ++j) {
      row[j + 1] =
          std::min({above[j] + replace_cost(from, i, to, j, costs),
                    above[j + 1] + drop_cost(from[i], costs), row[j] + add_cost(to[j], costs)});
    }
  }
}

double NameAligner::cost(const NameTokens& from, const NameTokens& to,
                         const AlignmentCosts& costs) {
  fill_table(from, to, costs);
  return table_[from.size() * (to.size() + 1) + to.size()];
}

std::vector<NameBlock> NameAligner::blocks(const NameTokens& from, const NameTokens& to,
                                           const AlignmentCosts& costs) {
  fill_table(from, to, costs);
  const std::size_t width = to.size() + 1;
  std::size_t i = from.size();
  std::size_t j = to.size();
  std::size_t end_i = i;
  std::size_t end_j = j;
  std::vector<NameBlock> blocks;
  const auto is_cut = [](const NameTokens& tokens, std::size_t at) {
    return at == tokens.size() || tokens[at].starts_segment;
  };
  while (i > 0 || j > 0) {
    const double here = table_[i * width + j];
    constexpr double rounding = 1e-9;
    if (i > 0 && j > 0 &&
        table_[(i - 1) * width + j - 1] + replace_cost(from, i - 1, to, j - 1, costs) <=
            here + rounding) {
      --i;
      --j;
    } else if (i > 0 &&
               table_[(i - 1) * width + j] + drop_cost(from[i - 1], costs) <= here + rounding) {
      --i;
    } else {
      --j;
    }
    if (!is_cut(from, i) || !is_cut(to, j)) continue;
    blocks.push_back({i, end_i, j, end_j});
    end_i = i;
    end_j = j;
  }
  std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

}  // namespace andiron::inline v1::detail
