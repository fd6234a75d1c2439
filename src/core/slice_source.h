// SPDX-License-Identifier: MIT OR Apache-2.0
// A part of a source as its own source: a file within a file.
#pragma once

#include <cstdint>

#include "andiron/byte_source.h"

namespace andiron::inline v1::detail {

// Bytes [offset, offset + size) of `whole`, under its name. REQUIRES: they lie within it.
ByteSourcePtr slice_source(ByteSourcePtr whole, std::uint64_t offset, std::uint64_t size);

}  // namespace andiron::inline v1::detail
