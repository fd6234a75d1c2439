// SPDX-License-Identifier: MIT OR Apache-2.0
// Copies any strided view of a source into contiguous bytes and maps elements on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// Writes elements [first, first + count) of the view, in row-major order, to `out`. It decides what
// to read; the caller reads:
//
//   Gather gather(view, map, first, count, out);
//   for (;;) {
//     ANDIRON_ASSIGN(const std::span<std::byte> room, gather.next());
//     if (room.empty()) return {};
//     ANDIRON_TRY(view.source.read_at(gather.offset(), room));
//   }
//
// The source is read in its own order, in pieces of about a megabyte, and only where the view has
// elements. Gaps up to a page are read too, because the system reads whole pages anyway. Sources in
// memory are not copied first.
class Gather {
 public:
  // REQUIRES: what the view refers to, and the map, outlive this.
  Gather(const StridedView& view, const ElementMap& map, std::uint64_t first, std::uint64_t count,
         std::byte* out);
  ~Gather();
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  // Moves the bytes read last to their place. Returns the room for the next read, which starts at
  // offset(); an empty span at the end.
  Result<std::span<std::byte>> next();
  std::uint64_t offset() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace andiron::inline v1::detail
