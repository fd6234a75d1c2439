// SPDX-License-Identifier: MIT OR Apache-2.0
// The bins of a histogram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace andiron::inline v1::detail {

// Bins of equal width, as NumPy's histogram has them for doubles.
class Bins {
 public:
  // REQUIRES: low <= high, both finite; count > 0.
  Bins(double low, double high, std::size_t count);

  // Adds each number that is finite to the count of its bin. REQUIRES: finite numbers are in the
  // range; one count for each bin.
  void count(std::span<const double> numbers, std::span<std::uint64_t> counts) const noexcept;

 private:
  double unit_ = 1;  // of the edges: halves where the width of the range is beyond a double
  double per_width_ = 0;
  std::vector<double> edges_;  // one more than bins
};

}  // namespace andiron::inline v1::detail
