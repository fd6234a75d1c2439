// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables for reading, and codes for writing. What is refused is tested with whole blocks.
#include "src/codec/deflate/portable_huffman.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "src/codec/deflate/portable_huffman_code.h"

namespace andiron::detail {
namespace {

constexpr std::size_t most_symbols = 288;
using CodeLengths = std::array<std::uint8_t, most_symbols>;
using HuffmanTable288 = HuffmanTable<most_symbols, longest_code, 10>;

bool build_table(HuffmanTable288& table, const CodeLengths& lengths) {
  std::array<HuffmanEntry, most_symbols> meanings;
  for (unsigned i = 0; i < most_symbols; ++i) meanings[i] = HuffmanEntry::literal(i);
  return table.build(lengths, meanings, LoneCode::accepted);
}

// Every code is found, whatever bits follow it.
void expect_all_found(const HuffmanTable288& table, const CodeLengths& lengths) {
  std::array<std::uint16_t, most_symbols> codes{};
  set_huffman_codes(lengths, codes);
  for (unsigned symbol = 0; symbol < most_symbols; ++symbol) {
    const unsigned length = lengths[symbol];
    if (length == 0) continue;
    for (const std::uint64_t after : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x5a5a}}) {
      const HuffmanEntry entry = table.lookup().find(codes[symbol] | after << length);
      ASSERT_TRUE(entry.is_literal());
      ASSERT_EQ(entry.value(), symbol);
      ASSERT_EQ(entry.bits(), length);
    }
  }
}

TEST(PortableHuffman, FindsEverySymbolOfAnyCompleteCode) {
  std::mt19937 random(1);
  HuffmanTable288 table;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::uint8_t> split = {1, 1};
    const std::size_t count = 2 + random() % (most_symbols - 1);
    while (split.size() < count) {
      // Now and then the longest, for codes of all lengths.
      const std::size_t at = i % 2 == 0 ? random() % split.size() : split.size() - 1 - random() % 2;
      if (split[at] == longest_code) {
        const auto shorter = std::find_if(
            split.begin(), split.end(), [](std::uint8_t length) { return length < longest_code; });
        split.push_back(++*shorter);
        continue;
      }
      split.push_back(++split[at]);
    }
    CodeLengths lengths{};
    std::copy(split.begin(), split.end(), lengths.begin());
    std::shuffle(lengths.begin(), lengths.end(), random);
    ASSERT_TRUE(build_table(table, lengths));
    expect_all_found(table, lengths);
  }
}

// Six most_symbols make a further table of 32 entries: as many of these as there can be.
TEST(PortableHuffman, HasRoomForTheMostFurtherTables) {
  constexpr unsigned root_bits = 10;
  constexpr unsigned further = 46;
  std::vector<std::uint8_t> split;
  for (unsigned i = 0; i < further; ++i) split.insert(split.end(), {11, 12, 13, 14, 15, 15});
  // What is left of the root's 1024, in few codes.
  for (unsigned left = (1U << root_bits) - further, bits = root_bits; left != 0;
       left /= 2, --bits) {
    if (left % 2 != 0) split.push_back(static_cast<std::uint8_t>(bits));
  }
  ASSERT_LE(split.size(), most_symbols);
  CodeLengths lengths{};
  std::copy(split.begin(), split.end(), lengths.begin());
  HuffmanTable288 table;
  ASSERT_TRUE(build_table(table, lengths));
  expect_all_found(table, lengths);
}

TEST(PortableHuffman, CodesForWritingAreCompleteAndNotTooLong) {
  std::mt19937 random(2);
  for (const unsigned longest : {9U, 10U, longest_code}) {
    for (int i = 0; i < 50; ++i) {
      std::array<std::uint32_t, most_symbols> counts{};
      const std::size_t used = 2 + random() % (most_symbols - 1);
      for (std::size_t symbol = 0; symbol < used; ++symbol) {
        counts[symbol] = 1 + static_cast<std::uint32_t>(random() >> random() % 32) / most_symbols;
      }
      CodeLengths lengths{};
      std::array<std::uint32_t, most_symbols> changed = counts;
      set_huffman_lengths(changed, longest, lengths);
      std::size_t space = 0;  // of 2^15
      for (std::size_t symbol = 0; symbol < most_symbols; ++symbol) {
        ASSERT_EQ(lengths[symbol] != 0, counts[symbol] != 0);
        ASSERT_LE(lengths[symbol], longest);
        if (lengths[symbol] != 0) space += std::size_t{1} << (longest_code - lengths[symbol]);
      }
      ASSERT_EQ(space, std::size_t{1} << longest_code);
    }
  }
}

TEST(PortableHuffman, CodesForWritingAreTheShortest) {
  std::array<std::uint32_t, 5> counts = {5, 1, 0, 2, 1};
  std::array<std::uint8_t, 5> lengths{};
  set_huffman_lengths(counts, longest_code, lengths);
  EXPECT_EQ(lengths, (std::array<std::uint8_t, 5>{1, 3, 0, 2, 3}));
  std::array<std::uint16_t, 5> codes{};
  set_huffman_codes(lengths, codes);
  EXPECT_EQ(codes, (std::array<std::uint16_t, 5>{0b0, 0b011, 0, 0b01, 0b111}));
}

TEST(PortableHuffman, ALoneSymbolTakesABit) {
  std::array<std::uint32_t, 3> counts = {0, 7, 0};
  std::array<std::uint8_t, 3> lengths{};
  set_huffman_lengths(counts, longest_code, lengths);
  EXPECT_EQ(lengths, (std::array<std::uint8_t, 3>{0, 1, 0}));
}

}  // namespace
}  // namespace andiron::detail
