// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells whether there is a match, with one look at a table for each character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/core/text/regex/program.h"

namespace andiron::inline v1::automaton {

// A state stands for all instructions that the text so far can lead to.
class SearchTable {
 public:
  // None if there are too many states; Matcher does without.
  static std::optional<SearchTable> make(const Program& program);

  // Whether there is a match anywhere. REQUIRES: the alphabet is that of the program.
  bool matches(const Alphabet& alphabet, std::string_view subject) const noexcept {
    std::size_t state = start;
    const char* at = subject.data();
    for (const char* const end = at + subject.size(); at != end;) {
      state = next_[state * alphabet.size() + alphabet.take(at, end)];
      if (state < start) return state == matched;
    }
    return matches_at_end_[state];
  }

  std::size_t state_count() const noexcept { return matches_at_end_.size(); }

 private:
  class Builder;
  using State = std::uint16_t;
  // With one of the first two, the answer is known.
  static constexpr State failed = 0;
  static constexpr State matched = 1;
  static constexpr State start = 2;

  std::vector<State> next_;           // for each state, one for each symbol
  std::vector<bool> matches_at_end_;  // for each state
};

}  // namespace andiron::inline v1::automaton
