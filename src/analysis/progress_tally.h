// SPDX-License-Identifier: MIT OR Apache-2.0
// Progress of work that several threads share.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "andiron/error.h"
#include "andiron/progress.h"

namespace andiron::inline v1::detail {

// Counts the bytes that all workers read; the caller hears of them on its own thread.
class ProgressTally {
 public:
  // `work` is what a caller cancels: "statistics".
  ProgressTally(const Progress& progress, std::string work)
      : progress_(progress), work_(std::move(work)) {}

  // Adds to the total, while no worker runs.
  void expect(std::uint64_t bytes) { total_ += bytes; }

  // After each window, on the thread of that worker. Fails with Cancelled if the caller wants no
  // more.
  Status add(std::uint64_t bytes, unsigned worker) {
    const std::uint64_t done = done_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (worker == 0) report(done);
    return status();
  }

  // When all workers are done: the caller has not heard of what the others read last.
  Status finish() {
    if (told_ != done_) report(done_);
    return status();
  }

 private:
  void report(std::uint64_t done) {
    told_ = done;
    if (progress_ && !progress_(done, total_)) is_cancelled_ = true;
  }
  Status status() const {
    if (!is_cancelled_) return {};
    return Error{.code = ErrorCode::cancelled,
                 .message = "the progress callback cancelled the " + work_};
  }

  const Progress& progress_;
  const std::string work_;
  std::uint64_t total_ = 0;
  std::uint64_t told_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<bool> is_cancelled_ = false;
};

}  // namespace andiron::inline v1::detail
