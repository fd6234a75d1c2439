// SPDX-License-Identifier: MIT OR Apache-2.0
// Closes gaps in numbered names, given as a list.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/text.h"

namespace andiron::inline v1::detail {

// Replaces each segment that is a number with its rank among the numbers that follow the same
// original segments in any of the names. Keeps numbers that follow a path matched by one of
// `except`, or that now follow one of the paths `kept`. Two names may become one.
std::vector<std::string> names_without_index_gaps(std::span<const std::string_view> names,
                                                  std::span<const Pattern> except = {},
                                                  std::span<const std::string> kept = {});

}  // namespace andiron::inline v1::detail
