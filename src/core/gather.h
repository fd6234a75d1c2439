// SPDX-License-Identifier: MIT OR Apache-2.0
// Gathers any strided view of a source into contiguous bytes, mapping elements on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "src/core/element_map.h"

namespace andiron::inline v1::detail {

struct StridedView {
  const ByteSource& source;
  std::uint64_t offset;                   // of element (0, 0, ...)
  std::span<const std::uint64_t> shape;   // no dimension is 0
  std::span<const std::int64_t> strides;  // in bytes
};

// Writes elements [first, first + count) of the view, in row-major order, to `out`.
//
// The source is read in its own order, in pieces of about a megabyte, and only where the view has
// elements; gaps up to a page are read along, since the system reads whole pages anyway. Sources
// that lie in memory are not copied first.
Status gather(const StridedView& view, const ElementMap& map, std::uint64_t first,
              std::uint64_t count, std::byte* out);

}  // namespace andiron::inline v1::detail
