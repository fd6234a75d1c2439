// SPDX-License-Identifier: MIT OR Apache-2.0
// A sum of doubles that keeps what rounding loses (Knuth's two-sum).
#pragma once

namespace andiron::inline v1::detail {

class CompensatedSum {
 public:
  void add(double number) {
    const double sum = high_ + number;
    const double rest = sum - high_;
    low_ += (high_ - (sum - rest)) + (number - rest);
    high_ = sum;
  }
  void add(const CompensatedSum& other) {
    add(other.high_);
    add(other.low_);
  }
  // By a power of two.
  void scale(double factor) {
    high_ *= factor;
    low_ *= factor;
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace andiron::inline v1::detail
