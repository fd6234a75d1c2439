// SPDX-License-Identifier: MIT OR Apache-2.0
// What can hold between two characters: ^ $ \A \z \b \B.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/core/text/digit.h"

namespace andiron::inline v1::automaton {

// A bit for each.
using Assertions = std::uint8_t;
constexpr Assertions text_begin = 1;
constexpr Assertions text_end = 2;
constexpr Assertions line_begin = 4;
constexpr Assertions line_end = 8;
constexpr Assertions word_boundary = 16;
constexpr Assertions no_word_boundary = 32;
constexpr Assertions all_assertions = 63;

// What assertions see of a character, or that there is none.
enum class Neighbor : std::uint8_t { none, newline, word, other };

// Words are ASCII, so bytes of longer characters are like other characters.
constexpr Neighbor neighbor(char byte) noexcept {
  if (byte == '\n') return Neighbor::newline;
  const bool is_word = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       detail::is_digit(byte) || byte == '_';
  return is_word ? Neighbor::word : Neighbor::other;
}

constexpr Assertions assertions_between(Neighbor before, Neighbor after) noexcept {
  unsigned holds = 0;
  if (before == Neighbor::none) holds |= text_begin | line_begin;
  if (before == Neighbor::newline) holds |= line_begin;
  if (after == Neighbor::none) holds |= text_end | line_end;
  if (after == Neighbor::newline) holds |= line_end;
  const bool is_boundary = (before == Neighbor::word) != (after == Neighbor::word);
  holds |= is_boundary ? word_boundary : no_word_boundary;
  return static_cast<Assertions>(holds);
}

// REQUIRES: `at` points into the text, or to its end.
inline Assertions assertions_at(std::string_view text, const char* at) noexcept {
  const char* const begin = text.data();
  return assertions_between(at == begin ? Neighbor::none : neighbor(at[-1]),
                            at == begin + text.size() ? Neighbor::none : neighbor(*at));
}

}  // namespace andiron::inline v1::automaton
