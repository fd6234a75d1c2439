// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/memory_budget.h"

#include <gtest/gtest.h>

namespace andiron::detail {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

TEST(MemoryBudget, GrowsWithTheFileUpToABound) {
  EXPECT_EQ(MemoryBudget(0, {}, "f").most(), 16 * mib);
  EXPECT_EQ(MemoryBudget(mib, {}, "f").most(), 64 * mib);
  EXPECT_EQ(MemoryBudget(1000 * mib, {}, "f").most(), 4096 * mib);
  EXPECT_EQ(MemoryBudget(~std::uint64_t{0}, {}, "f").most(), 4096 * mib);
}

TEST(MemoryBudget, IsWhatTheCallerSays) {
  EXPECT_EQ(MemoryBudget(mib, {.memory_bytes = 100}, "f").most(), 100u);
  EXPECT_EQ(MemoryBudget(0, {.memory_bytes = 8192 * mib}, "f").most(), 8192 * mib);
}

TEST(MemoryBudget, RefusesWhatIsNotLeft) {
  MemoryBudget budget(0, {.memory_bytes = 100}, "model.pt");
  EXPECT_TRUE(budget.charge(60, "names"));
  EXPECT_TRUE(budget.charge(40, "names"));
  const Status refused = budget.charge(1, "values");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  EXPECT_EQ(refused.error().to_string(),
            "model.pt: the file asks for more memory than its size allows: 101 bytes, with values; "
            "expected at most 100; raise Limits::memory_bytes if you trust the file");
  EXPECT_FALSE(budget.charge(~std::uint64_t{0}, "values"));
}

TEST(MemoryBudget, GetsMoreWithEveryCompanion) {
  MemoryBudget budget(0, {}, "f");
  EXPECT_TRUE(budget.charge(16 * mib, "names"));
  EXPECT_FALSE(budget.charge(1, "names"));
  budget.add_file(mib);
  EXPECT_TRUE(budget.charge(48 * mib, "names"));
  EXPECT_FALSE(budget.charge(1, "names"));
}

TEST(MemoryBudget, BoundsTheDataOfAllTensors) {
  const Limits limits{.expanded_bytes_in_all = 100};
  MemoryBudget budget(0, limits, "f");
  EXPECT_TRUE(budget.charge_data(60, "a"));
  const Status refused = budget.charge_data(41, "b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().tensor, "b");
  EXPECT_EQ(refused.error().hint, "raise Limits::expanded_bytes_in_all if you trust the file");
  // Sixteen times what the files have, if that is more.
  budget.add_file(10);
  EXPECT_TRUE(budget.charge_data(100, "b"));
  EXPECT_FALSE(budget.charge_data(1, "c"));
  budget.add_data(10);
  EXPECT_TRUE(budget.charge_data(160, "c"));
  EXPECT_FALSE(budget.charge_data(~std::uint64_t{0}, "d"));
}

}  // namespace
}  // namespace andiron::detail
