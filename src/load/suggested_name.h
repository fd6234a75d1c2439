// SPDX-License-Identifier: MIT OR Apache-2.0
// The tensors that missing ones probably are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace andiron::inline v1::detail {

struct SizedName {
  std::string_view name;
  // Elements; nothing where any number would do, or where they cannot be counted.
  std::optional<std::uint64_t> size;
};

// Pairs of names compared character by character that suggestions may take, all together.
constexpr std::uint64_t most_suggestion_work = 40'000'000;

// For each missing name one of the unused, or nothing; none is there twice. It is the path without
// the name of a variant; or has the same size and shares most segments at the end, then its
// numbers, then its letters; or is mistyped.
std::vector<std::string_view> suggested_names(std::span<const SizedName> missing,
                                              std::span<const SizedName> unused,
                                              std::uint64_t work = most_suggestion_work);

}  // namespace andiron::inline v1::detail
