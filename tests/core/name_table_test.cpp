// SPDX-License-Identifier: MIT OR Apache-2.0
// Names to positions.
#include "src/core/name_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace andiron::detail {
namespace {

using Names = std::vector<std::string>;

// What the table asks for the name at a position; copied with every call, hence small.
auto reader_of(const Names& names) {
  return [&names](std::uint32_t at) { return std::string_view(names[at]); };
}

TEST(NameTable, FindsNothingWhenEmpty) {
  const Names none;
  const auto names = reader_of(none);
  NameTable table;
  EXPECT_EQ(table.find("a", names), std::nullopt);
  EXPECT_EQ(table.capacity(), 0u);
  ASSERT_TRUE(table.reset(0).ok());
  EXPECT_EQ(table.find("a", names), std::nullopt);
  EXPECT_EQ(table.find({}, names), std::nullopt);
}

TEST(NameTable, FindsEveryNameAndNoOther) {
  Names all;
  for (std::uint32_t i = 0; i < 50'000; ++i) all.push_back("layer." + std::to_string(i));
  const auto names = reader_of(all);
  NameTable table;
  ASSERT_TRUE(table.reset(all.size()).ok());
  ASSERT_GE(table.capacity(), all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(table.insert(names(i), i, names), std::nullopt);
  }
  for (std::uint32_t i = 0; i < all.size(); ++i) ASSERT_EQ(table.find(names(i), names), i);
  EXPECT_EQ(table.find("layer.50000", names), std::nullopt);
  EXPECT_EQ(table.find("layer", names), std::nullopt);
  EXPECT_EQ(table.find("", names), std::nullopt);
}

TEST(NameTable, TellsWhoHasANameAlready) {
  const Names all = {"a", "b", "a"};
  const auto names = reader_of(all);
  NameTable table;
  ASSERT_TRUE(table.reset(3).ok());
  EXPECT_EQ(table.insert("a", 0, names), std::nullopt);
  EXPECT_EQ(table.insert("b", 1, names), std::nullopt);
  EXPECT_EQ(table.insert("a", 2, names), 0u);
  EXPECT_EQ(table.find("a", names), 0u);
}

TEST(NameTable, TakesTheEmptyName) {
  const Names all = {""};
  const auto names = reader_of(all);
  NameTable table;
  ASSERT_TRUE(table.reset(1).ok());
  EXPECT_EQ(table.insert({}, 0, names), std::nullopt);
  EXPECT_EQ(table.find("", names), 0u);
}

TEST(NameTable, ResetForgetsAllNames) {
  const Names all = {"a"};
  const auto names = reader_of(all);
  NameTable table;
  ASSERT_TRUE(table.reset(1).ok());
  EXPECT_EQ(table.insert("a", 0, names), std::nullopt);
  ASSERT_TRUE(table.reset(1).ok());
  EXPECT_EQ(table.find("a", names), std::nullopt);
}

TEST(NameTable, HoldsAsManyNamesAsItWasMadeFor) {
  Names all;
  for (int i = 0; i < 100; ++i) all.push_back(std::to_string(i));
  const auto names = reader_of(all);
  for (std::uint32_t count = 1; count <= 100; ++count) {
    NameTable table;
    ASSERT_TRUE(table.reset(count).ok());
    ASSERT_GE(table.capacity(), count);
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(table.insert(names(i), i, names), std::nullopt);
    }
    EXPECT_EQ(table.find("none", names), std::nullopt) << "an empty slot ends the search";
  }
}

TEST(NameTable, ACopyMadePrivateIsIndependent) {
  const Names all = {"a", "b"};
  const auto names = reader_of(all);
  NameTable original;
  ASSERT_TRUE(original.reset(2).ok());
  EXPECT_EQ(original.insert("a", 0, names), std::nullopt);
  NameTable copy = original;
  ASSERT_TRUE(copy.make_private().ok());
  EXPECT_EQ(copy.insert("b", 1, names), std::nullopt);
  EXPECT_EQ(copy.find("b", names), 1u);
  EXPECT_EQ(original.find("b", names), std::nullopt);
}

TEST(HashName, DependsOnEveryByteAndOnTheLength) {
  for (const std::size_t length : {1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 100}) {
    const std::string name(length, 'x');
    std::set<std::uint64_t> hashes = {hash_name(name), hash_name(std::string(length + 1, 'x'))};
    for (std::size_t i = 0; i < length; ++i) {
      std::string other = name;
      other[i] = 'y';
      hashes.insert(hash_name(other));
    }
    EXPECT_EQ(hashes.size(), length + 2) << length;
  }
}

TEST(HashName, TellsTrailingZerosApart) {
  std::set<std::uint64_t> hashes;
  for (std::size_t length = 0; length <= 40; ++length) {
    hashes.insert(hash_name(std::string(length, '\0')));
  }
  EXPECT_EQ(hashes.size(), 41u);
}

TEST(HashName, DoesNotDependOnWhereTheNameLies) {
  const std::string text = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::string moved = std::string(shift, '-') + text;
    EXPECT_EQ(hash_name(std::string_view(moved).substr(shift)), hash_name(text));
  }
}

}  // namespace
}  // namespace andiron::detail
