// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/portable_huffman_test.cpp
#include "src/codec/deflate/portable_huffman.h"

#include <algorithm>

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_symbols = fixed_literal_lengths.size();

// The symbols that have codes, in the order of their codes.
struct CodeOrder {
  std::array<std::uint16_t, most_symbols> symbols;
  std::size_t count = 0;
  unsigned longest = 0;
  int free = 1;  // codes of the longest length that are not used; negative if there are too many
};

CodeOrder order_codes(std::span<const std::uint8_t> lengths) noexcept {
  std::array<std::uint16_t, longest_code + 1> counts{};
  for (const std::uint8_t length : lengths) ++counts[length];
  CodeOrder order;
  std::array<std::uint16_t, longest_code + 1> places{};
  for (unsigned length = 1; length <= longest_code; ++length) {
    places[length] = static_cast<std::uint16_t>(order.count);
    order.count += counts[length];
    if (counts[length] != 0) order.longest = length;
  }
  for (unsigned length = 1; length <= order.longest; ++length) {
    order.free = 2 * order.free - counts[length];
    if (order.free < 0) return order;
  }
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    if (lengths[symbol] == 0) continue;
    order.symbols[places[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
  }
  return order;
}

// All indexes of the table that end in these bits.
void put_entry(std::span<HuffmanEntry> table, std::size_t index, unsigned bits,
               HuffmanEntry entry) noexcept {
  for (; index < table.size(); index += std::size_t{1} << bits) table[index] = entry;
}

}  // namespace

unsigned fill_huffman_table(std::span<const std::uint8_t> lengths,
                            std::span<const HuffmanEntry> meanings, LoneCode lone_code,
                            unsigned most_root_bits, std::span<HuffmanEntry> entries) noexcept {
  const CodeOrder order = order_codes(lengths);
  if (order.free < 0) return 0;
  const unsigned root_bits = std::min(std::max(order.longest, 1U), most_root_bits);
  if (order.free > 0) {
    const bool is_lone = order.longest == 1 && lone_code == LoneCode::accepted;
    if (order.count != 0 && !is_lone) return 0;
    std::fill_n(entries.begin(), 2, HuffmanEntry::invalid().with_bits(1));
  }
  // From the last code to the first, so that a further table begins with its longest code.
  const std::span<HuffmanEntry> root = entries.first(std::size_t{1} << root_bits);
  std::span<HuffmanEntry> further;
  std::size_t further_prefix = root.size();  // none
  std::size_t used = root.size();
  unsigned next_code = (1U << order.longest) - static_cast<unsigned>(order.free);
  unsigned next_length = order.longest;
  for (std::size_t i = order.count; i-- > 0;) {
    const std::uint16_t symbol = order.symbols[i];
    const unsigned length = lengths[symbol];
    const unsigned code = (next_code >> (next_length - length)) - 1;
    next_code = code;
    next_length = length;
    const std::size_t index = reverse_code(code, length);
    const HuffmanEntry entry = meanings[symbol].with_bits(length);
    if (length <= root_bits) {
      put_entry(root, index, length, entry);
      continue;
    }
    const std::size_t prefix = index & (root.size() - 1);
    if (prefix != further_prefix) {
      further_prefix = prefix;
      const unsigned index_bits = length - root_bits;
      further = entries.subspan(used, std::size_t{1} << index_bits);
      root[prefix] = HuffmanEntry::link(used, index_bits).with_bits(root_bits);
      used += further.size();
    }
    put_entry(further, index >> root_bits, length - root_bits, entry);
  }
  return root_bits;
}

}  // namespace andiron::inline v1::detail
