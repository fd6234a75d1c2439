// SPDX-License-Identifier: MIT OR Apache-2.0
// A growing array whose copies share memory.
#include "src/core/shared_array.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace andiron::detail {
namespace {

SharedArray<std::uint32_t> counting(std::uint32_t count) {
  SharedArray<std::uint32_t> table;
  for (std::uint32_t i = 0; i < count; ++i) table.push(i).value();
  return table;
}

TEST(SharedArray, GrowsAndKeepsItsItems) {
  const SharedArray<std::uint32_t> table = counting(100'000);
  ASSERT_EQ(table.size(), 100'000u);
  for (std::uint32_t i = 0; i < table.size(); ++i) ASSERT_EQ(table[i], i);
  EXPECT_EQ(table.items().size(), 100'000u);
  EXPECT_EQ(table.items().back(), 99'999u);
}

TEST(SharedArray, IsEmptyByDefault) {
  SharedArray<std::uint64_t> table;
  EXPECT_EQ(table.size(), 0u);
  EXPECT_TRUE(table.items().empty());
  EXPECT_TRUE(table.make_private().ok());
}

TEST(SharedArray, DoesNotMoveWithinReservedRoom) {
  SharedArray<std::uint32_t> table;
  ASSERT_TRUE(table.reserve(1000).ok());
  ASSERT_TRUE(table.push(0).ok());
  const std::uint32_t* place = table.items().data();
  for (std::uint32_t i = 1; i < 1000; ++i) ASSERT_TRUE(table.push(i).ok());
  EXPECT_EQ(table.items().data(), place);
  ASSERT_TRUE(table.reserve(10).ok());
  EXPECT_EQ(table.size(), 1000u);
}

TEST(SharedArray, AssignReplacesWhatWasThere) {
  SharedArray<std::uint32_t> table = counting(10);
  ASSERT_TRUE(table.assign(3, 7).ok());
  ASSERT_EQ(table.size(), 3u);
  for (const std::uint32_t item : table.items()) EXPECT_EQ(item, 7u);
  ASSERT_TRUE(table.assign(1000, 8).ok());
  EXPECT_EQ(table[999], 8u);
  ASSERT_TRUE(table.assign(0, 9).ok());
  EXPECT_EQ(table.size(), 0u);
}

TEST(SharedArray, SetChangesOneItem) {
  SharedArray<std::uint32_t> table = counting(3);
  table.set(1, 42);
  EXPECT_EQ(table[0], 0u);
  EXPECT_EQ(table[1], 42u);
  EXPECT_EQ(table[2], 2u);
}

TEST(SharedArray, ACopySharesMemoryUntilItIsMadePrivate) {
  const SharedArray<std::uint32_t> original = counting(20);
  SharedArray<std::uint32_t> copy = original;
  EXPECT_EQ(copy.items().data(), original.items().data());
  ASSERT_TRUE(copy.make_private().ok());
  EXPECT_NE(copy.items().data(), original.items().data());
  copy.set(0, 99);
  ASSERT_TRUE(copy.push(20).ok());
  EXPECT_EQ(original[0], 0u);
  EXPECT_EQ(original.size(), 20u);
  EXPECT_EQ(copy[0], 99u);
  EXPECT_EQ(copy[20], 20u);
}

TEST(SharedArray, MakingPrivateIsFreeWhenNobodyShares) {
  SharedArray<std::uint32_t> table = counting(20);
  const std::uint32_t* place = table.items().data();
  {
    const SharedArray<std::uint32_t> gone = table;
  }
  ASSERT_TRUE(table.make_private().ok());
  EXPECT_EQ(table.items().data(), place);
}

}  // namespace
}  // namespace andiron::detail
