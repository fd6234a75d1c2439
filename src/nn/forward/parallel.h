// SPDX-License-Identifier: MIT OR Apache-2.0
// Loops that are shared by the threads of a forward pass.
#pragma once

#include <cstddef>

namespace andiron::inline v1 {
namespace nn {

// Calls body(begin, end) for parts of [0, count), from several threads if there are at least
// `grain` for each. The body must not throw.
template <class Body>
void parallel_for(std::size_t count, std::size_t grain, const Body& body);

// How many threads are worth it.
unsigned threads_for(std::size_t count, std::size_t grain) noexcept;

template <class Body>
void parallel_for(std::size_t count, std::size_t grain, const Body& body) {
  const std::size_t parts = threads_for(count, grain);
  if (parts <= 1) {
    if (count > 0) body(std::size_t{0}, count);
    return;
  }
#pragma omp parallel for num_threads(static_cast<int>(parts)) schedule(static, 1)
  for (std::size_t part = 0; part < parts; ++part) {
    body(count * part / parts, count * (part + 1) / parts);
  }
}

// A grain for work on single elements: smaller loops cost less than waking a thread.
inline constexpr std::size_t element_grain = 16 * 1024;
// The number of rows that make up about as much work.
constexpr std::size_t row_grain(std::size_t row) {
  return element_grain / (row == 0 ? 1 : row) + 1;
}

// Makes oneDNN, which uses OpenMP, keep to nn::threads() while it lives, and get all of them: with
// fewer than it has divided its work for, it leaves parts of a product out.
class ThreadCap {
 public:
  ThreadCap() noexcept;
  ~ThreadCap();
  ThreadCap(const ThreadCap&) = delete;
  ThreadCap& operator=(const ThreadCap&) = delete;

 private:
  int threads_before_ = 0;
  int dynamic_before_ = 0;
};

}  // namespace nn
}  // namespace andiron::inline v1
