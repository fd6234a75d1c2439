// SPDX-License-Identifier: MIT OR Apache-2.0
// Bulk conversion between element types.
#pragma once

#include <cstddef>

#include "andiron/dtype.h"

namespace andiron::inline v1 {

// Whether convert() knows the way: between real types, and between complex ones. f4 counts as real,
// f6 and the opaque types do not convert.
bool can_convert(DType from, DType to) noexcept;

// Converts `count` elements (rules at TensorSnapshot::cast). f4 is packed two to a byte; an odd
// last element takes the low half of its byte. Source and destination do not overlap; any alignment
// will do. REQUIRES: can_convert(from, to).
void convert(DType from, const std::byte* source, DType to, std::byte* out,
             std::size_t count) noexcept;

}  // namespace andiron::inline v1
