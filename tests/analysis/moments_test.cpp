// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums of numbers, against exact ones.
#include "src/analysis/moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "src/analysis/stretches.h"
#include "tests/analysis/extreme_doubles.h"

namespace andiron::test {
namespace {

using detail::Moments;

// Of all numbers, piece by piece, as statistics() adds them up.
Moments moments(std::vector<double> numbers, std::size_t piece = detail::piece_elements) {
  Moments all;
  for (std::size_t at = 0; at < numbers.size(); at += piece) {
    all.add(
        detail::moments_of(std::span(numbers).subspan(at, std::min(piece, numbers.size() - at))));
  }
  return all;
}

// The definitions, in the widest arithmetic there is.
struct Exact {
  explicit Exact(const std::vector<double>& numbers) {
    const auto count = static_cast<long double>(numbers.size());
    long double sum = 0;
    long double squares = 0;
    for (const double number : numbers) {
      sum += number;
      squares += static_cast<long double>(number) * number;
    }
    mean = sum / count;
    long double distances = 0;
    for (const double number : numbers) distances += (number - mean) * (number - mean);
    deviation = std::sqrt(distances / count);
    l2 = std::sqrt(squares);
  }
  long double mean;
  long double deviation;
  long double l2;
};

void expect_exact(const std::vector<double>& numbers, std::size_t piece = detail::piece_elements) {
  const Exact exact(numbers);
  const Moments found = moments(numbers, piece);
  double magnitude = 0;
  for (const double number : numbers) magnitude = std::max(magnitude, std::abs(number));
  EXPECT_NEAR(found.mean(), static_cast<double>(exact.mean), 1e-14 * magnitude);
  EXPECT_NEAR(found.standard_deviation(), static_cast<double>(exact.deviation), 1e-14 * magnitude);
  EXPECT_NEAR(found.l2() / static_cast<double>(exact.l2), 1, 1e-14);
  EXPECT_EQ(found.min, *std::min_element(numbers.begin(), numbers.end()));
  EXPECT_EQ(found.max, *std::max_element(numbers.begin(), numbers.end()));
  EXPECT_EQ(found.finite, numbers.size());
}

std::vector<double> normal(std::size_t count, double mean, double deviation) {
  std::mt19937_64 random(count);
  std::normal_distribution<double> distribution(mean, deviation);
  std::vector<double> numbers(count);
  for (double& number : numbers) number = distribution(random);
  return numbers;
}

TEST(Moments, AreExactToTheLastDigitsForEveryCount) {
  for (const std::size_t count : {1, 2, 3, 31, 32, 33, 64, 100, 4095, 4096, 4097, 100'000}) {
    SCOPED_TRACE(count);
    expect_exact(normal(count, 0, 1));
    expect_exact(normal(count, 1e6, 1e-3));
    expect_exact(normal(count, -5, 100), 7);
  }
}

TEST(Moments, CountWhatIsNotFiniteApart) {
  const Moments found = moments({1, NAN, infinity, -infinity, 3, infinity, -NAN, 0, -0.0});
  EXPECT_EQ(found.finite, 4U);
  EXPECT_EQ(found.nans, 2U);
  EXPECT_EQ(found.positive_infinities, 2U);
  EXPECT_EQ(found.negative_infinities, 1U);
  EXPECT_EQ(found.zeros, 2U);
  EXPECT_EQ(found.min, 0);
  EXPECT_EQ(found.max, 3);
  EXPECT_EQ(found.mean(), 1);
  EXPECT_EQ(found.l2(), std::sqrt(10));
}

TEST(Moments, OfNothingFiniteHaveNoRange) {
  const Moments found = moments({NAN, infinity}, 1);
  EXPECT_EQ(found.finite, 0U);
  EXPECT_EQ(found.nans, 1U);
  EXPECT_EQ(found.positive_infinities, 1U);
  EXPECT_EQ(found.l2(), 0);
  EXPECT_EQ(moments({}).finite, 0U);
}

TEST(Moments, NegativeZeroIsZero) {
  const Moments found = moments({-0.0});
  EXPECT_FALSE(std::signbit(found.min));
  EXPECT_FALSE(std::signbit(found.max));
  EXPECT_EQ(found.zeros, 1U);
}

TEST(Moments, EqualNumbersDeviateByNothing) {
  const Moments found = moments(std::vector<double>(10'000, 0.1));
  EXPECT_EQ(found.mean(), 0.1);
  EXPECT_EQ(found.standard_deviation(), 0);
}

TEST(Moments, HugeNumbersDoNotOverflow) {
  const Moments found = moments({largest, largest, -largest, -largest}, 1);
  EXPECT_EQ(found.mean(), 0);
  EXPECT_NEAR(found.standard_deviation() / largest, 1, 1e-15);
  EXPECT_EQ(found.l2(), infinity);
  const Moments large = moments({1e200, -3e200, 5e199});
  EXPECT_NEAR(large.l2() / 1e200, std::sqrt(1 + 9 + 0.25), 1e-14);
  EXPECT_NEAR(large.mean() / 1e200, -0.5, 1e-15);
}

TEST(Moments, TinyNumbersDoNotVanish) {
  const Moments found = moments({3 * denormal, 4 * denormal, 0});
  EXPECT_EQ(found.l2(), 5 * denormal);
  EXPECT_EQ(found.max, 4 * denormal);
  EXPECT_EQ(found.zeros, 1U);
  // Also if zeros, or nothing, come first in a piece of their own.
  EXPECT_EQ(moments({0, 3 * denormal, 4 * denormal}, 1).l2(), 5 * denormal);
  EXPECT_EQ(moments({NAN, 3 * denormal, 0, 4 * denormal}, 1).l2(), 5 * denormal);
}

TEST(Moments, NumbersOfAllSizesAddUp) {
  const Moments found = moments({1e300, 1, denormal, -1e300, 2}, 1);
  EXPECT_NEAR(found.l2() / 1e300, std::sqrt(2), 1e-14);
  EXPECT_NEAR(found.mean(), 0.6, 1e-15);
  EXPECT_EQ(found.min, -1e300);
  EXPECT_NEAR(moments({1e-200, 1, 1e-200}, 1).l2(), 1, 1e-15);
}

TEST(Moments, CancellationLeavesWhatIsLeft) {
  // The sum of many pairs that cancel, and one.
  std::vector<double> numbers;
  for (int i = 0; i < 50'000; ++i) {
    numbers.push_back(1e8);
    numbers.push_back(-1e8);
  }
  numbers.push_back(1);
  const Moments found = moments(numbers);
  EXPECT_NEAR(found.mean() * static_cast<double>(numbers.size()), 1, 1e-9);
}

}  // namespace
}  // namespace andiron::test
