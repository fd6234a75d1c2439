// SPDX-License-Identifier: MIT OR Apache-2.0
// How work on tensors is divided. The parts depend on the tensors alone, not on threads or memory,
// so the results do not depend on these either, to the last bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace andiron::inline v1::detail {

// Elements that are summed up together. A piece of any dtype has whole bytes, at most 64 KiB.
inline constexpr std::size_t piece_elements = 4096;
inline constexpr std::uint64_t most_piece_bytes = 64 * 1024;

// What one worker does at a time: elements of one of several tensors.
struct Stretch {
  std::size_t item = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// Appends the stretches of a tensor. There are at most about a thousand, so that what is kept for
// each does not grow with the tensor.
inline void append_stretches(std::vector<Stretch>& stretches, std::size_t item,
                             std::uint64_t count) {
  constexpr std::uint64_t least = std::uint64_t{1} << 21;
  constexpr std::uint64_t most_stretches = 1024;
  const std::uint64_t pieces = count / most_stretches / piece_elements + 1;
  const std::uint64_t step = std::max(least, pieces * piece_elements);
  for (std::uint64_t first = 0; first < count; first += std::min(step, count - first)) {
    stretches.push_back({item, first, std::min(step, count - first)});
  }
}

}  // namespace andiron::inline v1::detail
