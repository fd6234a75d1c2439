// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/inflate_stream_test.cpp
#include "src/codec/deflate/portable_block_codes.h"

#include <array>

namespace andiron::inline v1::detail {
namespace {

constexpr auto meanings_of_literals = [] {
  std::array<HuffmanEntry, fixed_literal_lengths.size()> meanings{};
  meanings.fill(HuffmanEntry::invalid());
  for (unsigned i = 0; i < end_of_block; ++i) meanings[i] = HuffmanEntry::literal(i);
  meanings[end_of_block] = HuffmanEntry::end();
  for (std::size_t i = 0; i < length_ranges.size(); ++i) {
    meanings[first_length + i] = HuffmanEntry::range(length_ranges[i]);
  }
  return meanings;
}();

constexpr auto meanings_of_distances = [] {
  std::array<HuffmanEntry, fixed_distance_lengths.size()> meanings{};
  meanings.fill(HuffmanEntry::invalid());
  for (std::size_t i = 0; i < distance_ranges.size(); ++i) {
    meanings[i] = HuffmanEntry::range(distance_ranges[i]);
  }
  return meanings;
}();

constexpr auto meanings_of_lengths = [] {
  std::array<HuffmanEntry, order_of_lengths.size()> meanings{};
  for (unsigned i = 0; i < meanings.size(); ++i) meanings[i] = HuffmanEntry::literal(i);
  return meanings;
}();

}  // namespace

void BlockCodes::use_fixed() noexcept {
  if (is_fixed_) return;
  literals_.build(fixed_literal_lengths, meanings_of_literals, LoneCode::accepted);
  distances_.build(fixed_distance_lengths, meanings_of_distances, LoneCode::accepted);
  is_fixed_ = true;
}

bool BlockCodes::use(std::span<const std::uint8_t> literal_lengths,
                     std::span<const std::uint8_t> distance_lengths) noexcept {
  is_fixed_ = false;
  return literal_lengths[end_of_block] != 0 &&
         literals_.build(literal_lengths, meanings_of_literals, LoneCode::accepted) &&
         distances_.build(distance_lengths, meanings_of_distances, LoneCode::accepted);
}

bool CodeOfLengths::use(std::span<const std::uint8_t> lengths) noexcept {
  return table_.build(lengths, meanings_of_lengths, LoneCode::refused);
}

}  // namespace andiron::inline v1::detail
