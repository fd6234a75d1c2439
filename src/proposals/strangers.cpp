// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/tree_alignment_test.cpp
#include "src/proposals/strangers.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "src/proposals/trade_words.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

std::uint16_t answer_of(std::string_view name, Question question) {
  return meaning_of(plain_segments(name), 0)[static_cast<std::size_t>(question)];
}

}  // namespace

std::vector<bool> find_strangers(std::span<const TreeTensor> source,
                                 std::span<const TreeTensor> wanted,
                                 const std::vector<AlignedTensor>& alignment) {
  std::vector<bool> is_stranger(source.size());
  bool was_taken = false;
  for (const Question question : {Question::medium, Question::coder, Question::player}) {
    const bool is_told = std::any_of(wanted.begin(), wanted.end(), [&](const TreeTensor& one) {
      return answer_of(one.name, question) != 0;
    });
    if (is_told) continue;
    std::map<std::uint16_t, std::size_t> counts;
    for (const AlignedTensor& pair : alignment) {
      ++counts[answer_of(source[pair.source].name, question)];
    }
    for (const auto& [answer, count] : counts) {
      if (answer == 0 || 10 * count < 9 * alignment.size()) continue;
      const std::uint16_t usual = answer;
      const auto is_other = [&](std::uint32_t tensor) {
        const std::uint16_t other = answer_of(source[tensor].name, question);
        return other != 0 && (other & usual) == 0;
      };
      for (std::uint32_t i = 0; i < source.size(); ++i) {
        if (is_other(i)) is_stranger[i] = true;
      }
      was_taken = was_taken ||
                  std::any_of(alignment.begin(), alignment.end(),
                              [&](const AlignedTensor& pair) { return is_other(pair.source); });
    }
  }
  return was_taken ? is_stranger : std::vector<bool>();
}

}  // namespace andiron::inline v1::detail
