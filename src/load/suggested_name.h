// SPDX-License-Identifier: MIT OR Apache-2.0
// Suggests the tensors that were probably meant by missing names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace andiron::inline v1::detail {

struct SizedName {
  std::string_view name;
  // Number of elements; nothing if any number fits or it cannot be counted.
  std::optional<std::uint64_t> size;
};

// Bounds the work of all suggestions together, in pairs of characters compared.
constexpr std::uint64_t most_suggestion_work = 40'000'000;

// Returns for each missing name one of the unused names, or nothing; no name twice. A suggestion is
// the path without the name of a variant; or a name of the same size that shares most segments at
// the end, then numbers, then letters; or a mistyped name.
std::vector<std::string_view> suggested_names(std::span<const SizedName> missing,
                                              std::span<const SizedName> unused,
                                              std::uint64_t work = most_suggestion_work);

}  // namespace andiron::inline v1::detail
