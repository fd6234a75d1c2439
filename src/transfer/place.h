// SPDX-License-Identifier: MIT OR Apache-2.0
// Which kind of module holds which segment of a path.
#pragma once

#include <cstddef>
#include <string_view>

#include "andiron/adapter.h"

namespace andiron {
inline namespace v1 {
namespace detail {

std::size_t segment_count(std::string_view path) noexcept;

// "query.weight" for 2 segments of "encoder.query.weight"; empty when there are fewer.
std::string_view last_segments(std::string_view path, std::size_t count) noexcept;

// The kind of module that holds the segment `depth` places from the end of `path`: for the last one
// the innermost struct or enum, past lists, as in Burn. Empty when there is none.
std::string_view kind_around(std::string_view path, const Container& container,
                             std::size_t depth) noexcept;

// The container of a tensor that moves from `path` to `new_path`: as many kinds fewer as there are
// fewer segments. What surrounds it further down is not known.
Container container_after_move(std::string_view path, const Container& container,
                               std::string_view new_path);

// The tensor under the place's path and in its container.
TensorSnapshot at_place(TensorSnapshot tensor, const Place& place);

}  // namespace detail
}  // namespace v1
}  // namespace andiron
