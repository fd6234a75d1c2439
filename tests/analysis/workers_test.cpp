// SPDX-License-Identifier: MIT OR Apache-2.0
// Tasks on several threads.
#include "src/analysis/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace andiron::test {
namespace {

using detail::run_tasks;
using detail::usable_threads;

Error failure(std::size_t task) {
  return Error{.code = ErrorCode::io, .message = "task " + std::to_string(task)};
}

TEST(Workers, RunEachTaskOnce) {
  for (const unsigned threads : {1u, 2u, 8u}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> runs(count);
      EXPECT_TRUE(run_tasks(count, threads, [&](std::size_t task, unsigned worker) -> Status {
        EXPECT_LT(worker, threads);
        ++runs[task];
        return {};
      }));
      for (const auto& run : runs) EXPECT_EQ(run, 1);
    }
  }
}

TEST(Workers, OneThreadIsTheCallingOneAndKeepsTheOrder) {
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::size_t> order;
  EXPECT_TRUE(run_tasks(5, 1, [&](std::size_t task, unsigned worker) -> Status {
    EXPECT_EQ(worker, 0U);
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(task);
    return {};
  }));
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(Workers, WorkerZeroIsTheCallingThreadAndAWorkerIsOneThread) {
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::vector<std::thread::id>> seen(4);
  EXPECT_TRUE(run_tasks(200, 4, [&](std::size_t, unsigned worker) -> Status {
    seen[worker].push_back(std::this_thread::get_id());
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    return {};
  }));
  for (const std::thread::id id : seen[0]) EXPECT_EQ(id, caller);
  for (const auto& ids : seen) {
    for (const std::thread::id id : ids) EXPECT_EQ(id, ids.front());
  }
}

TEST(Workers, TheErrorIsThatOfTheFirstTaskInOrder) {
  for (const unsigned threads : {1u, 2u, 8u}) {
    std::atomic<std::size_t> begun = 0;
    const Status status = run_tasks(10'000, threads, [&](std::size_t task, unsigned) -> Status {
      ++begun;
      // The first to fail is the last to say so.
      if (task == 7) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (task >= 7) return failure(task);
      return {};
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "task 7");
    EXPECT_LT(begun, 7 + 2 * threads);
  }
}

TEST(Workers, ExceptionsOfTasksPassThroughFromAnyThread) {
  for (const unsigned threads : {1u, 4u}) {
    EXPECT_THROW(static_cast<void>(run_tasks(100, threads,
                                             [](std::size_t task, unsigned) -> Status {
                                               if (task == 50)
                                                 throw std::runtime_error("the caller's own");
                                               return {};
                                             })),
                 std::runtime_error);
  }
}

TEST(Workers, WantOfMemoryIsAnErrorOnAnyThread) {
  for (const unsigned threads : {1u, 4u}) {
    const Status status =
        run_tasks(100, threads, [](std::size_t, unsigned) -> Status { throw std::bad_alloc(); });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::out_of_memory);
  }
}

TEST(Workers, ThereIsAlwaysAThreadAndNeverMoreThanAThousand) {
  EXPECT_GE(usable_threads(0), 1U);
  EXPECT_LE(usable_threads(0), 8U);
  EXPECT_EQ(usable_threads(3), 3U);
  EXPECT_EQ(usable_threads(1'000'000), 1024U);
}

}  // namespace
}  // namespace andiron::test
