// SPDX-License-Identifier: MIT OR Apache-2.0
// Picks a few names that represent all.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace andiron::inline v1::detail {

// Returns indices of names in order: all of them if there are at most `most`. Otherwise those in
// which every number is one of the three lowest after the same text, so that ranks in the sample
// are ranks among all, and up to three of each kind of name that has fewer of these (kinds differ
// in more than numbers); of more than `most` of these the first.
std::vector<std::size_t> sample_of_names(std::span<const std::string_view> names, std::size_t most);

}  // namespace andiron::inline v1::detail
