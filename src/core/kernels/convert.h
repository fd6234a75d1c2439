// SPDX-License-Identifier: MIT OR Apache-2.0
// Bulk conversion between element types.
#pragma once

#include <cstddef>

#include "andiron/dtype.h"

namespace andiron::inline v1 {

// Whether convert() supports the pair: real types to each other, complex types to each other. f4 is
// real; f6 and opaque types do not convert.
bool can_convert(DType from, DType to) noexcept;

// The type that a complex type has two of; other types as they are.
DType component_of(DType dtype) noexcept;

// Converts `count` elements (rules at TensorSnapshot::cast). f4 is packed two per byte; an odd last
// element is in the low half of its byte. Source and destination must not overlap; any alignment
// works. REQUIRES: can_convert(from, to).
void convert(DType from, const std::byte* source, DType to, std::byte* out,
             std::size_t count) noexcept;

}  // namespace andiron::inline v1
