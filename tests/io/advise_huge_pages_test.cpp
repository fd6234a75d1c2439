// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of src/io/advise_huge_pages.cpp.
#include "src/core/advise_huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <vector>

#include "andiron/bytes.h"
#include "src/io/system_calls.h"

namespace andiron {
namespace {

constexpr std::size_t page = Bytes::huge_page_bytes;

struct Advice {
  std::uintptr_t begin;
  std::size_t size;
};
std::vector<Advice> advices;

class Pages : public ::testing::Test {
 protected:
  void SetUp() override {
    advices.clear();
    system_calls().advise_huge_pages = [](void* begin, std::size_t size) {
      advices.push_back({reinterpret_cast<std::uintptr_t>(begin), size});
      errno = EINVAL;
      return -1;
    };
  }
  void TearDown() override { system_calls() = saved_; }
  // Only the address counts: the advice is caught before it reaches the system.
  static void* address(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

 private:
  System saved_ = system_calls();
};

TEST_F(Pages, AdviseTheAlignedInterior) {
  advise_huge_pages(address(5 * page - 100), 3 * page);
  ASSERT_EQ(advices.size(), 1u);
  EXPECT_EQ(advices[0].begin, 5 * page);
  EXPECT_EQ(advices[0].size, 2 * page);
}

TEST_F(Pages, AdviseAllOfAnAlignedRange) {
  advise_huge_pages(address(4 * page), 2 * page);
  ASSERT_EQ(advices.size(), 1u);
  EXPECT_EQ(advices[0].begin, 4 * page);
  EXPECT_EQ(advices[0].size, 2 * page);
}

TEST_F(Pages, AskNothingForRangesWithoutAWholePage) {
  advise_huge_pages(address(4 * page), page - 1);
  advise_huge_pages(address(4 * page + 1), 2 * page - 2);
  advise_huge_pages(address(4 * page + 1), 0);
  advise_huge_pages(nullptr, 0);
  EXPECT_TRUE(advices.empty());
}

}  // namespace
}  // namespace andiron
