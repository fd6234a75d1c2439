// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate and its checksum in plain C++, for builds without zlib (ADR 0034).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/codec/deflate/streams.h"

namespace andiron::inline v1::detail {

// Accepts what zlib accepts, and refuses the rest at the same byte of output. Memory: 47 KiB,
// allocated here. Null without memory.
std::unique_ptr<InflateStream> portable_inflate_stream() noexcept;

// Stores the data as it is: whoever wants small files has zlib. Memory: 64 KiB,
// allocated here. Null without memory.
std::unique_ptr<DeflateStream> portable_deflate_stream() noexcept;

std::uint32_t portable_crc(std::uint32_t crc, std::span<const std::byte> data) noexcept;

}  // namespace andiron::inline v1::detail
