// SPDX-License-Identifier: MIT OR Apache-2.0
// The segments of a path, and the container of a tensor that moves.
#pragma once

#include <cstddef>
#include <string_view>

#include "andiron/place.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1::detail {

// The path without its last segment; empty at the root.
std::string_view parent_path(std::string_view path) noexcept;

std::size_t segment_count(std::string_view path) noexcept;

// "query.weight" for 2 segments of "encoder.query.weight"; empty when there are fewer.
std::string_view last_segments(std::string_view path, std::size_t count) noexcept;

// The container of a tensor that moves from `path` to `new_path`: as many kinds fewer as there are
// fewer segments. What surrounds it further down is not known.
Container container_after_move(std::string_view path, const Container& container,
                               std::string_view new_path);

// The tensor under the place's path and in its container.
TensorSnapshot at_place(TensorSnapshot tensor, const Place& place);

}  // namespace andiron::inline v1::detail
