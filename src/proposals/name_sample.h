// SPDX-License-Identifier: MIT OR Apache-2.0
// A few names that tell what all are like.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace andiron::inline v1::detail {

// Indices of names, in their order; all of them up to `most`. Of more, those whose every number is
// one of the three lowest after the same text, so that ranks among them are ranks among all, and
// up to three of each kind of name that has fewer of these (kinds differ in more than numbers).
std::vector<std::size_t> sample_of_names(std::span<const std::string_view> names, std::size_t most);

}  // namespace andiron::inline v1::detail
