// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/core/huge_page_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "andiron/bytes.h"

namespace andiron::detail {
namespace {

constexpr std::size_t page = Bytes::huge_page_bytes;

TEST(LargeBlocks, AreAlignedToHugePagesAndWritable) {
  for (std::size_t size : {page, page + 1, 3 * page - 1}) {
    void* block = take_large_block(size);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % page, 0u);
    std::memset(block, 1, size);
    give_large_block(block, size);
  }
}

TEST(LargeBlocks, InUseAreNeverTheSame) {
  std::vector<void*> blocks;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50; ++i) {
      void* block = take_large_block(page);
      ASSERT_NE(block, nullptr);
      for (void* other : blocks) ASSERT_NE(block, other);
      blocks.push_back(block);
    }
    for (void* block : blocks) give_large_block(block, page);
    blocks.clear();
  }
}

TEST(LargeBlocks, OfTheWantedSizeAreKeptWhenOthersAreFreed) {
  std::vector<void*> blocks;
  for (const std::size_t pages : {3, 5, 5, 7}) {
    blocks.push_back(take_large_block(pages * page));
    ASSERT_NE(blocks.back(), nullptr);
  }
  std::size_t i = 0;
  for (const std::size_t pages : {3, 5, 5, 7}) give_large_block(blocks[i++], pages * page);
  free_kept_blocks(5 * page - 1);
  void* const block = take_large_block(5 * page - 1);
  ASSERT_NE(block, nullptr);
  std::memset(block, 1, 5 * page);
  give_large_block(block, 5 * page - 1);
  for (int again = 0; again < 2; ++again) free_kept_blocks(page);
  void* const fresh = take_large_block(7 * page);
  ASSERT_NE(fresh, nullptr);
  std::memset(fresh, 1, 7 * page);
  give_large_block(fresh, 7 * page);
}

TEST(LargeBlocks, AnIndexOfSomeSizeTakesAHugePageAtLeast) {
  EXPECT_EQ(index_block_bytes(0), 0u);
  EXPECT_EQ(index_block_bytes(page / 8), page / 8);
  EXPECT_EQ(index_block_bytes(page / 8 + 1), page);
  EXPECT_EQ(index_block_bytes(page), page);
  EXPECT_EQ(index_block_bytes(page + 1), page + 1);
}

TEST(LargeBlocks, GoRoundBetweenThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const std::size_t size = page + static_cast<std::size_t>((t + i) % 3) * page;
        auto* block = static_cast<unsigned char*>(take_large_block(size));
        ASSERT_NE(block, nullptr);
        block[0] = static_cast<unsigned char>(t);
        block[size - 1] = static_cast<unsigned char>(i);
        ASSERT_EQ(block[0], t);
        ASSERT_EQ(block[size - 1], i % 256);
        give_large_block(block, size);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace andiron::detail
