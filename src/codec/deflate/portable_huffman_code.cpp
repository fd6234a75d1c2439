// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/portable_huffman_test.cpp
#include "src/codec/deflate/portable_huffman_code.h"

#include <algorithm>
#include <array>

#include "src/codec/deflate/portable_symbols.h"
#include "src/core/sort.h"

namespace andiron::inline v1::detail {
namespace {

struct HuffmanNode {
  std::uint32_t count;
  std::uint16_t symbol;  // of a leaf
  std::uint16_t parent;
  unsigned depth;
};

// Returns the longest.
unsigned shortest_lengths(std::span<const std::uint32_t> counts,
                          std::span<std::uint8_t> lengths) noexcept {
  // The leaves, the rarest first, then the nodes that join the two rarest of what is left. These
  // come in order, too, so the rarest is always the next leaf or the next joint.
  std::array<HuffmanNode, 2 * fixed_literal_lengths.size()> nodes;
  std::size_t leaves = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] == 0) continue;
    nodes[leaves++] = {counts[symbol], static_cast<std::uint16_t>(symbol), 0, 0};
  }
  detail::sort(nodes.data(), nodes.data() + leaves, [](const HuffmanNode& a, const HuffmanNode& b) {
    return a.count != b.count ? a.count < b.count : a.symbol < b.symbol;
  });
  std::size_t end = leaves;
  std::size_t next_leaf = 0;
  std::size_t next_joint = leaves;
  const auto take_rarest = [&] {
    const bool is_leaf = next_joint == end ||
                         (next_leaf < leaves && nodes[next_leaf].count <= nodes[next_joint].count);
    HuffmanNode& rarest = nodes[is_leaf ? next_leaf++ : next_joint++];
    rarest.parent = static_cast<std::uint16_t>(end);
    return rarest.count;
  };
  for (std::size_t joints = 1; joints < leaves; ++joints) {
    const std::uint32_t first = take_rarest();
    const std::uint32_t second = take_rarest();
    nodes[end++] = {first + second, 0, 0, 0};
  }
  // Parents stand behind their children; the last node is the root.
  unsigned longest = 0;
  std::fill(lengths.begin(), lengths.end(), std::uint8_t{0});
  for (std::size_t i = end; i-- > 0;) {
    const bool is_root = i + 1 == end;
    if (!is_root) nodes[i].depth = nodes[nodes[i].parent].depth + 1;
    if (i >= leaves) continue;
    const unsigned length = std::max(nodes[i].depth, 1U);  // a lone symbol also takes a bit
    lengths[nodes[i].symbol] = static_cast<std::uint8_t>(length);
    longest = std::max(longest, length);
  }
  return longest;
}

}  // namespace

void set_huffman_lengths(std::span<std::uint32_t> counts, unsigned longest,
                         std::span<std::uint8_t> lengths) noexcept {
  // Counts that are more alike make lengths that are more alike.
  while (shortest_lengths(counts, lengths) > longest) {
    for (std::uint32_t& count : counts) count -= count / 2;
  }
}

void set_huffman_codes(std::span<const std::uint8_t> lengths,
                       std::span<std::uint16_t> codes) noexcept {
  unsigned code = 0;
  for (unsigned length = 1; length <= longest_code; ++length, code <<= 1) {
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] != length) continue;
      codes[symbol] = static_cast<std::uint16_t>(reverse_code(code++, length));
    }
  }
}

}  // namespace andiron::inline v1::detail
