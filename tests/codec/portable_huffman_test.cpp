// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables for reading. What is refused is tested with whole blocks.
#include "src/codec/deflate/portable_huffman.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

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

// The codes of these lengths, as RFC 1951 counts them, but with their first bits lowest.
std::array<std::uint32_t, most_symbols> codes_of(const CodeLengths& lengths) {
  std::array<std::uint32_t, most_symbols> codes{};
  std::uint32_t next = 0;
  for (unsigned length = 1; length <= longest_code; ++length, next *= 2) {
    for (unsigned symbol = 0; symbol < most_symbols; ++symbol) {
      if (lengths[symbol] != length) continue;
      for (unsigned bit = 0; bit < length; ++bit) {
        codes[symbol] |= (next >> bit & 1) << (length - 1 - bit);
      }
      ++next;
    }
  }
  return codes;
}

// Every code is found, whatever bits follow it.
void expect_all_found(const HuffmanTable288& table, const CodeLengths& lengths) {
  const std::array<std::uint32_t, most_symbols> codes = codes_of(lengths);
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

}  // namespace
}  // namespace andiron::detail
