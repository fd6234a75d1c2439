// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/workers_test.cpp
#include "src/analysis/workers.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>
#include <vector>

#include "src/core/lock.h"
#include "src/core/try.h"

#if !defined(ANDIRON_NO_THREADS)
#include <thread>
#endif

namespace andiron::inline v1::detail {
namespace {

class TaskRun {
 public:
  TaskRun(std::size_t count, unsigned workers, const Task& task)
      : task_(task), end_(count), failures_(workers) {}

  // Does what is left to do.
  void work(unsigned worker) noexcept {
    for (;;) {
      const std::size_t task = next_.fetch_add(1);
      if (task >= end_) return;
      Failure& failure = failures_[worker];
#if defined(__cpp_exceptions)
      try {
        failure.status = run(task, worker);
      } catch (...) {
        failure.thrown = std::current_exception();
      }
#else
      failure.status = run(task, worker);
#endif
      if (failure.status && failure.thrown == nullptr) continue;
      failure.task = task;
      std::size_t end = end_;
      while (task < end && !end_.compare_exchange_weak(end, task)) {
      }
      return;
    }
  }

  // After all work has ended.
  Status outcome() {
    const auto first =
        std::min_element(failures_.begin(), failures_.end(),
                         [](const Failure& a, const Failure& b) { return a.task < b.task; });
#if defined(__cpp_exceptions)
    if (first->thrown != nullptr) std::rethrow_exception(first->thrown);
#endif
    return std::move(first->status);
  }

 private:
  // The only one of a worker, which then stops.
  struct Failure {
    std::size_t task = ~std::size_t{0};
    Status status;
    std::exception_ptr thrown;
  };

  Status run(std::size_t task, unsigned worker) ANDIRON_NO_THROW { return task_(task, worker); }
  ANDIRON_OR_OUT_OF_MEMORY

  const Task& task_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> end_;  // what is behind it is not wanted: the first failure
  std::vector<Failure> failures_;
};

#if !defined(ANDIRON_NO_THREADS)

// False if the system has no thread to give.
template <class Work>
bool start_thread(std::vector<std::thread>& threads, Work work) {
#if defined(__cpp_exceptions)
  try {
    threads.emplace_back(work);
  } catch (const std::exception&) {
    return false;
  }
#else
  threads.emplace_back(work);
#endif
  return true;
}

#endif

}  // namespace

unsigned usable_threads([[maybe_unused]] unsigned wanted) noexcept {
#if defined(ANDIRON_NO_THREADS)
  return 1;
#else
  constexpr unsigned most = 1024;
  constexpr unsigned most_by_default = 8;
  if (wanted != 0) return std::min(wanted, most);
  return std::clamp(std::thread::hardware_concurrency(), 1u, most_by_default);
#endif
}

Status run_tasks(std::size_t count, unsigned threads, const Task& task) {
  threads = static_cast<unsigned>(std::clamp<std::size_t>(count, 1, usable_threads(threads)));
  TaskRun run(count, threads, task);
#if !defined(ANDIRON_NO_THREADS)
  std::vector<std::thread> helpers;
  helpers.reserve(threads - 1);
  // With fewer threads than wanted, those that there are do the work.
  for (unsigned worker = 1; worker < threads; ++worker) {
    if (!start_thread(helpers, [&run, worker] { run.work(worker); })) break;
  }
#endif
  run.work(0);
#if !defined(ANDIRON_NO_THREADS)
  for (std::thread& helper : helpers) helper.join();
#endif
  return run.outcome();
}

}  // namespace andiron::inline v1::detail
