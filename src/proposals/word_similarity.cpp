// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/word_similarity_test.cpp
#include "src/proposals/word_similarity.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/proposals/name_parts.h"

namespace andiron::inline v1::detail {
namespace {

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

}  // namespace

std::string plain_segment(std::string_view segment) {
  std::string plain;
  while (segment.size() > 1 && segment.front() == '_') segment.remove_prefix(1);
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    const bool begins_word =
        is_upper(c) && i > 0 &&
        (is_lower(segment[i - 1]) ||
         (is_upper(segment[i - 1]) && i + 1 < segment.size() && is_lower(segment[i + 1]) && i > 1));
    if (begins_word && plain.back() != '_') plain += '_';
    plain += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c;
  }
  return plain;
}

std::vector<std::string> plain_segments(std::string_view name) {
  std::vector<std::string> segments;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of(name_separators, begin), name.size());
    segments.push_back(plain_segment(name.substr(begin, end - begin)));
    begin = end + 1;
  }
  return segments;
}

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

// Abbreviations keep the first letter (q for query, attn for attention, ln for layernorm), or put
// the kind before it (wq).
double word_similarity(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.empty()) return 0;
  if (a == b) return 1;
  if (a.size() > 1 && (b.starts_with(a) || is_synonym(a, b))) return 0.8;
  if (b[0] == a[0] && a.size() == 1) return 0.55;  // the first letter of many words
  if (b.ends_with(a) || (a.size() >= 3 && b.find(a) != std::string_view::npos)) return 0.7;
  if (a[0] == b[0] && is_subsequence(a, b)) return 0.6;
  const auto shared =
      static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  return shared < 3 ? 0 : 0.8 * static_cast<double>(shared) / static_cast<double>(b.size());
}

double words_similarity(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return 0;
  double sum = 0;
  for (const std::string& part : a) {
    double best = 0;
    for (const std::string& other : b) best = std::max(best, word_similarity(part, other));
    sum += best;
  }
  const auto fewer = static_cast<double>(std::min(a.size(), b.size()));
  const auto more = static_cast<double>(std::max(a.size(), b.size()));
  return std::min(1.0, sum / fewer) / 2 + sum / more / 2;
}

}  // namespace andiron::inline v1::detail
