// SPDX-License-Identifier: MIT OR Apache-2.0
// Softmax of one line.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "src/nn/forward/vector_math.h"

namespace andiron::inline v1 {
namespace nn {

enum class SoftmaxKind : std::uint8_t { plain, log, quiet };

// One line of elements that follow each other; `in` and `out` may be the same, but not for log.
template <class T>
void softmax_line(SoftmaxKind kind, const T* in, T* out, std::size_t count) {
  const T most = largest(in, count);
  if (kind == SoftmaxKind::log) {
    // The sum alone is wanted: what is written is replaced.
    const T log_sum = std::log(exp_all(in, out, count, most));
    for (std::size_t i = 0; i < count; ++i) out[i] = in[i] - most - log_sum;
    return;
  }
  T sum = exp_all(in, out, count, most);
  if (kind == SoftmaxKind::quiet) sum += std::exp(-most);
  const T factor = 1 / sum;
  for (std::size_t i = 0; i < count; ++i) out[i] *= factor;
}

}  // namespace nn
}  // namespace andiron::inline v1
