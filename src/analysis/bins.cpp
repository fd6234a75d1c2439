// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/bins_test.cpp
#include "src/analysis/bins.h"

#include <algorithm>
#include <cmath>

namespace andiron::inline v1::detail {

Bins::Bins(double low, double high, std::size_t count) : edges_(count + 1) {
  if (!std::isfinite(high - low)) unit_ = 0.5;
  low *= unit_;
  high *= unit_;
  const double width = (high - low) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) edges_[i] = low + static_cast<double>(i) * width;
  edges_[count] = high;
  // All in the first bin if there is but one number.
  if (low == high) std::fill(edges_.begin() + 1, edges_.end(), HUGE_VAL);
  const double per_width = static_cast<double>(count) / (high - low);
  if (std::isfinite(per_width)) per_width_ = per_width;
}

void Bins::count(std::span<const double> numbers, std::span<std::uint64_t> counts) const noexcept {
  const std::size_t last = counts.size() - 1;
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    const double place = number * unit_;
    std::size_t bin = std::min(static_cast<std::size_t>((place - edges_[0]) * per_width_), last);
    // The edges decide: the multiplication may have rounded to a neighbor, or edges may be equal.
    const bool is_in_bin =
        (bin == 0 || place >= edges_[bin]) && (bin == last || place < edges_[bin + 1]);
    if (!is_in_bin) {
      const auto inner = edges_.begin() + 1;
      const auto end = edges_.end() - 1;
      bin = static_cast<std::size_t>(std::upper_bound(inner, end, place) - inner);
    }
    ++counts[bin];
  }
}

}  // namespace andiron::inline v1::detail
