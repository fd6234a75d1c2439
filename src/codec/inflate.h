// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflated data whose size is known, and the checksum that archives keep of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/byte_source.h"
#include "andiron/error.h"

namespace andiron::inline v1::detail {

// Whether deflate can make that much of so little: at best, a bit stands for 129 bytes.
constexpr bool can_inflate_to(std::uint64_t stored_bytes, std::uint64_t bytes) noexcept {
  return bytes / (8 * 129) <= stored_bytes;
}

// Inflates the `stored_bytes` from `offset` on, which must fill `out` exactly. BadArchive
// otherwise.
Status inflate_into(const ByteSource& source, std::uint64_t offset, std::uint64_t stored_bytes,
                    std::span<std::byte> out);

// The first bytes of what is deflated there, as many as `out` has room for; little of what follows
// them is read. BadArchive where the data ends before, or is damaged so far.
Status inflate_head(const ByteSource& source, std::uint64_t offset, std::uint64_t stored_bytes,
                    std::span<std::byte> out);

// Of all bytes so far: `before` is the checksum of those in front of `data`.
std::uint32_t crc_of(std::span<const std::byte> data, std::uint32_t before = 0) noexcept;

}  // namespace andiron::inline v1::detail
