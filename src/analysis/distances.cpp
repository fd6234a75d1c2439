// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/distances_test.cpp
#include "src/analysis/distances.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "src/analysis/fold.h"
#include "src/analysis/moments.h"
#include "src/analysis/numbers.h"
#include "src/analysis/stretches.h"
#include "src/core/kernels/vector_clones.h"

namespace andiron::inline v1::detail {
namespace {

struct PairSums {
  double a_squares;
  double b_squares;
  double products;
  double difference_squares;

  // The squares are finite if all numbers are, unless they overflow.
  bool are_finite() const {
    return std::isfinite(a_squares) && std::isfinite(b_squares) &&
           std::isfinite(difference_squares);
  }
};

ANDIRON_VECTOR_CLONES("avx2")
PairSums sums_of_pairs(const double* a, const double* b, std::size_t count) {
  PairSums sums;
  sums.a_squares = fold_sum(count, [a](std::size_t i) { return a[i] * a[i]; });
  sums.b_squares = fold_sum(count, [b](std::size_t i) { return b[i] * b[i]; });
  sums.products = fold_sum(count, [a, b](std::size_t i) { return a[i] * b[i]; });
  sums.difference_squares = fold_sum(count, [a, b](std::size_t i) {
    const double difference = a[i] - b[i];
    return difference * difference;
  });
  return sums;
}

ANDIRON_VECTOR_CLONES("avx2")
double largest_magnitude(const double* numbers, std::size_t count) {
  return fold_max(count, 0, [numbers](std::size_t i) { return std::abs(numbers[i]); });
}

// Times 2^-exponent.
std::vector<double> scaled(std::vector<double> numbers, int exponent) {
  const double factor = std::ldexp(1.0, -exponent);
  for (double& number : numbers) number *= factor;
  return numbers;
}

struct PairCounts {
  std::uint64_t differing = 0;
  std::uint64_t beyond = 0;
  double max_abs = 0;
};

struct PairOfNumbers {
  bool differs;
  bool is_beyond;
  double distance;
};

bool is_beyond(double distance, double b_magnitude, const PairRules& rules) {
  return distance > rules.absolute_tolerance + rules.relative_tolerance * b_magnitude;
}

ANDIRON_VECTOR_CLONES("avx2")
PairCounts count_reals(const double* a, const double* b, std::size_t count,
                       const PairRules& rules) {
  PairCounts counts;
  counts.differing = static_cast<std::uint64_t>(fold_sum<std::int64_t>(
      count, [a, b](std::size_t i) -> std::int64_t { return a[i] != b[i]; }));
  if (counts.differing == 0) return counts;
  const auto distance = [a, b](std::size_t i) { return std::abs(a[i] - b[i]); };
  counts.beyond =
      static_cast<std::uint64_t>(fold_sum<std::int64_t>(count, [=](std::size_t i) -> std::int64_t {
        return is_beyond(distance(i), std::abs(b[i]), rules);
      }));
  counts.max_abs = fold_max(count, 0, distance);
  return counts;
}

template <class PairAt>
PairCounts count_pairs(std::size_t count, PairAt pair_at) {
  PairCounts counts;
  for (std::size_t i = 0; i < count; ++i) {
    const PairOfNumbers pair = pair_at(i);
    counts.differing += pair.differs;
    counts.beyond += pair.is_beyond;
    counts.max_abs = std::max(counts.max_abs, pair.distance);
  }
  return counts;
}

void take_earlier(std::optional<std::uint64_t>& index, std::uint64_t other) {
  index = index ? std::min(*index, other) : other;
}

// Adds the counts of a piece, and looks for the places.
template <class PairAt>
void add_counts(const PairCounts& counts, std::size_t count, std::uint64_t first, PairAt pair_at,
                Distances& distances) {
  distances.differing += counts.differing;
  distances.beyond += counts.beyond;
  if (counts.beyond != 0) {
    std::size_t at = 0;
    while (!pair_at(at).is_beyond) ++at;
    take_earlier(distances.first_beyond, first + at);
  }
  if (counts.differing != 0) {
    std::size_t at = 0;
    while (at < count && !(pair_at(at).differs && pair_at(at).distance == counts.max_abs)) ++at;
    distances.max_abs = counts.max_abs;
    distances.max_abs_index = first + at;
  }
}

bool is_all_finite(const double* parts, std::size_t count) {
  return std::all_of(parts, parts + count, [](double part) { return std::isfinite(part); });
}
bool is_any_nan(const double* parts, std::size_t count) {
  return std::any_of(parts, parts + count, [](double part) { return std::isnan(part); });
}

// In halves of 32 bits, each of which a double holds. Both have the sign of the number, so that
// small numbers have one part.
WideNumber wide_number(DType dtype, std::uint64_t bits) {
  const bool is_negative = dtype == DType::i64 && bits >> 63 != 0;
  if (is_negative) bits = 0 - bits;
  const std::uint64_t low = bits & 0xffff'ffff;
  const double sign = is_negative ? -1 : 1;
  return {sign * static_cast<double>(bits - low), sign * static_cast<double>(low)};
}

void read_wide(DType dtype, const std::byte* elements, std::span<const double> numbers,
               std::vector<WideNumber>& out) {
  out.clear();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!is_wide_integer(dtype)) {
      out.push_back({numbers[i], 0});
      continue;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, elements + i * sizeof bits, sizeof bits);
    out.push_back(wide_number(dtype, bits));
  }
}

// What the subtraction of the first parts loses is added with the rest: numbers that differ have a
// distance, and that of integers is rounded once.
double difference(const WideNumber& a, const WideNumber& b) {
  const double high = a.high - b.high;
  const double taken = high - a.high;
  const double lost = (a.high - (high - taken)) - (b.high + taken);
  return high + (lost + (a.low - b.low));
}

}  // namespace

Distances PairMeter::measure(DType a_dtype, const std::byte* a, DType b_dtype, const std::byte* b,
                             std::size_t count, std::uint64_t first) {
  const std::size_t parts = parts_of(a_dtype);
  const std::size_t numbers = parts * count;
  a_.resize(numbers);
  b_.resize(numbers);
  read_numbers(a_dtype, a, count, a_.data());
  read_numbers(b_dtype, b, count, b_.data());
  const bool is_wide = is_wide_integer(a_dtype) || is_wide_integer(b_dtype);
  if (is_wide) {
    read_wide(a_dtype, a, a_, wide_a_);
    read_wide(b_dtype, b, b_, wide_b_);
  }

  Distances distances;
  distances.elements = count;
  PairSums sums = sums_of_pairs(a_.data(), b_.data(), numbers);
  if (!sums.are_finite()) {
    // Pairs that cannot be subtracted are judged here and count as zeros from here on.
    for (std::size_t i = 0; i < count; ++i) {
      double* const left = &a_[parts * i];
      double* const right = &b_[parts * i];
      if (is_all_finite(left, parts) && is_all_finite(right, parts)) continue;
      const bool is_left_nan = is_any_nan(left, parts);
      const bool is_right_nan = is_any_nan(right, parts);
      const bool is_equal = is_left_nan || is_right_nan
                                ? rules_.nan_equals_nan && is_left_nan && is_right_nan
                                : std::equal(left, left + parts, right);
      if (!is_equal) {
        ++distances.differing;
        ++distances.beyond;
        ++distances.not_finite;
        take_earlier(distances.first_beyond, first + i);
      }
      std::fill(left, left + parts, 0);
      std::fill(right, right + parts, 0);
      if (is_wide) wide_a_[i] = wide_b_[i] = {};
    }
    sums = sums_of_pairs(a_.data(), b_.data(), numbers);
  }

  if (parts == 2) {
    const auto pair_at = [this](std::size_t i) -> PairOfNumbers {
      const double* const left = &a_[2 * i];
      const double* const right = &b_[2 * i];
      const double distance = std::hypot(left[0] - right[0], left[1] - right[1]);
      return {left[0] != right[0] || left[1] != right[1],
              is_beyond(distance, std::hypot(right[0], right[1]), rules_), distance};
    };
    add_counts(count_pairs(count, pair_at), count, first, pair_at, distances);
  } else if (is_wide) {
    const auto pair_at = [this](std::size_t i) -> PairOfNumbers {
      const double distance = std::abs(difference(wide_a_[i], wide_b_[i]));
      return {distance != 0, is_beyond(distance, std::abs(b_[i]), rules_), distance};
    };
    add_counts(count_pairs(count, pair_at), count, first, pair_at, distances);
  } else {
    const auto pair_at = [this](std::size_t i) -> PairOfNumbers {
      const double distance = std::abs(a_[i] - b_[i]);
      return {a_[i] != b_[i], is_beyond(distance, std::abs(b_[i]), rules_), distance};
    };
    add_counts(count_reals(a_.data(), b_.data(), count, rules_), count, first, pair_at, distances);
  }

  // Each side is measured on its own scale, and the difference on that of the larger one.
  const double a_largest = largest_magnitude(a_.data(), numbers);
  const double b_largest = largest_magnitude(b_.data(), numbers);
  const int a_exponent = exponent_for(a_largest);
  const int b_exponent = exponent_for(b_largest);
  const int exponent = exponent_for(std::max(a_largest, b_largest));
  if (a_exponent != 0 || b_exponent != 0) {
    sums = sums_of_pairs(scaled(a_, a_exponent).data(), scaled(b_, b_exponent).data(), numbers);
    sums.difference_squares =
        sums_of_pairs(scaled(a_, exponent).data(), scaled(b_, exponent).data(), numbers)
            .difference_squares;
  }
  distances.a_squares = {sums.a_squares, 2 * a_exponent};
  distances.b_squares = {sums.b_squares, 2 * b_exponent};
  distances.products = {sums.products, a_exponent + b_exponent};
  distances.difference_squares = {sums.difference_squares, 2 * exponent};
  return distances;
}

void Distances::add(const Distances& later) {
  elements += later.elements;
  differing += later.differing;
  beyond += later.beyond;
  not_finite += later.not_finite;
  if (!first_beyond) first_beyond = later.first_beyond;
  if (later.max_abs_index && (!max_abs_index || later.max_abs > max_abs)) {
    max_abs = later.max_abs;
    max_abs_index = later.max_abs_index;
  }
  a_squares.add(later.a_squares);
  b_squares.add(later.b_squares);
  products.add(later.products);
  difference_squares.add(later.difference_squares);
}

Distance Distances::result() const {
  Distance distance = {.elements = elements,
                       .differing = differing,
                       .beyond = beyond,
                       .not_finite = not_finite,
                       .first_beyond = first_beyond,
                       .max_abs = max_abs,
                       .max_abs_index = max_abs_index};
  const double a_norm = std::sqrt(a_squares.value());
  const double b_norm = std::sqrt(b_squares.value());
  const double difference_norm = std::sqrt(difference_squares.value());
  if (difference_norm != 0) {
    distance.relative_l2 = std::ldexp(difference_norm / a_norm,
                                      (difference_squares.exponent() - a_squares.exponent()) / 2);
  }
  const int exponent = products.exponent() - (a_squares.exponent() + b_squares.exponent()) / 2;
  const double cosine = std::ldexp(products.value() / a_norm / b_norm, exponent);
  distance.cosine = std::clamp(cosine, -1.0, 1.0);
  return distance;
}

}  // namespace andiron::inline v1::detail
