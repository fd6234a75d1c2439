// SPDX-License-Identifier: MIT OR Apache-2.0
// A sum of doubles whose terms may be beyond the range of a double.
#pragma once

#include <algorithm>
#include <cmath>

#include "src/analysis/compensated_sum.h"

namespace andiron::inline v1::detail {

// value() * 2^exponent().
class ScaledSum {
 public:
  ScaledSum() = default;
  ScaledSum(double sum, int exponent) : exponent_(exponent) { sum_.add(sum); }

  void add(ScaledSum other) {
    // Zero has any exponent. Otherwise, what is smaller gives way.
    if (other.value() == 0) return;
    if (value() == 0) exponent_ = other.exponent_;
    const int common = std::max(exponent_, other.exponent_);
    sum_.scale(std::ldexp(1.0, exponent_ - common));
    other.sum_.scale(std::ldexp(1.0, other.exponent_ - common));
    exponent_ = common;
    sum_.add(other.sum_);
  }
  double value() const { return sum_.value(); }
  int exponent() const { return exponent_; }

 private:
  CompensatedSum sum_;
  int exponent_ = 0;
};

}  // namespace andiron::inline v1::detail
