// SPDX-License-Identifier: MIT OR Apache-2.0
// Which bin a number belongs to.
#include "src/analysis/bins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/analysis/extreme_doubles.h"

namespace andiron::test {
namespace {

using detail::Bins;
using Counts = std::vector<std::uint64_t>;

Counts counted(double low, double high, std::size_t bins, const std::vector<double>& numbers) {
  Counts counts(bins);
  Bins(low, high, bins).count(numbers, counts);
  return counts;
}

TEST(Bins, AreClosedBelowAndOpenAboveButForTheLast) {
  EXPECT_EQ(counted(0, 4, 4, {0, 0.5, 1, 1.999, 2, 3, 4}), (Counts{2, 2, 1, 2}));
  EXPECT_EQ(counted(-1, 1, 2, {-1, -0.0, 0, 1}), (Counts{1, 3}));
  EXPECT_EQ(counted(5, 7, 1, {5, 6, 7}), (Counts{3}));
}

TEST(Bins, EdgesDecideWhereMultiplicationRounds) {
  std::vector<double> edges;
  for (int i = 0; i <= 10; ++i) edges.push_back(0.0 + i * ((1.0 - 0.0) / 10));
  for (int i = 0; i < 10; ++i) {
    const auto bin = static_cast<std::size_t>(i);
    EXPECT_EQ(counted(0, 1, 10, {edges[bin]})[bin], 1U) << i;
    if (i == 0) continue;
    EXPECT_EQ(counted(0, 1, 10, {std::nextafter(edges[bin], 0)})[bin - 1], 1U) << i;
  }
}

TEST(Bins, LeaveOutWhatIsNotFinite) {
  EXPECT_EQ(counted(0, 1, 2, {0, NAN, infinity, -infinity, 1}), (Counts{1, 1}));
}

TEST(Bins, PutEqualNumbersIntoTheFirst) {
  EXPECT_EQ(counted(3, 3, 3, {3, 3}), (Counts{2, 0, 0}));
  EXPECT_EQ(counted(0, 0, 3, {0, -0.0}), (Counts{2, 0, 0}));
}

TEST(Bins, CoverRangesWiderThanADouble) {
  EXPECT_EQ(counted(-largest, largest, 2, {-largest, -1, 0, 1, largest}), (Counts{2, 3}));
  EXPECT_EQ(counted(-largest, largest, 4, {-largest, largest / 3, largest}), (Counts{1, 0, 1, 1}));
}

TEST(Bins, CoverRangesOfAFewLastDigits) {
  EXPECT_EQ(counted(0, 2 * denormal, 2, {0, denormal, 2 * denormal}), (Counts{1, 2}));
  // Fewer numbers than bins: many edges are equal.
  const double above = std::nextafter(1.0, 2.0);
  const Counts counts = counted(1, above, 1000, {1, above});
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  EXPECT_EQ(sum, 2U);
  EXPECT_EQ(counts.back(), 1U);
}

}  // namespace
}  // namespace andiron::test
