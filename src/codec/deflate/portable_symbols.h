// SPDX-License-Identifier: MIT OR Apache-2.0
// What the symbols of deflate's codes mean (RFC 1951, section 3.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace andiron::inline v1::detail {

inline constexpr std::size_t deflate_window_bytes = 32768;  // the farthest distance
inline constexpr unsigned longest_match = 258;
inline constexpr unsigned longest_code = 15;

// One code has literals, the end of the block and the lengths of matches, another has distances.
inline constexpr unsigned end_of_block = 256;
inline constexpr unsigned first_length = 257;

// Lengths or distances that share a symbol: those from `base` on, told apart by `extra_bits`.
struct SymbolRange {
  std::uint16_t base = 0;
  std::uint8_t extra_bits = 0;
};

inline constexpr std::array<SymbolRange, 29> length_ranges = [] {
  std::array<SymbolRange, 29> ranges{};
  unsigned base = 3;
  for (unsigned i = 0; i < 28; ++i) {
    const unsigned extra_bits = i < 8 ? 0 : i / 4 - 1;
    ranges[i] = {static_cast<std::uint16_t>(base), static_cast<std::uint8_t>(extra_bits)};
    base += 1U << extra_bits;
  }
  ranges[28] = {longest_match, 0};
  return ranges;
}();

inline constexpr std::array<SymbolRange, 30> distance_ranges = [] {
  std::array<SymbolRange, 30> ranges{};
  unsigned base = 1;
  for (unsigned i = 0; i < 30; ++i) {
    const unsigned extra_bits = i < 4 ? 0 : i / 2 - 1;
    ranges[i] = {static_cast<std::uint16_t>(base), static_cast<std::uint8_t>(extra_bits)};
    base += 1U << extra_bits;
  }
  return ranges;
}();

inline constexpr std::size_t literal_symbols = first_length + length_ranges.size();
inline constexpr std::size_t distance_symbols = distance_ranges.size();

// A third code has the lengths of the other two: symbols up to 15 are lengths, those from 16 on
// stand for several. Its own lengths come in this order.
inline constexpr std::array<std::uint8_t, 19> order_of_lengths = {
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
inline constexpr unsigned longest_code_of_lengths = 7;
inline constexpr unsigned repeat_length = 16;  // the length before, 3 to 6 times
inline constexpr unsigned repeat_zero = 17;    // 3 to 10 times
inline constexpr unsigned repeat_zero_more = 18;
inline constexpr std::array<SymbolRange, 3> repeat_ranges = {{{3, 2}, {3, 3}, {11, 7}}};

// The lengths of the fixed codes. Both have two symbols more than there are meanings.
inline constexpr std::array<std::uint8_t, 288> fixed_literal_lengths = [] {
  std::array<std::uint8_t, 288> lengths{};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  }
  return lengths;
}();
inline constexpr std::array<std::uint8_t, 32> fixed_distance_lengths = [] {
  std::array<std::uint8_t, 32> lengths{};
  lengths.fill(5);
  return lengths;
}();

// The bits of a code, which files have with the first bit lowest, in the order of numbers and back.
constexpr unsigned reverse_code(unsigned code, unsigned bits) noexcept {
  code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
  code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
  code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
  code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
  return code >> (16 - bits);
}

}  // namespace andiron::inline v1::detail
