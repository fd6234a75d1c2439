// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading any range of bytes from what gives whole elements alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "andiron/bytes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

// Reads a range that may begin and end within a unit through `read(offset, span) -> Status`, which
// takes whole units. The last unit ends with `size`.
template <class Read>
Status read_whole_units(std::uint64_t unit, std::uint64_t size, std::uint64_t offset,
                        std::span<std::byte> out, Read read) {
  const bool ends_whole = out.size() % unit == 0 || offset + out.size() == size;
  if (offset % unit == 0 && ends_whole) return read(offset, out);
  const std::uint64_t begin = offset / unit * unit;
  const std::uint64_t end = std::min((offset + out.size() + unit - 1) / unit * unit, size);
  ANDIRON_ASSIGN(Bytes around, Bytes::allocate(end - begin));
  ANDIRON_TRY(read(begin, around.writable()));
  if (!out.empty()) std::memcpy(out.data(), around.data() + (offset - begin), out.size());
  return {};
}

}  // namespace andiron::inline v1::detail
