// SPDX-License-Identifier: MIT OR Apache-2.0
// How far apart elements are, pair by pair.
#include "src/analysis/distances.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "andiron/tensor.h"
#include "src/analysis/stretches.h"
#include "tests/analysis/extreme_doubles.h"

namespace andiron::test {
namespace {

using detail::Distances;
using detail::PairMeter;
using detail::PairRules;

// Of all pairs, piece by piece, as compare() adds them up.
template <class A, class B>
Distance distance_between(const std::vector<A>& a, const std::vector<B>& b,
                          const PairRules& rules = {}, std::size_t piece = detail::piece_elements) {
  PairMeter meter(rules);
  Distances all;
  for (std::size_t at = 0; at < a.size(); at += piece) {
    const std::size_t count = std::min(piece, a.size() - at);
    all.add(meter.measure(ElementOf<A>::dtype, reinterpret_cast<const std::byte*>(&a[at]),
                          ElementOf<B>::dtype, reinterpret_cast<const std::byte*>(&b[at]), count,
                          at));
  }
  return all.result();
}

using Doubles = std::vector<double>;
using Floats = std::vector<float>;

TEST(Distances, OfEqualElementsAreNothing) {
  const Distance found = distance_between(Floats{1, 2, -0.0f}, Floats{1, 2, 0.0f});
  EXPECT_EQ(found.elements, 3U);
  EXPECT_EQ(found.differing, 0U);
  EXPECT_EQ(found.beyond, 0U);
  EXPECT_FALSE(found.first_beyond);
  EXPECT_EQ(found.max_abs, 0);
  EXPECT_FALSE(found.max_abs_index);
  EXPECT_EQ(found.relative_l2, 0);
  EXPECT_DOUBLE_EQ(found.cosine, 1);
}

TEST(Distances, TellHowManyWhereAndHowFar) {
  const Distance found = distance_between(Floats{3, 4, 0, 1}, Floats{3, 4.5, -2, 1});
  EXPECT_EQ(found.differing, 2U);
  EXPECT_EQ(found.beyond, 2U);
  EXPECT_EQ(found.first_beyond, 1U);
  EXPECT_EQ(found.max_abs, 2);
  EXPECT_EQ(found.max_abs_index, 2U);
  EXPECT_DOUBLE_EQ(found.relative_l2, std::sqrt(4.25) / std::sqrt(26.0));
  EXPECT_DOUBLE_EQ(found.cosine, 28 / std::sqrt(26.0) / std::sqrt(34.25));
}

TEST(Distances, ToleranceIsThatOfNumpyWithBAsTheReference) {
  const Distance relative = distance_between(Floats{100, 110}, Floats{110, 100}, {0, 0.0909, true});
  // 10 <= 0.0909 * 110 is false, as it is for 100.
  EXPECT_EQ(relative.beyond, 2U);
  const Distance larger = distance_between(Floats{100, 110}, Floats{110, 100}, {0, 0.091, true});
  EXPECT_EQ(larger.differing, 2U);
  EXPECT_EQ(larger.beyond, 1U);
  EXPECT_EQ(larger.first_beyond, 1U);
  EXPECT_EQ(distance_between(Floats{1, 2}, Floats{1.5, 2.5}, {0.5, 0, true}).beyond, 0U);
  EXPECT_EQ(distance_between(Floats{1, 2}, Floats{1.5, 2.5}, {0.49, 0, true}).beyond, 2U);
}

TEST(Distances, NanEqualsNanIfTheRulesSaySo) {
  const Floats a = {NAN, 1, NAN, INFINITY, INFINITY, 5};
  const Floats b = {NAN, 1, 2, INFINITY, -INFINITY, 7};
  const Distance found = distance_between(a, b);
  EXPECT_EQ(found.differing, 3U);
  EXPECT_EQ(found.not_finite, 2U);
  EXPECT_EQ(found.first_beyond, 2U);
  EXPECT_EQ(found.max_abs, 2);
  EXPECT_EQ(found.max_abs_index, 5U);
  EXPECT_DOUBLE_EQ(found.relative_l2, 2 / std::sqrt(26.0));
  const Distance strict = distance_between(a, b, {0, 0, false});
  EXPECT_EQ(strict.differing, 4U);
  EXPECT_EQ(strict.first_beyond, 0U);
  // No tolerance makes an infinity close to a number.
  EXPECT_EQ(distance_between(Floats{INFINITY}, Floats{1}, {1e30, 1, true}).beyond, 1U);
}

TEST(Distances, WithoutMeasureIfNothingIsFinite) {
  const Distance found = distance_between(Floats{NAN}, Floats{1});
  EXPECT_EQ(found.differing, 1U);
  EXPECT_EQ(found.max_abs, 0);
  EXPECT_FALSE(found.max_abs_index);
  EXPECT_TRUE(std::isnan(found.cosine));
}

TEST(Distances, OfZeroIsInfinite) {
  EXPECT_EQ(distance_between(Floats{0, 0}, Floats{0, 1}).relative_l2, infinity);
  EXPECT_TRUE(std::isnan(distance_between(Floats{0, 0}, Floats{0, 1}).cosine));
  EXPECT_EQ(distance_between(Floats{0, 1}, Floats{0, 0}).relative_l2, 1);
}

TEST(Distances, AreExactForIntegersOf64Bits) {
  using Wide = std::vector<std::int64_t>;
  constexpr std::int64_t large = std::int64_t{1} << 62;
  const Distance found = distance_between(Wide{large, 7, large + 1}, Wide{large + 1, 7, large - 1});
  EXPECT_EQ(found.differing, 2U);
  EXPECT_EQ(found.max_abs, 2);
  EXPECT_EQ(found.max_abs_index, 2U);
  EXPECT_EQ(distance_between(Wide{large, 7, large + 1}, Wide{large + 1, 7, large - 1}, {1, 0, true})
                .beyond,
            1U);
  // Between dtypes too, where a double would round.
  const std::vector<std::uint64_t> natural = {~std::uint64_t{0}, std::uint64_t{1} << 62};
  EXPECT_EQ(distance_between(natural, Wide{-1, large}).differing, 1U);
  EXPECT_EQ(distance_between(Wide{large + 1, large}, Doubles{0x1p62, 0x1p62}).differing, 1U);
  EXPECT_EQ(distance_between(Wide{5, 0}, Doubles{5, NAN}).not_finite, 1U);
  EXPECT_EQ(
      distance_between(std::vector<std::uint64_t>{~std::uint64_t{0}}, Doubles{0x1p64}).max_abs, 1);
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(distance_between(std::vector<std::uint64_t>{~std::uint64_t{0}}, Wide{least}).max_abs,
            0x1.8p64);
  EXPECT_EQ(distance_between(Wide{least, least + 1}, Wide{least, least}).max_abs, 1);
  EXPECT_EQ(distance_between(Wide{-1, 0}, Wide{1, 0}).max_abs, 2);
  EXPECT_EQ(distance_between(Wide{7}, Doubles{1e300}).max_abs, 1e300);
  EXPECT_EQ(distance_between(Wide{-1}, Doubles{-1 - 0x1p-52}).max_abs, 0x1p-52);
  EXPECT_EQ(distance_between(Wide{-3}, Floats{-3.0000002f}).differing, 1U);
  EXPECT_EQ(distance_between(Wide{-5}, Doubles{-5.1}).max_abs, 5.1 - 5);
  EXPECT_EQ(distance_between(Wide{-large - 1}, Wide{-large}).max_abs, 1);
  constexpr std::int64_t middle = (std::int64_t{1} << 40) + 1;
  EXPECT_EQ(
      distance_between(Wide{middle, -middle}, Doubles{0x1p40 + 1 + 0x1p-12, -0x1p40 - 1}).max_abs,
      0x1p-12);
}

TEST(Distances, OfComplexElementsAreMagnitudes) {
  using Complex = std::vector<std::complex<float>>;
  const Distance found = distance_between(Complex{{1, 1}, {0, 2}}, Complex{{4, 5}, {0, 2}});
  EXPECT_EQ(found.elements, 2U);
  EXPECT_EQ(found.differing, 1U);
  EXPECT_EQ(found.max_abs, 5);
  EXPECT_EQ(found.first_beyond, 0U);
  EXPECT_DOUBLE_EQ(found.relative_l2, 5 / std::sqrt(6.0));
  EXPECT_EQ(distance_between(Complex{{1, 1}}, Complex{{4, 5}}, {5, 0, true}).beyond, 0U);
  const Distance nans = distance_between(Complex{{NAN, 1}, {1, NAN}}, Complex{{2, NAN}, {1, 1}});
  EXPECT_EQ(nans.differing, 1U);
  EXPECT_EQ(nans.first_beyond, 1U);
}

TEST(Distances, HugeAndTinyNumbersHaveMeasures) {
  const Distance huge = distance_between(Doubles{1e200, 1e300}, Doubles{1e200, 2e300}, {}, 1);
  EXPECT_DOUBLE_EQ(huge.relative_l2, 1);
  EXPECT_DOUBLE_EQ(huge.cosine, 1);
  const Distance tiny =
      distance_between(Doubles{0, 3 * denormal, 0}, Doubles{0, 3 * denormal, 6 * denormal}, {}, 1);
  EXPECT_DOUBLE_EQ(tiny.relative_l2, 2);
  EXPECT_EQ(tiny.max_abs, 6 * denormal);
  // Each side has its own scale.
  const Distance uneven = distance_between(Doubles{1e200, 1e-200}, Doubles{1e-200, 1e-200});
  EXPECT_DOUBLE_EQ(uneven.cosine, std::sqrt(0.5));
  EXPECT_DOUBLE_EQ(uneven.relative_l2, 1);
  EXPECT_NEAR(distance_between(Doubles{1e200, 3}, Doubles{1e-200, 4}, {}, 1).cosine / 3.25e-200, 1,
              1e-14);
  // Small elements that differ are seen beside large ones.
  const Distance mixed = distance_between(Doubles{1e300, denormal}, Doubles{1e300, 0});
  EXPECT_EQ(mixed.differing, 1U);
  EXPECT_EQ(mixed.first_beyond, 1U);
  EXPECT_EQ(mixed.max_abs, denormal);
  EXPECT_EQ(distance_between(Doubles{largest}, Doubles{-largest}).max_abs, infinity);
}

TEST(Distances, AgreeWithTheDefinitionOverManyPieces) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  Floats a(50'001);
  Floats b(a.size());
  long double a_squares = 0;
  long double b_squares = 0;
  long double products = 0;
  long double squares = 0;
  double most = 0;
  std::uint64_t most_at = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = normal(random);
    b[i] = i % 3 == 0 ? a[i] : a[i] + 0.01f * normal(random);
    const double difference = static_cast<double>(a[i]) - b[i];
    a_squares += static_cast<long double>(a[i]) * a[i];
    b_squares += static_cast<long double>(b[i]) * b[i];
    products += static_cast<long double>(a[i]) * b[i];
    squares += static_cast<long double>(difference) * difference;
    if (std::abs(difference) > most) most_at = i;
    most = std::max(most, std::abs(difference));
  }
  const Distance found = distance_between(a, b);
  EXPECT_EQ(found.max_abs, most);
  EXPECT_EQ(found.max_abs_index, most_at);
  EXPECT_EQ(found.first_beyond, 1U);
  EXPECT_NEAR(found.relative_l2, static_cast<double>(std::sqrt(squares / a_squares)), 1e-15);
  EXPECT_NEAR(found.cosine, static_cast<double>(products / std::sqrt(a_squares * b_squares)),
              1e-15);
}

}  // namespace
}  // namespace andiron::test
