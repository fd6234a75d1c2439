// SPDX-License-Identifier: MIT OR Apache-2.0
// Who reads compressed data waits for memory.
#include "src/analysis/reading_turns.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using detail::CompressedInputs;
using detail::ReadingTurns;

// Records of 40 bytes, of which 100 may be in memory.
class ReadingTurnsTest : public ::testing::Test {
 protected:
  CompressedData data(std::size_t record) const { return {&records_[record], 40, 100}; }

  std::array<TestSource, 5> records_ = {TestSource("0"), TestSource("1"), TestSource("2"),
                                        TestSource("3"), TestSource("4")};
  ReadingTurns turns_;
};

TEST_F(ReadingTurnsTest, AreHadAtOnceByThoseThatFit) {
  const CompressedInputs first = {data(0)};
  const CompressedInputs second = {data(1)};
  const CompressedInputs second_and_first = {data(1), data(0)};
  const CompressedInputs none = {};
  const ReadingTurns::Turn a(turns_, first);
  const ReadingTurns::Turn b(turns_, second);
  const ReadingTurns::Turn again(turns_, first);
  const ReadingTurns::Turn both(turns_, second_and_first);
  const ReadingTurns::Turn plain(turns_, none);
}

TEST_F(ReadingTurnsTest, AreHadAloneByWhatIsLargerThanAllowed) {
  const CompressedInputs large = {CompressedData{&records_[0], 1000, 100}, data(1)};
  for (int i = 0; i < 2; ++i) const ReadingTurns::Turn turn(turns_, large);
}

TEST_F(ReadingTurnsTest, KeepTheMemoryBoundOnAllThreads) {
  std::vector<CompressedInputs> work;
  for (std::size_t i = 0; i < 5; ++i) {
    work.push_back({data(i)});
    work.push_back({data(i), data((i + 1) % 5)});
  }
  std::array<std::atomic<int>, 5> readers{};
  std::atomic<int> faults = 0;
  const auto record_of = [&](const CompressedData& one) {
    return static_cast<const TestSource*>(one.source) - records_.data();
  };
  const auto read = [&](std::size_t step) {
    for (std::size_t i = 0; i < 2000; ++i) {
      const CompressedInputs& inputs = work[i * step % work.size()];
      const ReadingTurns::Turn turn(turns_, inputs);
      for (const CompressedData& one : inputs) {
        if (one.source != nullptr) ++readers[static_cast<std::size_t>(record_of(one))];
      }
      int in_memory = 0;
      for (const std::atomic<int>& count : readers) in_memory += count != 0;
      if (in_memory > 2) ++faults;
      for (const CompressedData& one : inputs) {
        if (one.source != nullptr) --readers[static_cast<std::size_t>(record_of(one))];
      }
    }
  };
  std::vector<std::thread> threads;
  for (const std::size_t step : {1, 3, 7, 9}) threads.emplace_back(read, step);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(faults, 0);
}

}  // namespace
}  // namespace andiron::test
