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
#endif

namespace andiron::inline v1 {
namespace nn {
namespace {

std::atomic<unsigned> wanted_threads = 0;

#ifdef ANDIRON_HAVE_OPENMP
// What OpenMP takes when the program starts: the cores that the process may use, or
// OMP_NUM_THREADS. Later, a thread may have set a number of its own.
const int usual_threads = omp_get_max_threads();
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
  if (omp_in_parallel() != 0) return 1;
  const unsigned wanted = wanted_threads;
  return wanted == 0 ? static_cast<unsigned>(std::max(1, usual_threads)) : wanted;
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
  before_ = omp_get_max_threads();
  omp_set_num_threads(static_cast<int>(threads()));
#else
  static_cast<void>(before_);  // clang warns of members that nothing uses
#endif
}

ThreadCap::~ThreadCap() {
#ifdef ANDIRON_HAVE_OPENMP
  omp_set_num_threads(before_);
#endif
}

}  // namespace nn
}  // namespace andiron::inline v1
