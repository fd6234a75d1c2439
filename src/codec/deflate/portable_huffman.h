// SPDX-License-Identifier: MIT OR Apache-2.0
// Huffman codes as tables: the next bits of the data are an index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/codec/deflate/portable_symbols.h"

namespace andiron::inline v1::detail {

// What some bits mean, and how many they are.
class HuffmanEntry {
 public:
  constexpr HuffmanEntry() = default;

  static constexpr HuffmanEntry literal(unsigned value) { return {is_literal_flag, value}; }
  static constexpr HuffmanEntry range(SymbolRange range) { return {range.extra_bits, range.base}; }
  static constexpr HuffmanEntry end() { return {is_end_flag, 0}; }
  static constexpr HuffmanEntry invalid() { return {is_invalid_flag, 0}; }
  // To a further table for the bits that follow.
  static constexpr HuffmanEntry link(std::size_t table, unsigned index_bits) {
    return {is_link_flag | index_bits, static_cast<unsigned>(table)};
  }
  constexpr HuffmanEntry with_bits(unsigned bits) const { return HuffmanEntry(packed_ | bits); }

  // Bits of the code, without extra bits.
  constexpr unsigned bits() const { return packed_ & 0xff; }
  constexpr unsigned value() const { return packed_ >> 16; }
  // Those of a range.
  constexpr unsigned extra_bits() const { return packed_ >> 8 & 0x0f; }
  constexpr unsigned index_bits() const { return packed_ >> 8 & 0x0f; }

  constexpr bool is_literal() const { return (packed_ & is_literal_flag << 8) != 0; }
  constexpr bool is_link() const { return (packed_ & is_link_flag << 8) != 0; }
  constexpr bool is_end() const { return (packed_ & is_end_flag << 8) != 0; }
  constexpr bool is_invalid() const { return (packed_ & is_invalid_flag << 8) != 0; }
  constexpr bool is_range() const { return (packed_ & 0xf000) == 0; }

 private:
  static constexpr unsigned is_literal_flag = 0x80;
  static constexpr unsigned is_link_flag = 0x40;
  static constexpr unsigned is_end_flag = 0x20;
  static constexpr unsigned is_invalid_flag = 0x10;

  constexpr explicit HuffmanEntry(std::uint32_t packed) : packed_(packed) {}
  constexpr HuffmanEntry(unsigned kind, unsigned value) : packed_(value << 16 | kind << 8) {}

  std::uint32_t packed_;  // value, kind and bits; not set, as tables are large and are filled
};

constexpr std::uint64_t low_bits(std::uint64_t bits, unsigned count) noexcept {
  return bits & ((std::uint64_t{1} << count) - 1);
}

// Looks bits up in a table.
struct HuffmanLookup {
  const HuffmanEntry* entries;
  std::uint64_t root_mask;

  // What the next bits mean at first sight, which may be a link, and where that leads to.
  HuffmanEntry first(std::uint64_t bits) const noexcept { return entries[bits & root_mask]; }
  HuffmanEntry follow(HuffmanEntry link, std::uint64_t bits) const noexcept {
    return entries[link.value() + low_bits(bits >> link.bits(), link.index_bits())];
  }
  // What the next bits mean.
  HuffmanEntry find(std::uint64_t bits) const noexcept {
    const HuffmanEntry entry = first(bits);
    return entry.is_link() ? follow(entry, bits) : entry;
  }
};

// Codes must be complete. As zlib does, we accept besides that no code at all, and a lone code of
// one bit in most places: what they lack is invalid where it occurs.
enum class LoneCode : std::uint8_t { accepted, refused };

// Fills a table for codes of these lengths, 0 for symbols without one. Returns how many bits are
// looked up at first, `most_root_bits` or fewer; 0 if there are too many codes or too few.
// REQUIRES: room as HuffmanTable has it, and meanings for all symbols.
unsigned fill_huffman_table(std::span<const std::uint8_t> lengths,
                            std::span<const HuffmanEntry> meanings, LoneCode lone_code,
                            unsigned most_root_bits, std::span<HuffmanEntry> entries) noexcept;

template <std::size_t symbols, unsigned longest, unsigned most_root_bits>
class HuffmanTable {
 public:
  // False if there are too many codes or too few.
  bool build(std::span<const std::uint8_t> lengths, std::span<const HuffmanEntry> meanings,
             LoneCode lone_code) noexcept {
    root_bits_ = fill_huffman_table(lengths, meanings, lone_code, most_root_bits, entries_);
    return root_bits_ != 0;
  }

  HuffmanLookup lookup() const noexcept {
    return {entries_.data(), (std::uint64_t{1} << root_bits_) - 1};
  }

 private:
  // A further table of n bits has 2^n entries and, as its codes are complete, n + 1 symbols or
  // more.
  static constexpr unsigned most_index_bits = longest - most_root_bits;
  static constexpr std::size_t most_further =
      symbols * (std::size_t{1} << most_index_bits) / (most_index_bits + 1);

  std::array<HuffmanEntry, (std::size_t{1} << most_root_bits) + most_further> entries_;
  unsigned root_bits_ = 0;
};

}  // namespace andiron::inline v1::detail
