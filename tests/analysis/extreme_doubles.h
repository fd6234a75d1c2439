// SPDX-License-Identifier: MIT OR Apache-2.0
// Doubles at the ends of their range.
#pragma once

#include <limits>

namespace andiron::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double largest = std::numeric_limits<double>::max();
inline constexpr double denormal = std::numeric_limits<double>::denorm_min();

}  // namespace andiron::test
