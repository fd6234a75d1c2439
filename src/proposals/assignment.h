// SPDX-License-Identifier: MIT OR Apache-2.0
// Gives each row a column of its own so that the costs add up to the least.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace andiron::inline v1::detail {

// The column of each row; nothing for some rows if there are more rows than columns. The work grows
// with the third power of the smaller side.
std::vector<std::optional<std::size_t>> cheapest_assignment(
    const std::vector<std::vector<double>>& costs);

}  // namespace andiron::inline v1::detail
