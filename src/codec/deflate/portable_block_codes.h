// SPDX-License-Identifier: MIT OR Apache-2.0
// The two codes of a block of deflate data, and the one in which a block describes them.
#pragma once

#include <cstdint>
#include <span>

#include "src/codec/deflate/portable_huffman.h"
#include "src/codec/deflate/portable_symbols.h"

namespace andiron::inline v1::detail {

// Literals, the end of the block and the lengths of matches in one, distances in the other. It
// begins with no code.
class BlockCodes {
 public:
  // The code that needs no description. Costs nothing if it was the last that was used.
  void use_fixed() noexcept;
  // The codes of these lengths. False if zlib refuses them, too.
  bool use(std::span<const std::uint8_t> literal_lengths,
           std::span<const std::uint8_t> distance_lengths) noexcept;

  HuffmanLookup literals() const noexcept { return literals_.lookup(); }
  HuffmanLookup distances() const noexcept { return distances_.lookup(); }

 private:
  HuffmanTable<fixed_literal_lengths.size(), longest_code, 10> literals_;
  HuffmanTable<fixed_distance_lengths.size(), longest_code, 8> distances_;
  bool is_fixed_ = false;
};

// The lengths of the codes of a block, and how often some are repeated: the value of an entry is
// the symbol.
class CodeOfLengths {
 public:
  // False if zlib refuses it, too.
  bool use(std::span<const std::uint8_t> lengths) noexcept;
  HuffmanEntry find(std::uint64_t bits) const noexcept { return table_.lookup().find(bits); }

 private:
  HuffmanTable<order_of_lengths.size(), longest_code_of_lengths, longest_code_of_lengths> table_;
};

}  // namespace andiron::inline v1::detail
