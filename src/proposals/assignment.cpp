// SPDX-License-Identifier: MIT OR Apache-2.0
// The Hungarian method with potentials: rows are added one by one, each by a shortest augmenting
// path.
// Tested by tests/proposals/assignment_test.cpp
#include "src/proposals/assignment.h"

#include <limits>

namespace andiron::inline v1::detail {
namespace {

// REQUIRES: no more rows than columns.
std::vector<std::size_t> assign_rows(const std::vector<std::vector<double>>& costs) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const std::size_t rows = costs.size();
  const std::size_t columns = costs.front().size();
  // Row 0 and column 0 stand for none.
  std::vector<double> row_potential(rows + 1);
  std::vector<double> column_potential(columns + 1);
  std::vector<std::size_t> row_of(columns + 1);
  for (std::size_t row = 1; row <= rows; ++row) {
    std::vector<double> least(columns + 1, infinite);
    std::vector<std::size_t> from(columns + 1);
    std::vector<bool> is_done(columns + 1);
    std::size_t column = 0;
    row_of[0] = row;
    while (row_of[column] != 0) {
      is_done[column] = true;
      const std::size_t current = row_of[column];
      double step = infinite;
      std::size_t next = 0;
      for (std::size_t c = 1; c <= columns; ++c) {
        if (is_done[c]) continue;
        const double reduced =
            costs[current - 1][c - 1] - row_potential[current] - column_potential[c];
        if (reduced < least[c]) {
          least[c] = reduced;
          from[c] = column;
        }
        if (least[c] < step) {
          step = least[c];
          next = c;
        }
      }
      for (std::size_t c = 0; c <= columns; ++c) {
        if (is_done[c]) {
          row_potential[row_of[c]] += step;
          column_potential[c] -= step;
        } else {
          least[c] -= step;
        }
      }
      column = next;
    }
    for (; column != 0; column = from[column]) row_of[column] = row_of[from[column]];
  }
  std::vector<std::size_t> column_of(rows);
  for (std::size_t c = 1; c <= columns; ++c) {
    if (row_of[c] != 0) column_of[row_of[c] - 1] = c - 1;
  }
  return column_of;
}

}  // namespace

std::vector<std::optional<std::size_t>> cheapest_assignment(
    const std::vector<std::vector<double>>& costs) {
  std::vector<std::optional<std::size_t>> chosen(costs.size());
  if (costs.empty() || costs.front().empty()) return chosen;
  if (costs.size() <= costs.front().size()) {
    const std::vector<std::size_t> columns = assign_rows(costs);
    for (std::size_t row = 0; row < columns.size(); ++row) chosen[row] = columns[row];
    return chosen;
  }
  std::vector<std::vector<double>> turned(costs.front().size(), std::vector<double>(costs.size()));
  for (std::size_t row = 0; row < costs.size(); ++row) {
    for (std::size_t column = 0; column < costs[row].size(); ++column) {
      turned[column][row] = costs[row][column];
    }
  }
  const std::vector<std::size_t> rows = assign_rows(turned);
  for (std::size_t column = 0; column < rows.size(); ++column) chosen[rows[column]] = column;
  return chosen;
}

}  // namespace andiron::inline v1::detail
