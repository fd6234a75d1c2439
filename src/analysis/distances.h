// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums over pairs of elements, from which distances are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "andiron/compare.h"
#include "andiron/dtype.h"
#include "src/analysis/scaled_sum.h"

namespace andiron::inline v1::detail {

// When elements are equal, and when they are close.
struct PairRules {
  double absolute_tolerance = 0;
  double relative_tolerance = 0;
  bool nan_equals_nan = true;
};

// What is known of some pairs. The sums are those of the pairs of which both sides are finite.
struct Distances {
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  std::uint64_t beyond = 0;
  std::uint64_t not_finite = 0;
  std::optional<std::uint64_t> first_beyond;
  double max_abs = 0;
  std::optional<std::uint64_t> max_abs_index;
  ScaledSum a_squares;
  ScaledSum b_squares;
  ScaledSum products;
  ScaledSum difference_squares;

  // Adds what is known of pairs that follow.
  void add(const Distances& later);
  Distance result() const;
};

// The sum of two doubles, which holds all integers of 64 bits.
struct WideNumber {
  double high = 0;
  double low = 0;
};

// Compares pieces; a worker has one.
class PairMeter {
 public:
  explicit PairMeter(const PairRules& rules) : rules_(rules) {}

  // Elements from `first` on. REQUIRES: at most piece_elements (stretches.h), both complex or both
  // not, of dtypes that read_numbers() takes (numbers.h).
  Distances measure(DType a_dtype, const std::byte* a, DType b_dtype, const std::byte* b,
                    std::size_t count, std::uint64_t first);

 private:
  PairRules rules_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<WideNumber> wide_a_;
  std::vector<WideNumber> wide_b_;
};

}  // namespace andiron::inline v1::detail
