// SPDX-License-Identifier: MIT OR Apache-2.0
// The first bytes of a Burnpack file.
#pragma once

#include <cstdint>
#include <span>

#include "andiron/burnpack_view.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

// Header and metadata in memory of their own, with what follows up to the next multiple of 256.
struct BurnpackHeadBytes {
  Bytes bytes;
  std::uint64_t metadata_bytes = 0;

  std::span<const std::byte> metadata() const {
    return bytes.span().subspan(burnpack_header_bytes, static_cast<std::size_t>(metadata_bytes));
  }
  std::span<const std::byte> after_metadata() const {
    return bytes.span().subspan(burnpack_header_bytes + static_cast<std::size_t>(metadata_bytes));
  }
};

// Checks magic, version, and the size of the metadata against the limit and the file.
Result<BurnpackHeadBytes> read_head_bytes(const ByteSource& source, const Limits& limits);

// The text without the lengths of its chunks.
std::string decode_text(const CborText& text);

}  // namespace andiron::inline v1::detail
