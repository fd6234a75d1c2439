// SPDX-License-Identifier: MIT OR Apache-2.0
// Locks for what several threads share. Where there are no threads (ANDIRON_NO_THREADS), as in
// WebAssembly, they do nothing.
#pragma once

#if defined(__wasi__) && !defined(_REENTRANT)
#define ANDIRON_NO_THREADS
#endif

#if defined(ANDIRON_NO_THREADS)

// A variable of each thread.
#define ANDIRON_THREAD_LOCAL static

namespace andiron::inline v1::detail {

struct Mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

class [[nodiscard]] Lock {
 public:
  explicit Lock(Mutex&) noexcept {}
  void unlock() noexcept {}
};

struct Condition {
  // REQUIRES: the condition holds. Nobody else could make it true.
  template <class Holds>
  void wait(Lock&, const Holds&) noexcept {}
  void notify_all() noexcept {}
};

}  // namespace andiron::inline v1::detail

#else

#include <condition_variable>
#include <mutex>

#define ANDIRON_THREAD_LOCAL thread_local

namespace andiron::inline v1::detail {

using Mutex = std::mutex;
// Until the end of its scope, or unlock().
using Lock = std::unique_lock<std::mutex>;
using Condition = std::condition_variable;

}  // namespace andiron::inline v1::detail

#endif
