// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/proposals_test.cpp
#include "src/proposals/name_alignment.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/core/text/digit.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_tokens = 40;
// Little, so that digits may stand apart in one name and not in the other.
constexpr double other_dot_cost = 0.1;
// Even words that mean the same are not written the same.
constexpr double least_replace_cost = 0.05;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_subsequence(std::string_view few, std::string_view many) {
  std::size_t found = 0;
  for (const char c : many) {
    if (found < few.size() && few[found] == c) ++found;
  }
  return found == few.size();
}

// What frameworks call the same by words that have nothing in common.
bool is_synonym(std::string_view a, std::string_view b) {
  static constexpr std::array<std::array<std::string_view, 4>, 3> synonyms = {
      {{"weight", "gamma", "scale", "kernel"},
       {"bias", "beta", "shift", "offset"},
       {"norm", "ln", "bn", "gn"}}};
  return std::any_of(synonyms.begin(), synonyms.end(), [&](const auto& words) {
    return std::find(words.begin(), words.end(), a) != words.end() &&
           std::find(words.begin(), words.end(), b) != words.end();
  });
}

// Abbreviations keep the first letter (q for query, attn for attention, ln for layernorm), or put
// the kind before it (wq).
double part_similarity(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return 0;
  if (a == b) return 1;
  if (b.starts_with(a) || is_synonym(a, b)) return 0.8;
  if (b.ends_with(a) || (a.size() >= 3 && b.find(a) != std::string_view::npos)) return 0.7;
  if (a[0] == b[0] && is_subsequence(a, b)) return 0.6;
  const auto shared =
      static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  return shared < 3 ? 0 : 0.8 * static_cast<double>(shared) / static_cast<double>(b.size());
}

double parts_similarity(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return 0;
  double sum = 0;
  for (const std::string& part : a) {
    double best = 0;
    for (const std::string& other : b) best = std::max(best, part_similarity(part, other));
    sum += best;
  }
  const auto fewer = static_cast<double>(std::min(a.size(), b.size()));
  const auto more = static_cast<double>(std::max(a.size(), b.size()));
  return std::min(1.0, sum / fewer) / 2 + sum / more / 2;
}

}  // namespace

std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> words;
  bool is_new = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '_' || c == '-' || c == '.') {
      is_new = true;
      continue;
    }
    if (is_new || (is_upper(c) && i > 0 && is_lower(name[i - 1]))) words.emplace_back();
    is_new = false;
    words.back() += lower(c);
  }
  return words;
}

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
    known->second = std::max(parts_similarity(words_[a.word].parts, words_[b.word].parts),
                             part_similarity(words_[a.word].joined, words_[b.word].joined));
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
