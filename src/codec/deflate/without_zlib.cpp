// SPDX-License-Identifier: MIT OR Apache-2.0
// What a minimal build has in place of zlib. Tested by tests/codec/inflate_stream_test.cpp and
// tests/codec/deflate_stream_test.cpp
#include "src/codec/deflate/portable.h"

namespace andiron::inline v1::detail {

std::unique_ptr<InflateStream> new_inflate_stream() noexcept { return portable_inflate_stream(); }

std::unique_ptr<DeflateStream> new_deflate_stream() noexcept { return portable_deflate_stream(); }

std::uint32_t continue_crc(std::uint32_t crc, std::span<const std::byte> data) noexcept {
  return portable_crc(crc, data);
}

}  // namespace andiron::inline v1::detail
