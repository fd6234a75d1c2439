// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums over numbers, from which statistics are made.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "src/analysis/scaled_sum.h"

namespace andiron::inline v1::detail {

// What is known of some numbers. Range and sums are those of the finite ones.
struct Moments {
  std::uint64_t finite = 0;
  std::uint64_t zeros = 0;
  std::uint64_t nans = 0;
  std::uint64_t positive_infinities = 0;
  std::uint64_t negative_infinities = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  ScaledSum sum;
  ScaledSum squares;  // of the distances from the mean

  // Adds what is known of numbers that follow. Another order may give other last digits.
  void add(const Moments& later);

  // Of the finite numbers. REQUIRES: there are some.
  double mean() const;
  double standard_deviation() const;
  // 0 if there are none. Infinite only if it is beyond the largest double.
  double l2() const;
};

// REQUIRES: at most piece_elements numbers (stretches.h), which are overwritten.
Moments moments_of(std::span<double> numbers);

// A power of two for numbers whose squares would overflow or vanish, of which `largest` is the
// largest magnitude; 0 for all others.
int exponent_for(double largest) noexcept;

}  // namespace andiron::inline v1::detail
