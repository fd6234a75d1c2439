// SPDX-License-Identifier: MIT OR Apache-2.0
// Characters as the sets of one expression see them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/core/text/regex/code_point_ranges.h"

namespace andiron::inline v1::automaton {

// Two characters are one symbol if every set has both or neither. Few sets make few symbols, and
// all of Unicode is read as if it were a small alphabet.
class Alphabet {
 public:
  using Symbol = std::uint16_t;

  // None if this would take too much memory or time. REQUIRES: the sets are normal.
  static std::optional<Alphabet> make(std::span<const CodePointRanges> sets);

  std::size_t size() const noexcept { return examples_.size(); }
  // The first character that is this symbol.
  char32_t example(Symbol symbol) const noexcept { return examples_[symbol]; }
  bool is_in(Symbol symbol, std::uint32_t set) const noexcept {
    return (members_[symbol * words_ + set / 64] >> (set % 64) & 1) != 0;
  }

  // Takes a character, or a byte that is no part of one. REQUIRES: at < end.
  Symbol take(const char*& at, const char* end) const noexcept {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte >= 0x80) return take_long(at, end);
    ++at;
    return ascii_[byte];
  }

 private:
  Symbol take_long(const char*& at, const char* end) const noexcept;
  Symbol symbol_of(char32_t code_point) const noexcept;

  // Symbol symbols_[i] is that of the code points from firsts_[i] to firsts_[i + 1].
  std::vector<char32_t> firsts_;
  std::vector<Symbol> symbols_;
  std::array<Symbol, 0x80> ascii_{};
  std::vector<char32_t> examples_;
  std::vector<std::uint64_t> members_;  // for each symbol a bit for each set
  std::size_t words_ = 0;               // of these bits
};

}  // namespace andiron::inline v1::automaton
