// SPDX-License-Identifier: MIT OR Apache-2.0
// Closing gaps in numbered names, apart from archives.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/text.h"

namespace andiron::inline v1::detail {

// The names with every dotted segment that is a number replaced by its rank among the numbers that
// follow the same segments, as they were before, in any of the names. Numbers stay that follow a
// path which one of `except` matches. Two names may become one.
std::vector<std::string> names_without_index_gaps(std::span<const std::string_view> names,
                                                  std::span<const Pattern> except = {});

}  // namespace andiron::inline v1::detail
