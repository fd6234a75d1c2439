// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace andiron {
namespace {

using detail::cheapest_assignment;
using Costs = std::vector<std::vector<double>>;
using Columns = std::vector<std::optional<std::size_t>>;

// The least sum of costs, by trying everything.
double least_cost_by_trial(const Costs& costs) {
  const std::size_t rows = costs.size();
  const std::size_t columns = costs.front().size();
  std::vector<std::size_t> order(std::max(rows, columns));
  std::iota(order.begin(), order.end(), std::size_t{0});
  double least = std::numeric_limits<double>::infinity();
  do {
    double sum = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      if (order[row] < columns) sum += costs[row][order[row]];
    }
    least = std::min(least, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

// Expects as many pairs as there can be, none twice. Returns their cost.
double cost_of_pairs(const Costs& costs, const Columns& columns) {
  EXPECT_EQ(columns.size(), costs.size());
  std::set<std::size_t> used;
  double sum = 0;
  for (std::size_t row = 0; row < columns.size(); ++row) {
    if (!columns[row]) continue;
    EXPECT_TRUE(used.insert(*columns[row]).second);
    sum += costs[row].at(*columns[row]);
  }
  EXPECT_EQ(used.size(), std::min(costs.size(), costs.front().size()));
  return sum;
}

TEST(CheapestAssignment, OfNothingIsEmpty) {
  EXPECT_TRUE(cheapest_assignment({}).empty());
  EXPECT_EQ(cheapest_assignment({{}, {}}), (Columns{std::nullopt, std::nullopt}));
}

TEST(CheapestAssignment, LooksAtTheSumRatherThanAtEachRow) {
  EXPECT_EQ(cheapest_assignment({{1, 2}, {1, 9}}), (Columns{1, 0}));
  EXPECT_EQ(cheapest_assignment({{-3}}), Columns{0});
}

TEST(CheapestAssignment, LeavesColumnsOrRowsWithoutAPartner) {
  EXPECT_EQ(cheapest_assignment({{5, 1, 4}}), Columns{1});
  EXPECT_EQ(cheapest_assignment({{5}, {1}, {4}}), (Columns{std::nullopt, 0, std::nullopt}));
}

TEST(CheapestAssignment, KeepsTheOrderAmongEquals) {
  EXPECT_EQ(cheapest_assignment(Costs(3, std::vector<double>(3, 1))), (Columns{0, 1, 2}));
}

TEST(CheapestAssignment, CostsWhatTheBestOfAllDoes) {
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> sizes(1, 6);
  std::uniform_real_distribution<double> numbers(-3, 3);
  std::uniform_int_distribution<int> few_numbers(-2, 2);
  for (int round = 0; round < 300; ++round) {
    Costs costs(sizes(random), std::vector<double>(sizes(random)));
    for (std::vector<double>& row : costs) {
      // Half of them with many equal costs.
      for (double& cost : row) cost = round % 2 == 0 ? numbers(random) : few_numbers(random);
    }
    EXPECT_NEAR(cost_of_pairs(costs, cheapest_assignment(costs)), least_cost_by_trial(costs), 1e-9);
  }
}

TEST(CheapestAssignment, FindsAHiddenOrder) {
  constexpr std::size_t count = 160;
  std::vector<std::size_t> hidden(count);
  std::iota(hidden.begin(), hidden.end(), std::size_t{0});
  std::shuffle(hidden.begin(), hidden.end(), std::mt19937(3));
  Costs costs(count, std::vector<double>(count, 1));
  for (std::size_t row = 0; row < count; ++row) costs[row][hidden[row]] = 0.5;
  EXPECT_EQ(cheapest_assignment(costs), Columns(hidden.begin(), hidden.end()));
}

}  // namespace
}  // namespace andiron
