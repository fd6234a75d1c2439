// SPDX-License-Identifier: MIT OR Apache-2.0
// What a zip reader keeps of inflated entries.
#include "src/codec/zip/contents.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace andiron::detail {
namespace {

// Contents of 100 bytes that know how many of them there are.
class ContentsTest : public ::testing::Test {
 protected:
  Bytes content() {
    int now = ++live_;
    int seen = most_live_;
    while (now > seen && !most_live_.compare_exchange_weak(seen, now)) {
    }
    return Bytes::share(std::shared_ptr<const void>(nullptr, [this](const void*) { --live_; }),
                        std::as_bytes(std::span(data_)));
  }
  // Whether the entry had to be inflated.
  bool use(std::uint32_t entry, std::uint64_t most) {
    std::optional<InflatedContents::Use> found = contents_.find(entry);
    const bool inflates = !found;
    if (inflates) {
      found.emplace(contents_.make_room(entry, 150, most));
      contents_.keep(*found, content(), false, 0);
    }
    EXPECT_EQ(found->content().size(), 100U);
    return inflates;
  }

  const std::string data_ = std::string(100, 'x');
  std::atomic<int> live_ = 0;
  std::atomic<int> most_live_ = 0;
  InflatedContents contents_;
};

TEST_F(ContentsTest, AreKeptWhileThereIsRoom) {
  EXPECT_TRUE(use(1, 400));
  EXPECT_TRUE(use(2, 400));
  EXPECT_FALSE(use(1, 400));
  EXPECT_TRUE(use(3, 400));  // 150 while it is inflated
  EXPECT_FALSE(use(1, 400));
  EXPECT_TRUE(use(4, 400));
  EXPECT_TRUE(use(2, 400)) << "was used longest ago";
}

TEST_F(ContentsTest, MakeRoomForOneThatIsLargerThanAllowed) {
  for (const std::uint32_t entry : {1U, 2U, 1U}) EXPECT_TRUE(use(entry, 10));
  EXPECT_EQ(most_live_, 1);
}

TEST_F(ContentsTest, StayWhileTheyAreUsed) {
  EXPECT_TRUE(use(1, 300));
  {
    const auto held = contents_.find(1);
    EXPECT_TRUE(use(2, 300));
    EXPECT_TRUE(use(3, 300));
    EXPECT_FALSE(use(1, 300));
  }
}

TEST_F(ContentsTest, ThatCouldNotBeInflatedTakeNoRoom) {
  for (int i = 0; i < 3; ++i) {
    const InflatedContents::Use failed = contents_.make_room(7, 150, 200);
    EXPECT_FALSE(contents_.find(7));
  }
  EXPECT_TRUE(use(1, 250));
  EXPECT_TRUE(use(2, 250));
  EXPECT_FALSE(use(1, 250));
}

TEST_F(ContentsTest, OfAllThreadsStayWithinWhatIsAllowed) {
  std::vector<std::thread> threads;
  for (const std::uint32_t step : {1U, 3U, 5U, 7U}) {
    threads.emplace_back([this, step] {
      for (std::uint32_t i = 0; i < 2000; ++i) use(i * step % 11, 350);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most_live_, 3);
}

}  // namespace
}  // namespace andiron::detail
