// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/threads_test.cpp
#include "src/nn/forward/parallel.h"

#include <algorithm>
#include <atomic>

#include "andiron/nn/threads.h"

// The compiler may know OpenMP's directives and lack its functions.
#if defined(_OPENMP) && __has_include(<omp.h>)
#include <omp.h>
#define ANDIRON_HAVE_OPENMP
#elif defined(ANDIRON_HAVE_ONEDNN)
// oneDNN brings them along, unless it was built without OpenMP.
extern "C" {
[[gnu::weak]] int omp_in_parallel() noexcept;
[[gnu::weak]] int omp_get_max_threads() noexcept;
[[gnu::weak]] int omp_get_thread_limit() noexcept;
[[gnu::weak]] int omp_get_max_active_levels() noexcept;
[[gnu::weak]] int omp_get_dynamic() noexcept;
[[gnu::weak]] void omp_set_dynamic(int wanted) noexcept;
[[gnu::weak]] void omp_set_num_threads(int count) noexcept;
}
#define ANDIRON_HAVE_OPENMP
#define ANDIRON_OPENMP_IS_WEAK
#endif

namespace andiron::inline v1 {
namespace nn {
namespace {

std::atomic<unsigned> wanted_threads = 0;

#ifdef ANDIRON_HAVE_OPENMP
#ifdef ANDIRON_OPENMP_IS_WEAK
const bool has_openmp = omp_in_parallel != nullptr;
#else
constexpr bool has_openmp = true;
#endif

// What OpenMP takes when the program starts: the cores that the process may use, or
// OMP_NUM_THREADS. Later, a thread may have set a number of its own.
const int usual_threads = has_openmp ? omp_get_max_threads() : 1;
#endif

}  // namespace

void set_threads(unsigned count) noexcept {
  // OpenMP runs out of stack with very many.
  constexpr unsigned most = 1024;
  wanted_threads = std::min(count, most);
}

unsigned threads() noexcept {
#ifdef ANDIRON_HAVE_OPENMP
  // Within a parallel loop of the caller, its threads are what there is.
  if (!has_openmp || omp_in_parallel() != 0 || omp_get_max_active_levels() < 1) return 1;
  const unsigned wanted = wanted_threads;
  const int count = wanted == 0 ? usual_threads : static_cast<int>(wanted);
  return static_cast<unsigned>(std::max(1, std::min(count, omp_get_thread_limit())));
#else
  return 1;
#endif
}

unsigned threads_for(std::size_t count, std::size_t grain) noexcept {
  const std::size_t parts = count / std::max<std::size_t>(grain, 1);
  return static_cast<unsigned>(std::clamp<std::size_t>(parts, 1, threads()));
}

ThreadCap::ThreadCap() noexcept {
#ifdef ANDIRON_HAVE_OPENMP
  if (!has_openmp) return;
  threads_before_ = omp_get_max_threads();
  dynamic_before_ = omp_get_dynamic();
  omp_set_num_threads(static_cast<int>(threads()));
  omp_set_dynamic(0);
#else
  // clang warns of members that nothing uses.
  static_cast<void>(threads_before_);
  static_cast<void>(dynamic_before_);
#endif
}

ThreadCap::~ThreadCap() {
#ifdef ANDIRON_HAVE_OPENMP
  if (!has_openmp) return;
  omp_set_num_threads(threads_before_);
  omp_set_dynamic(dynamic_before_);
#endif
}

}  // namespace nn
}  // namespace andiron::inline v1
