// SPDX-License-Identifier: MIT OR Apache-2.0
// The mean of a piece is known before the squares of distances from it are summed up; pieces are
// joined with the formulas of Chan, Golub and LeVeque. Tested by tests/analysis/moments_test.cpp
#include "src/analysis/moments.h"

#include <algorithm>
#include <cmath>

#include "src/analysis/fold.h"
#include "src/core/kernels/vector_clones.h"

namespace andiron::inline v1::detail {
namespace {

// Of finite numbers.
struct Sums {
  double min;
  double max;
  double sum;
  double squares;  // of the distances from the mean
  std::int64_t zeros;

  bool are_finite() const { return std::isfinite(sum) && std::isfinite(squares); }
  double largest() const { return std::max(std::abs(min), std::abs(max)); }
};

ANDIRON_VECTOR_CLONES("avx2")
Sums sums_of(const double* numbers, std::size_t count) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto number = [numbers](std::size_t i) { return numbers[i]; };
  Sums sums;
  sums.min = fold_min(count, infinity, number);
  sums.max = fold_max(count, -infinity, number);
  sums.sum = fold_sum(count, number);
  sums.zeros = fold_sum<std::int64_t>(
      count, [numbers](std::size_t i) -> std::int64_t { return numbers[i] == 0; });
  const double mean = sums.sum / static_cast<double>(count);
  sums.squares = fold_sum(count, [numbers, mean](std::size_t i) {
    const double distance = numbers[i] - mean;
    return distance * distance;
  });
  return sums;
}

// Counts what is not finite, and moves the rest to the front. Returns how many that are.
std::size_t keep_finite(std::span<double> numbers, Moments& moments) {
  std::size_t kept = 0;
  for (const double number : numbers) {
    if (std::isnan(number)) {
      ++moments.nans;
    } else if (std::isinf(number)) {
      ++(number > 0 ? moments.positive_infinities : moments.negative_infinities);
    } else {
      numbers[kept++] = number;
    }
  }
  return kept;
}

}  // namespace

int exponent_for(double largest) noexcept {
  if (largest > 0x1p400) return 600;
  return largest > 0 && largest < 0x1p-400 ? -600 : 0;
}

Moments moments_of(std::span<double> numbers) {
  Moments moments;
  moments.finite = numbers.size();
  if (numbers.empty()) return moments;
  Sums sums = sums_of(numbers.data(), numbers.size());
  // A sum is finite if all numbers are, unless it overflows.
  if (!sums.are_finite()) {
    moments.finite = keep_finite(numbers, moments);
    if (moments.finite == 0) return moments;
    numbers = numbers.first(static_cast<std::size_t>(moments.finite));
    sums = sums_of(numbers.data(), numbers.size());
  }
  moments.zeros = static_cast<std::uint64_t>(sums.zeros);
  // Negative zero as zero.
  moments.min = sums.min + 0.0;
  moments.max = sums.max + 0.0;
  const int exponent = exponent_for(sums.largest());
  if (exponent != 0) {
    const double factor = std::ldexp(1.0, -exponent);
    for (double& number : numbers) number *= factor;
    sums = sums_of(numbers.data(), numbers.size());
  }
  moments.sum = {sums.sum, exponent};
  moments.squares = {sums.squares, 2 * exponent};
  return moments;
}

void Moments::add(const Moments& later) {
  if (finite != 0 && later.finite != 0) {
    const auto count = static_cast<double>(finite);
    const auto later_count = static_cast<double>(later.finite);
    ScaledSum distance(later.sum.value() / later_count, later.sum.exponent());
    distance.add({-sum.value() / count, sum.exponent()});
    const double square = distance.value() * distance.value();
    squares.add({square * (count / (count + later_count)) * later_count, 2 * distance.exponent()});
  }
  sum.add(later.sum);
  squares.add(later.squares);
  finite += later.finite;
  zeros += later.zeros;
  nans += later.nans;
  positive_infinities += later.positive_infinities;
  negative_infinities += later.negative_infinities;
  min = std::min(min, later.min);
  max = std::max(max, later.max);
}

double Moments::mean() const {
  if (min == max) return min;
  const double mean = sum.value() / static_cast<double>(finite);
  return std::clamp(std::ldexp(mean, sum.exponent()), min, max);
}

double Moments::standard_deviation() const {
  if (min == max) return 0;
  const double mean_square = squares.value() / static_cast<double>(finite);
  return std::ldexp(std::sqrt(mean_square), squares.exponent() / 2);
}

double Moments::l2() const {
  if (finite == 0) return 0;
  // All squares are those of the distances from the mean, and that of the mean for each number.
  ScaledSum all = squares;
  all.add({sum.value() / static_cast<double>(finite) * sum.value(), 2 * sum.exponent()});
  return std::ldexp(std::sqrt(all.value()), all.exponent() / 2);
}

}  // namespace andiron::inline v1::detail
